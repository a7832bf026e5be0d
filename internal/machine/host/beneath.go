package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrLink is the error of a path that leads through a symbolic link where none may
// be: another account may have put it there to redirect a write.
var ErrLink = errors.New("the path leads through a symbolic link")

// ErrOutside is the error of a path that is not beneath its root.
var ErrOutside = errors.New("the path is not beneath its folder")

// beneath returns an error unless a path is a plain one below a root. Both must be
// without links.
func beneath(root, path string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || !strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/") {
		return &fs.PathError{Op: "open", Path: path, Err: ErrOutside}
	}
	return nil
}

// A folder is an open folder. Names in it are used through its descriptor, so that
// no link that is put into the way later is followed.
type folder struct{ *os.File }

// openFolder opens a folder, given by its path without links. It opens each part
// of the path relative to the part before it and follows no link: the error is
// ErrLink then, whenever the link was made.
func openFolder(path string) (*folder, error) {
	at, err := syscall.Open("/", unix.O_PATH|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: "/", Err: err}
	}
	parts := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for i, part := range parts {
		mode := unix.O_PATH
		if i == len(parts)-1 {
			mode = syscall.O_RDONLY // to sync it
		}
		if part == "" { // the root itself
			part = "."
		}
		next, err := syscall.Openat(at, part, mode|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
		if err != nil {
			err = notALink(at, part, err)
		}
		syscall.Close(at)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: "/" + filepath.Join(parts[:i+1]...), Err: err}
		}
		at = next
	}
	return &folder{os.NewFile(uintptr(at), path)}, nil
}

// notALink returns ErrLink instead of err if the name in the folder is a link: the
// kernel reports ENOTDIR or ELOOP for it.
func notALink(dir int, name string, err error) error {
	if !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP) {
		return err
	}
	if info, e := os.Lstat(within(uintptr(dir), name)); e == nil && info.Mode()&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return err
}

// within is the path of a name in an open folder. The kernel resolves it by the
// descriptor, not by the names of the folder's path.
func within(fd uintptr, name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", fd, name) }

func (d *folder) at(name string) string { return within(d.Fd(), name) }

// lookup opens what a name is, without its content, for its description and
// attributes. A symbolic link is ErrLink.
func (d *folder) lookup(name string) (*os.File, fs.FileInfo, error) {
	fd, err := syscall.Openat(int(d.Fd()), name, unix.O_PATH|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = ErrLink
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadBeneath returns the content of a file below a root, both by their paths
// without links. A link in the path is ErrLink.
func (Local) ReadBeneath(root, path string) ([]byte, error) {
	if err := beneath(root, path); err != nil {
		return nil, err
	}
	d, err := openFolder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	name := filepath.Base(path)
	// Opening a pipe does not block.
	fd, err := syscall.Openat(int(d.Fd()), name, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: notALink(int(d.Fd()), name, err)}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	body, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return body, nil
}

// WriteBeneath is Write for a file below a root, both by their paths without links.
// A link in the path is ErrLink, and nothing is written.
func (Local) WriteBeneath(root, path string, body []byte, as New) error {
	err := beneath(root, path)
	if err == nil && as.Folder {
		err = mkdirIn(root, filepath.Dir(path))
	}
	if err == nil {
		err = writeIn(path, body, as)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// RemoveBeneath is Remove for a file below a root, both by their paths without
// links. A link in the folder's path is ErrLink; a link at path is ErrLink too.
func (Local) RemoveBeneath(root, path string) error {
	if err := removeIn(root, path); err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

func removeIn(root, path string) error {
	if err := beneath(root, path); err != nil {
		return err
	}
	d, err := openFolder(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer d.Close()
	f, info, err := d.lookup(filepath.Base(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.Join(errors.New("it is a folder"), f.Close())
	}
	if err := errors.Join(f.Close(), ignoreMissing(os.Remove(d.at(filepath.Base(path))))); err != nil {
		return err
	}
	return d.Sync()
}

// mkdirIn makes a folder below a root if it is missing.
func mkdirIn(root, path string) error {
	if path == root {
		return nil
	}
	if err := beneath(root, path); err != nil {
		return err
	}
	d, err := openFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	if err := os.Mkdir(d.at(filepath.Base(path)), 0o755); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("making its folder: %w", bare(err))
	}
	return d.Sync()
}

// RmdirBeneath removes an empty folder below a root, both by their paths without
// links. A link in the path is ErrLink. A folder that is missing or has files is no
// error.
func (Local) RmdirBeneath(root, path string) error {
	if err := rmdirIn(root, path); err != nil {
		return fmt.Errorf("removing the folder %s: %w", path, err)
	}
	return nil
}

func rmdirIn(root, path string) error {
	if err := beneath(root, path); err != nil {
		return err
	}
	d, err := openFolder(filepath.Dir(path))
	if err != nil {
		return ignoreMissing(err)
	}
	defer d.Close()
	name := filepath.Base(path)
	err = unix.Unlinkat(int(d.Fd()), name, unix.AT_REMOVEDIR)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST):
		return nil
	case err != nil:
		return notALink(int(d.Fd()), name, err)
	}
	return d.Sync()
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
