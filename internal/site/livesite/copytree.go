package livesite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// autoIncrement matches the counter in a table's definition.
var autoIncrement = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

func multiReader(head string, rest io.Reader) io.Reader {
	return io.MultiReader(strings.NewReader(head), rest)
}

// copyTree copies a folder with modes and owners. Where the file system can, files
// share their blocks with the copy until one of them is written (reflink). No file
// of the copy is a hard link: a server writes into its files.
func copyTree(ctx context.Context, from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		place := filepath.Join(to, path[len(from):])
		switch {
		case d.IsDir():
			err = os.Mkdir(place, info.Mode().Perm()|0o700)
		case d.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(path); err == nil {
				err = os.Symlink(target, place)
			}
		case d.Type().IsRegular():
			err = cloneFile(path, place, info.Mode().Perm())
		default:
			return nil // a socket
		}
		if err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				_ = os.Lchown(place, int(st.Uid), int(st.Gid)) // only root may
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}

// cloneFile copies a file, by reflink where that is possible.
func cloneFile(from, to string, mode os.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil {
		return nil
	}
	_, err = io.Copy(out, in)
	return err
}
