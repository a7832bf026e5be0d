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
		if real, err := h.RealPath(name); err == nil {
			name = real
		}
		f.folders = append(f.folders, filepath.Clean(name))
	}
	return f
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

func (f *fence) check(real, path string) error {
	for _, folder := range f.folders {
		if folder == "/" || real == folder || strings.HasPrefix(real, folder+"/") || strings.HasPrefix(real, folder+besideFolder) {
			return nil
		}
	}
	return fmt.Errorf("writing %s: %w", path, ErrFenced)
}
