package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What a copy of the source may hold; more is no source.
const (
	maxEntries = 20_000
	maxBytes   = 256 << 20
)

// Compile has a service build a copy of its source, the folder source, with
// the edits, and leaves nothing.
//
// The copy lies beside the source, so that "replace x => ../x" of go.mod means
// what it means there.
func Compile(ctx context.Context, svc Service, source string, edits []Edit) error {
	if err := svc.Here(); err != nil {
		return err
	}
	return inScratchFolder(filepath.Dir(source), func(dir string) error {
		if err := os.Chmod(dir, 0o755); err != nil { // the compiler may run with another account
			return fmt.Errorf("copying the source to compile it: %w", err)
		}
		if err := copyTree(ctx, source, dir); err != nil {
			return fmt.Errorf("copying the source to compile it: %w", err)
		}
		for _, e := range edits {
			if err := e.inCopy(source, dir); err != nil {
				return fmt.Errorf("editing the copy of the source: %w", err)
			}
		}
		if err := svc.Build(ctx, dir); err != nil {
			return fmt.Errorf("the edited source does not compile: %w", err)
		}
		return nil
	})
}

// inCopy does to the copy in dir what the edit will do to the source.
func (e Edit) inCopy(source, dir string) error {
	rel, err := filepath.Rel(source, e.Path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, rel)
	if e.New == nil {
		return os.Remove(to)
	}
	return os.WriteFile(to, e.New, 0o644) // of one that is there the mode stays
}

// copyTree copies folders, ordinary files and links. Names with a dot in front
// (.git) are no part of what is built and left out.
func copyTree(ctx context.Context, from, to string) error {
	entries, size := 0, int64(0)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if entries++; info.Mode().IsRegular() {
			size += info.Size()
		}
		if entries > maxEntries || size > maxBytes {
			return fmt.Errorf("%s holds more than %d files or %d MiB", from, maxEntries, maxBytes>>20)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return copyEntry(path, filepath.Join(to, path[len(from):]), info)
	})
}

func copyEntry(from, to string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return os.Mkdir(to, 0o755)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil // a socket, a pipe: nothing to compile
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
