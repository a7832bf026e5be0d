package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// Name returns "", the name of this machine.
func (Local) Name() string { return "" }

// Open opens a file for reading.
func (Local) Open(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // not f: a File with a nil *os.File is not nil
	}
	return f, nil
}

// Stat describes a file.
func (Local) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// Lstat describes a file and does not follow a symbolic link.
func (Local) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// ReadDir lists a folder, sorted by name.
func (Local) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Readlink returns the target of a symbolic link.
func (Local) Readlink(path string) (string, error) { return os.Readlink(path) }

// RealPath returns the path without symbolic links.
func (Local) RealPath(path string) (string, error) { return filepath.EvalSymlinks(path) }

// Glob lists the paths that match a pattern.
func (Local) Glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

// Walk calls fn for a folder and everything below it.
func (Local) Walk(root string, fn fs.WalkDirFunc) error { return filepath.WalkDir(root, fn) }

// RemoveAll removes a folder with its content, or a file.
func (Local) RemoveAll(path string) error { return os.RemoveAll(path) }

// Mkdir makes a folder with exactly these permissions, regardless of the umask.
func (Local) Mkdir(path string, perm os.FileMode) error {
	if err := os.Mkdir(path, perm); err != nil {
		return err
	}
	return os.Chmod(path, perm)
}

// FreeSpace is how many bytes an unprivileged user may still write.
func (Local) FreeSpace(path string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// Signal sends a signal to a process. If the process has ended, the error wraps
// os.ErrProcessDone.
func (Local) Signal(pid int, sig syscall.Signal) error {
	if pid <= 0 { // kill(2) takes 0 and below as process groups
		return fmt.Errorf("signalling process %d: not a process id", pid)
	}
	err := syscall.Kill(pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("signalling process %d: %w", pid, err)
	}
	return nil
}

// ProcFolder returns /proc.
func (Local) ProcFolder() string { return "/proc" }

// Dial connects to an address or a unix socket.
func (Local) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, address)
}
