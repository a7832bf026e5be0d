package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// write replaces a file. A symbolic link stays a link: its target is replaced.
func write(path string, body []byte, perm os.FileMode) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return writeIn(real, body, New{Perm: perm})
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return err
	}
	return writeIn(filepath.Join(dir, filepath.Base(abs)), body, New{Perm: perm})
}

// writeIn replaces a file, given by its path without links: it writes a temporary
// file in the same folder, syncs it, and renames it over the file.
func writeIn(path string, body []byte, as New) (err error) {
	d, err := openFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer d.Close()
	name := filepath.Base(path)
	if ofKernel(d) {
		return d.writeInPlace(name, body)
	}
	old, info, err := d.lookup(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old != nil {
		defer old.Close()
	}
	f, err := os.CreateTemp(d.at("."), "."+name+".*")
	if err != nil {
		return fmt.Errorf("making a temporary file: %w", bare(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := fill(f, old, info, body, as); err != nil {
		return errors.Join(bare(err), f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), d.at(name)); err != nil {
		return fmt.Errorf("renaming the temporary file: %w", bare(err))
	}
	return d.Sync()
}

// bare removes the path of an open folder from an error: the caller names the file.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// fill writes the content of a new file and copies the metadata of the old one, if
// there is one.
func fill(f, old *os.File, info fs.FileInfo, body []byte, as New) error {
	if _, err := f.Write(body); err != nil {
		return err
	}
	var err error
	switch {
	case old != nil:
		err = keep(f, old, info)
	case as.Owner != nil:
		err = errors.Join(f.Chown(as.Owner.UID, as.Owner.GID), f.Chmod(as.Perm)) // chown clears special bits
	default:
		err = f.Chmod(as.Perm)
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// The file systems whose files are kernel variables, see statfs(2).
const (
	procMagic  = 0x9fa0
	sysfsMagic = 0x62656572
)

// ofKernel reports whether the files of a folder are kernel variables. No file can be renamed over
// it, and the kernel takes or refuses one write as a whole.
func ofKernel(d *folder) bool {
	var st syscall.Statfs_t
	return syscall.Fstatfs(int(d.Fd()), &st) == nil && (int64(st.Type) == procMagic || int64(st.Type) == sysfsMagic)
}

func (d *folder) writeInPlace(name string, body []byte) error {
	fd, err := syscall.Openat(int(d.Fd()), name, syscall.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return notALink(int(d.Fd()), name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}
