package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
)

// mostRounds bounds how often further files are asked for: a source that is written all the
// time never ends.
const mostRounds = 32

// Sync makes a folder of this machine have the files that a source of a host has now. Only
// what differs is sent. The folder is for Sync alone. No name and no link leads out of it: the
// names come from another machine. The result is what the source has beside.
func Sync(ctx context.Context, h host.Host, src Source, dir string) (left []LeftOut, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a copy of the source: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("making a copy of the source: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	have, err := contents(dir)
	if err != nil {
		return nil, err
	}
	for range mostRounds {
		a, err := filesTask().On(ctx, h, question{src, have})
		if err != nil {
			return nil, err
		}
		if err := take(root, a, have); err != nil {
			return nil, fmt.Errorf("making a copy of %s: %w", src.Dir, err)
		}
		if !a.More {
			return a.Left, nil
		}
	}
	return nil, fmt.Errorf("making a copy of %s: its files change all the time", src.Dir)
}

// contents are the digests of the files of a mirror.
func contents(dir string) (map[string]string, error) {
	have := map[string]string{}
	err := process.WalkSource(dir, "", func(name string, _ fs.FileInfo) error {
		sum, err := process.FileSum(filepath.Join(dir, name))
		have[name] = sum
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the copy of the source: %w", err)
	}
	return have, nil
}

// take removes from a mirror what its source does not have, and writes what it has got.
func take(root *os.Root, a answer, have map[string]string) error {
	there := map[string]bool{}
	for _, name := range a.Names {
		there[name] = true
	}
	for name := range have {
		if there[name] {
			continue
		}
		if err := root.Remove(name); err != nil {
			return err
		}
		delete(have, name)
		for up := filepath.Dir(name); up != "."; up = filepath.Dir(up) {
			if root.Remove(up) != nil { // other files are in it
				break
			}
		}
	}
	for _, f := range a.Files {
		if !filepath.IsLocal(f.Name) || filepath.Clean(f.Name) != f.Name {
			return fmt.Errorf("a file has the name %q", f.Name)
		}
		if err := root.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(f.Name, f.Body, 0o644); err != nil {
			return err
		}
		have[f.Name] = digest(f.Body)
	}
	return nil
}
