package peer

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// besideFolder begins the end of the name of what is made beside a folder and takes its
// place, when the folder may be written as a whole.
const besideFolder = ".iikanji-"

// A fence lets writes through only below some folders of a host.
type fence struct {
	h       host.Host
	folders []string // without links
}

func newFence(h host.Host, folders []string) *fence {
	f := &fence{h: h}
	for _, name := range folders {
		f.folders = append(f.folders, realOf(h, name))
	}
	return f
}

// realOf is a path without the links of what there is of it.
func realOf(h host.Host, path string) string {
	path = filepath.Clean(path)
	for dir, rest := path, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := h.RealPath(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

// follow checks a path whose last part may be a link that the write follows.
func (f *fence) follow(path string) error {
	if real, err := f.h.RealPath(path); err == nil {
		return f.check(real, path)
	}
	return f.keep(path)
}

// keep checks a path whose last part is used as it is, also if it is a link.
func (f *fence) keep(path string) error {
	dir, err := f.h.RealPath(filepath.Dir(path))
	if err != nil {
		return err
	}
	return f.check(filepath.Join(dir, filepath.Base(path)), path)
}

// below checks a path of a method that follows no link in it.
func (f *fence) below(path string) error { return f.check(filepath.Clean(path), path) }

// emptied checks a folder that is removed if it is empty: one below the folders, or the one
// that was made for a file which may be written alone.
func (f *fence) emptied(path string) error {
	for _, folder := range f.folders {
		if host.OneFile(folder) && filepath.Dir(folder) == path {
			return nil
		}
	}
	return f.below(path)
}

func (f *fence) check(real, path string) error {
	for _, folder := range f.folders {
		if host.OneFile(folder) {
			if real == folder {
				return nil
			}
			continue
		}
		if folder == "/" || real == folder || strings.HasPrefix(real, folder+"/") || strings.HasPrefix(real, folder+besideFolder) {
			return nil
		}
	}
	return fmt.Errorf("writing %s: %w", path, ErrFenced)
}
