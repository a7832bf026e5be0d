package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// Limits of a copy of the source; a larger folder is not one of source.
const (
	maxEntries = 20_000
	maxBytes   = 256 << 20
)

// Compile builds a copy of a service's source, the folder source of its host, with
// the edits, runs a Go app's own tests on it, and removes the copy.
//
// The copy is beside the source, so that relative paths in go.mod, as in
// "replace x => ../x", keep their meaning. The source of another host is compiled here, and
// such paths lead nowhere.
func (s *Site) Compile(ctx context.Context, svc Service, source string, edits []Edit) error {
	return s.InSourceCopy(ctx, svc, source, func(h host.Host, dir string) error {
		for _, e := range edits {
			if err := e.inCopy(h, source, dir); err != nil {
				return fmt.Errorf("editing the copy of the source: %w", err)
			}
		}
		if err := svc.Running.Build(ctx, dir); err != nil {
			return fmt.Errorf("the edited source does not compile: %w", err)
		}
		_, err := s.RunOwnTests(ctx, svc, source, dir)
		return err
	})
}

// InSourceCopy calls use with a copy of a service's source, in a folder of this machine, and
// removes the copy. It is beside the source, or beside the mirror of one of another host.
func (s *Site) InSourceCopy(ctx context.Context, svc Service, source string, use func(h host.Host, dir string) error) error {
	h, source, err := s.here(ctx, svc, source)
	if err != nil {
		return fmt.Errorf("copying the source to compile it: %w", err)
	}
	return inScratchFolder(h, filepath.Dir(source), func(dir string) error {
		if err := copyTree(ctx, h, source, dir); err != nil {
			return fmt.Errorf("copying the source to compile it: %w", err)
		}
		return use(h, dir)
	})
}

// inCopy applies an edit to the copy in dir.
func (e Edit) inCopy(h host.Host, source, dir string) error {
	rel, err := filepath.Rel(source, e.Path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, rel)
	if e.New == nil {
		return h.Remove(to)
	}
	if e.Folder {
		if err := h.Mkdir(filepath.Dir(to), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return h.Write(to, e.New, 0o644) // an existing file keeps its mode
}

// copyTree copies folders, regular files and links. Names that begin with a dot
// (.git) are not part of the build and left out.
func copyTree(ctx context.Context, h host.Host, from, to string) error {
	real, err := h.RealPath(from)
	if err != nil {
		return err
	}
	entries, size := 0, int64(0)
	return h.Walk(from, func(path string, d fs.DirEntry, err error) error {
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
		return copyEntry(h, real, path[len(from):], to, info)
	})
}

// copyEntry copies one entry of a folder, by its path in it. A file is read without
// following a link: the account of the app may write to the folder, and could put
// a link to a file that only this process may read.
func copyEntry(h host.Host, folder, rel, to string, info fs.FileInfo) error {
	from := filepath.Join(folder, rel)
	to = filepath.Join(to, rel)
	switch {
	case info.IsDir():
		return h.Mkdir(to, 0o755)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := h.Readlink(from)
		if err != nil {
			return err
		}
		return h.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil // a socket, a pipe: nothing to compile
	}
	body, err := h.ReadBeneath(folder, from)
	if err != nil {
		return err
	}
	return h.Create(to, body, info.Mode().Perm()|0o600)
}
