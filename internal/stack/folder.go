package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/host"
)

// What lies in a work folder. A folder with anything else in it is somebody's.
const (
	lockFile      = "lock"
	stateFile     = "state.json"
	manifestFile  = "manifest.json"
	processesFile = "processes.json"
	webappDir     = "webapp"
	dataDir       = "data"
	confDir       = "conf"
	mariadbDir    = "mariadb"
	binDir        = "bin"
	logDir        = "log"
	runDir        = "run"
	tmpDir        = "tmp"
	oldDir        = "old"
	historyDir    = "history" // the benchmark's, not ours
)

var known = []string{lockFile, stateFile, manifestFile, processesFile, webappDir, dataDir, confDir,
	mariadbDir, mariadbDir + ".new", binDir, logDir, runDir, tmpDir, oldDir, historyDir, "lost+found"}

// A folder is a work folder: absolute, without symbolic links.
type folder struct {
	root string
	as   account
}

func (f folder) path(elem ...string) string {
	return filepath.Join(append([]string{f.root}, elem...)...)
}

// unfit are characters that the configs of nginx and MariaDB cannot carry in
// a path without quoting, which the arenas' templates are spared.
const unfit = " \t\r\n\"'\\;{}$#"

// openFolder makes the work folder where it is missing and refuses one that is
// another's or that holds something else.
func openFolder(dir string, as account) (folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return folder{}, fmt.Errorf("opening the work folder: %w", err)
	}
	if err := makeAll(abs); err != nil {
		return folder{}, fmt.Errorf("making the work folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return folder{}, fmt.Errorf("opening the work folder: %w", err)
	}
	if i := strings.IndexAny(real, unfit); i >= 0 {
		return folder{}, fmt.Errorf("the work folder's path %q has a %q, which the servers' configs cannot carry", real, real[i])
	}
	f := folder{root: real, as: as}
	entries, err := os.ReadDir(real)
	if err != nil {
		return folder{}, fmt.Errorf("opening the work folder: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(known, e.Name()) && !strings.HasPrefix(e.Name(), ".") {
			return folder{}, &ForeignDirError{Dir: real, Entry: e.Name()}
		}
	}
	info, err := os.Stat(real)
	if err != nil {
		return folder{}, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return folder{}, &ForeignDirError{Dir: real, Owner: ownerName(st.Uid)}
	}
	return f, nil
}

// makeAll is os.MkdirAll with a fixed mode for what it makes: under a strict
// umask the services could not enter.
func makeAll(dir string) error {
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		return os.Chmod(dir, 0o755)
	case errors.Is(err, fs.ErrNotExist):
		if err := makeAll(filepath.Dir(dir)); err != nil {
			return err
		}
		return makeAll(dir)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// prepare makes the folders below, each with the owner and mode it needs. What
// the services write is theirs; everything else stays the person's.
func (f folder) prepare(ctx context.Context) error {
	if err := os.Chmod(f.root, 0o755); err != nil {
		return err
	}
	if err := f.as.reach(ctx, f.root); err != nil {
		return err
	}
	for _, d := range []struct {
		name  string
		mode  os.FileMode
		owned bool // by the services
	}{
		{confDir, 0o755, false}, {confDir + "/mariadb.d", 0o755, false}, {confDir + "/nginx.d", 0o755, false},
		{confDir + "/" + limitsDir, 0o755, false},
		{binDir, 0o755, false}, {logDir, 0o755, true}, {runDir, 0o755, true}, {tmpDir, 0o755, true},
	} {
		if err := os.MkdirAll(f.path(d.name), d.mode); err != nil {
			return fmt.Errorf("preparing the work folder: %w", err)
		}
		if err := os.Chmod(f.path(d.name), d.mode); err != nil {
			return fmt.Errorf("preparing the work folder: %w", err)
		}
		if d.owned {
			if err := f.as.own(f.path(d.name)); err != nil {
				return fmt.Errorf("preparing the work folder: %w", err)
			}
		}
	}
	return nil
}

// clearScratch removes what never outlives an instance: sockets, pid files,
// temporary files, and what a write was killed over.
func (f folder) clearScratch() error {
	err := errors.Join(os.RemoveAll(f.path(runDir)), os.RemoveAll(f.path(tmpDir)),
		os.RemoveAll(f.path(mariadbDir+".new")), os.RemoveAll(f.path(newDir)), f.clearPassing())
	for _, pattern := range []string{f.path(".*.json.*"), f.path(confDir, scratchPrefix+"*"), f.path(confDir, "*", scratchPrefix+"*"), f.path(binDir, checkedApp)} {
		half, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, path := range half {
			err = errors.Join(err, removeFile(path))
		}
	}
	return err
}

// free says how many bytes of the folder's disk are free to us; negative
// where the file system does not tell.
func (f folder) free() int64 {
	var st unix.Statfs_t
	if unix.Statfs(f.root, &st) != nil || st.Blocks == 0 {
		return -1
	}
	return int64(st.Bavail) * st.Bsize
}

// room asks in advance whether there is room for need bytes.
func (f folder) room(need int64) error {
	if free := f.free(); free >= 0 && free < need {
		return &DiskFullError{Path: f.root, Free: free, Need: need}
	}
	return nil
}

// fullSigns are the words of Go, MariaDB and the C library for it; 28 is ENOSPC.
var fullSigns = regexp.MustCompile(`(?i)no space left on device|err(or|no|code):? 28\b|disk( is)? full|disk quota exceeded|file too large|file size limit exceeded`)

// full turns an error that a full disk caused into a *DiskFullError. Servers
// say it in words only; text is what they wrote.
func (f folder) full(err error, text string) error {
	var already *DiskFullError
	if err == nil || errors.As(err, &already) {
		return err
	}
	caused := errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG) ||
		fullSigns.MatchString(text) || fullSigns.MatchString(err.Error())
	if !caused {
		return err
	}
	return &DiskFullError{Path: f.root, Free: max(f.free(), 0), Err: err}
}

// write writes a file of the folder at once.
func (f folder) write(body []byte, perm os.FileMode, elem ...string) error {
	return host.Local{}.Write(f.path(elem...), body, perm)
}

// removeFile removes a file that may be missing.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
