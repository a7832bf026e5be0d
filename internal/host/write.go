package host

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// write writes beside the file, syncs, and renames over it. A symbolic link
// stays one: its target is what is replaced.
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

func fill(f *os.File, path string, body []byte, perm os.FileMode) error {
	if old, err := os.Stat(path); err == nil {
		perm = old.Mode().Perm()
		if st, ok := old.Sys().(*syscall.Stat_t); ok {
			// Another's file that we may write but not give away becomes ours.
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil && !errors.Is(err, os.ErrPermission) {
				return err
			}
		}
	}
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if _, err := f.Write(body); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes a rename outlive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// The file systems whose files are the kernel's variables, see statfs(2).
const (
	procMagic  = 0x9fa0
	sysfsMagic = 0x62656572
)

// ofKernel says whether a file is one of the kernel's variables. Nothing can
// be renamed over these, and one write is taken as a whole or refused.
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
