package patch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/iikanji/iikanji/internal/change"
)

const maxFile = 1 << 20 // bytes of a file that is patched

// sourceOf is the folder of a service's source, which must be one that may be
// changed.
func sourceOf(s *change.Site, service string) (string, error) {
	svc, ok := s.Services[service]
	if !ok || svc.Source == "" {
		return "", fmt.Errorf("no service %q whose source is known", service)
	}
	if svc.Build == nil || svc.Restart == nil {
		return "", fmt.Errorf("nothing is known that compiles the source of %s and restarts it", service)
	}
	real, err := filepath.EvalSymlinks(svc.Source)
	if err != nil {
		return "", fmt.Errorf("finding the source of %s: %w", service, err)
	}
	for _, root := range s.Roots {
		if root, err = filepath.EvalSymlinks(root); err == nil && (real == root || strings.HasPrefix(real, root+string(filepath.Separator))) {
			return real, nil
		}
	}
	return "", fmt.Errorf("the source of %s, %s, is outside the folders of the target", service, svc.Source)
}

// read returns what a patched file holds, nil when it is not there. Nothing
// on the way from the source folder to it may be a link.
func (f *filePatch) read(s *change.Site, source string) ([]byte, error) {
	parts := strings.Split(f.path, "/")
	at := source
	for i, part := range parts {
		at = filepath.Join(at, part)
		last := i == len(parts)-1
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && last:
			return nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, f.noFolder(strings.Join(parts[:i+1], "/"))
		case err != nil:
			return nil, fmt.Errorf("looking at %s: %w", f.path, err)
		case !last && !info.IsDir(), last && !info.Mode().IsRegular():
			return nil, wrong(f.line, "%s is no ordinary file, or a part of it no folder (links are not followed)", f.path)
		case last && info.Size() > maxFile:
			return nil, wrong(f.line, "%s has %d bytes: files of up to %d are patched", f.path, info.Size(), maxFile)
		case last && f.deletes:
			if err := f.givesBack(info); err != nil {
				return nil, err
			}
		}
	}
	return s.ReadOld(at)
}

// noFolder is the error for a file in a folder that is not there: an undo
// would leave the folder behind.
func (f *filePatch) noFolder(dir string) error {
	if f.creates {
		return wrong(f.line, "there is no folder %s for the new file %s", dir, f.path).hint("put the new file into a folder that is there: a patch makes none")
	}
	return wrong(f.line, "%s is not there", f.path).hint("names are relative to the source folder, as in a/main.go")
}

// givesBack wants a removed file to be one that an undo, which knows contents
// only, writes as it was.
func (f *filePatch) givesBack(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm() != 0o644 || !ok || int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
		return wrong(f.line, "%s cannot be removed: an undo would not give back its mode %v or its owner", f.path, info.Mode().Perm()).
			hint("take its lines out instead, and leave the package clause")
	}
	return nil
}
