package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// An Owner is the user and the group of a file, by their ids on the host.
type Owner struct{ UID, GID int }

// A User is an account of a host with its groups.
type User struct {
	UID    int
	Groups []int
}

// ErrNoUser is the error of a name that no account of the host has.
var ErrNoUser = errors.New("there is no such user")

// OwnerOf returns the owner in a description of a file. Sys of a host's
// descriptions is a *syscall.Stat_t, or an Owner where that is all that is known.
func OwnerOf(info fs.FileInfo) (Owner, bool) {
	switch sys := info.Sys().(type) {
	case *syscall.Stat_t:
		return Owner{int(sys.Uid), int(sys.Gid)}, true
	case Owner:
		return sys, true
	}
	return Owner{}, false
}

// Create makes a new file with exactly these permissions, regardless of the umask.
// A file that could not be written entirely is removed.
func (Local) Create(path string, body []byte, perm os.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Chmod(perm), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Symlink makes a symbolic link.
func (Local) Symlink(target, path string) error { return os.Symlink(target, path) }

// Rmdir removes an empty folder.
func (Local) Rmdir(path string) error {
	if err := syscall.Rmdir(path); err != nil {
		return &fs.PathError{Op: "rmdir", Path: path, Err: err}
	}
	return nil
}

// Chown gives a file or a link to another user and group.
func (Local) Chown(path string, to Owner) error { return os.Lchown(path, to.UID, to.GID) }

// Account is the effective user and group of this process.
func (Local) Account() (Owner, error) { return Owner{os.Geteuid(), os.Getegid()}, nil }

// User looks an account up by its name. For a name without an account the error
// is ErrNoUser. A user whose groups cannot be listed has the primary one.
func (Local) User(name string) (User, error) {
	u, err := user.Lookup(name)
	var unknown user.UnknownUserError
	if errors.As(err, &unknown) {
		return User{}, fmt.Errorf("user %q: %w", name, ErrNoUser)
	} else if err != nil {
		return User{}, fmt.Errorf("user %q: %w", name, err)
	}
	groups, err := u.GroupIds()
	if err != nil {
		groups = []string{u.Gid}
	}
	var out User
	if out.UID, err = strconv.Atoi(u.Uid); err != nil {
		return User{}, fmt.Errorf("user %q: %w", name, err)
	}
	for _, g := range groups {
		gid, err := strconv.Atoi(g)
		if err != nil {
			return User{}, fmt.Errorf("user %q: %w", name, err)
		}
		out.Groups = append(out.Groups, gid)
	}
	return out, nil
}

// Hold locks a file or a folder with flock(2).
func (Local) Hold(path string) (io.Closer, error) {
	// A link is not followed, and opening a pipe does not block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	held, err := lock(f, path)
	if !held {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lock reports whether the open file was locked and is still the one at path. The
// holder before may have removed it meanwhile.
func lock(f *os.File, path string) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("locking %s: %w", path, err)
	}
	locked, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("locking %s: %w", path, err)
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(locked, there), err
}
