package host

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// write writes a temporary file in the same folder, syncs it, and renames it over
// the file. A symbolic link stays a link: its target is replaced.
func write(path string, body []byte, perm os.FileMode) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if ofKernel(path) {
		return writeInPlace(path, body)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := fill(f, path, body, perm); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// fill writes the content of a new file and copies the metadata of the old one at path.
func fill(f *os.File, path string, body []byte, perm os.FileMode) error {
	if _, err := f.Write(body); err != nil {
		return err
	}
	old, err := os.Stat(path)
	if err == nil {
		err = keep(f, path, old)
	} else {
		err = f.Chmod(perm)
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

// ofKernel reports whether a file is a kernel variable. No file can be renamed over
// it, and the kernel takes or refuses one write as a whole.
func ofKernel(path string) bool {
	var st syscall.Statfs_t
	return syscall.Statfs(path, &st) == nil && (int64(st.Type) == procMagic || int64(st.Type) == sysfsMagic)
}

func writeInPlace(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}
