package stack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// seal takes from the services' account the right to write the source that
// this process compiles: the build runs as the calling user, and go.mod or a file
// of assembly can make it do anything. In the folders above it the account can
// still create files, as apps do, but the sticky bit keeps it from putting
// another folder in the place of the source. A file that belongs to the account
// is an error. It does nothing if the services run as the calling user.
func (f folder) seal(source string) error {
	if !f.as.drop {
		return nil
	}
	root := f.path(webappDir, source)
	for dir := filepath.Dir(root); strings.HasPrefix(dir, f.path(webappDir)); dir = filepath.Dir(dir) {
		if err := f.sealOne(dir, os.ModeSticky, 0o002); err != nil {
			return err
		}
	}
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a scratch file of another process
			return nil
		} else if err != nil {
			return fmt.Errorf("protecting the source: %w", err)
		}
		return f.sealOne(path, 0, 0o022)
	})
}

// sealOne adds and removes bits of a mode, if the entry is not a link.
func (f folder) sealOne(path string, add, remove fs.FileMode) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil
	} else if err != nil {
		return fmt.Errorf("protecting the source: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == f.as.uid {
		return fmt.Errorf("protecting the source: %s belongs to %s, the account of the services, so that the app could change what iikanji compiles: give it to another user", path, f.as.name)
	}
	mode := (info.Mode() | add) &^ remove
	if mode == info.Mode() {
		return nil
	}
	if err := os.Chmod(path, mode); err != nil { // it takes the special bits too: a folder keeps its setgid bit
		return fmt.Errorf("protecting the source: %w", err)
	}
	return nil
}
