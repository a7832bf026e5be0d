package deploy

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An EtcFile is a file of a ledger that differs from the host's.
type EtcFile struct {
	Path     string
	Old, New []byte // Old is nil for a file that the host does not have
}

// A ConflictError lists files that were edited on the host and in the ledger.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	return "edited on the host since the ledger took them: " + strings.Join(e.Paths, ", ")
}

// Hints tells what to do.
func (e *ConflictError) Hints() []string {
	return []string{"iikanji bench . takes the host's version into the ledger; merge it there, and deploy again"}
}

// EtcFiles finds the files below hosts/NAME/etc of a ledger's working tree that differ from
// those of the host. A file is written over only if the host has what the ledger took from
// it last: the version of the latest commit of a run. Otherwise it is a *ConflictError, and
// a file that the host lacks although the ledger took it is one, too.
func EtcFiles(ctx context.Context, control, h host.Host, ledger, name string) ([]EtcFile, error) {
	root := filepath.Join(ledger, "hosts", name)
	var out []EtcFile
	var conflicts []string
	err := walk(control, filepath.Join(root, "etc"), func(rel string, info fs.FileInfo) error {
		if !info.Mode().IsRegular() {
			return nil
		}
		wanted, err := control.Read(filepath.Join(root, "etc", rel))
		if err != nil {
			return err
		}
		path := "/etc/" + rel
		now, err := h.Read(path)
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return err
		}
		if !missing && bytes.Equal(now, wanted) {
			return nil
		}
		base, taken := lastTaken(ctx, control, ledger, filepath.Join("hosts", name, "etc", rel))
		switch {
		case taken && bytes.Equal(base, wanted): // only the host was edited: nothing is to be written
			return nil
		case missing && !taken:
			out = append(out, EtcFile{Path: path, New: wanted})
		case !missing && taken && bytes.Equal(base, now):
			out = append(out, EtcFile{path, now, wanted})
		default:
			conflicts = append(conflicts, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(conflicts)
	if len(conflicts) > 0 {
		return nil, &ConflictError{conflicts}
	}
	return out, nil
}

// lastTaken is the version of a file in the latest commit of a run, as in "run 15: 44,034".
func lastTaken(ctx context.Context, control host.Host, ledger, path string) ([]byte, bool) {
	as := func(string) (host.Command, error) {
		return host.Command{Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/"}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	commit, ok := git(ctx, control, as, ledger, "-c", "safe.directory=*", "log", "-1", "--format=%H", "--extended-regexp", "--grep=^run [0-9]+", "--", path)
	if commit = strings.TrimSpace(commit); !ok || commit == "" {
		return nil, false
	}
	body, ok := git(ctx, control, as, ledger, "-c", "safe.directory=*", "show", commit+":"+path)
	return []byte(body), ok
}
