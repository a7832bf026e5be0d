package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

const maxFile = 1 << 20 // bytes of a file that is patched

// read returns the content of a patched file, nil when it does not exist. No
// part of its path below the source folder may be a link.
func (f *filePatch) read(s *change.Site, on, source string) ([]byte, error) {
	h, err := s.On(on)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(f.path, "/")
	at := source
	for i, part := range parts {
		at = filepath.Join(at, part)
		last := i == len(parts)-1
		info, err := h.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && last:
			return nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, f.noFolder(strings.Join(parts[:i+1], "/"))
		case err != nil:
			return nil, fmt.Errorf("reading the attributes of %s: %w", f.path, err)
		case !last && !info.IsDir(), last && !info.Mode().IsRegular():
			return nil, wrong(f.line, "%s is not a regular file, or a part of its path is not a folder (links are not followed)", f.path)
		case last && info.Size() > maxFile:
			return nil, wrong(f.line, "%s has %d bytes: only files of up to %d are patched", f.path, info.Size(), maxFile)
		case last && f.deletes:
			if err := f.restorable(h, info); err != nil {
				return nil, err
			}
		}
	}
	return s.ReadOld(on, at)
}

// noFolder returns the error for a file in a missing folder. The folder is not
// created, because an undo would leave it behind.
func (f *filePatch) noFolder(dir string) error {
	if f.creates {
		return wrong(f.line, "there is no folder %s for the new file %s", dir, f.path).hint("put the new file into an existing folder: a patch creates none")
	}
	return wrong(f.line, "%s does not exist", f.path).hint("names are relative to the source folder, as in a/main.go")
}

// restorable refuses to remove a file that an undo could not restore: an undo
// writes the content only, with mode 0644 and iikanji's user as the owner.
func (f *filePatch) restorable(h host.Host, info fs.FileInfo) error {
	me, err := h.Account()
	if err != nil {
		return fmt.Errorf("reading the owner of %s: %w", f.path, err)
	}
	if owner, ok := host.OwnerOf(info); info.Mode().Perm() != 0o644 || !ok || owner != me {
		return wrong(f.line, "%s cannot be removed: an undo would not restore its mode %v or its owner", f.path, info.Mode().Perm()).
			hint("remove its lines instead, and keep the package clause")
	}
	return nil
}
