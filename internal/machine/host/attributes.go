package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// keep copies the metadata of the old file to its replacement f: owner,
// mode with special bits, and extended attributes, which include access control
// lists. If this process may not give the file to the old owner, the file belongs
// to this process's user and loses setuid and setgid, which would otherwise grant
// that user's rights.
//
// Call it after writing the content: a write clears some of the metadata.
func keep(f, old *os.File, info fs.FileInfo) error {
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		switch err := f.Chown(int(st.Uid), int(st.Gid)); {
		case errors.Is(err, fs.ErrPermission):
			mode &= fs.ModePerm
		case err != nil:
			return err
		}
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	return copyAttributes(ofDescriptor(old), ofDescriptor(f))
}

// ofDescriptor is a path of an open file that leads to it also when its name has
// become that of another file.
func ofDescriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// ofContent are attributes that hold a signature or hash of the content: the kernel
// computes them again, or they do not apply to the new content.
var ofContent = []string{"security.ima", "security.evm"}

// copyAttributes copies extended attributes, see xattr(7). It skips those that the
// file system does not support or that this process may not set, such as security
// labels that only the kernel assigns.
func copyAttributes(from, to string) error {
	names, err := attributes(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(ofContent, name) {
			continue
		}
		value, err := attribute(from, name)
		if err == nil {
			err = syscall.Setxattr(to, name, value, 0)
		}
		switch {
		case err == nil, errors.Is(err, syscall.ENODATA), errors.Is(err, syscall.ENOTSUP), errors.Is(err, fs.ErrPermission):
		default:
			return fmt.Errorf("copying the attribute %s: %w", name, err)
		}
	}
	return nil
}

// attributes returns the names of a file's extended attributes.
func attributes(path string) ([]string, error) {
	list, err := grown(func(buf []byte) (int, error) { return syscall.Listxattr(path, buf) })
	if errors.Is(err, syscall.ENOTSUP) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("listing the attributes of %s: %w", path, err)
	}
	var names []string
	for name := range bytes.SplitSeq(bytes.TrimSuffix(list, []byte{0}), []byte{0}) {
		if len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names, nil
}

func attribute(path, name string) ([]byte, error) {
	return grown(func(buf []byte) (int, error) { return syscall.Getxattr(path, name, buf) })
}

// grown repeats a call with larger buffers until the result fits. The kernel's limit
// is 64 KiB.
func grown(call func(buf []byte) (int, error)) ([]byte, error) {
	for size := 1 << 10; ; size *= 4 {
		buf := make([]byte, size)
		n, err := call(buf)
		if errors.Is(err, syscall.ERANGE) && size < 1<<16 {
			continue
		}
		return buf[:max(n, 0)], err
	}
}

// Replaceable returns an error if Write would change the kind of what is at path: a
// dangling symbolic link would become a file, and a file with several hard links
// would be separated from the others. As an ordinary user, a file of another owner
// or group would become this user's. A missing path is replaceable.
func (Local) Replaceable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a symbolic link to nothing", path)
		}
		return nil
	} else if err != nil {
		return fmt.Errorf("checking %s: %w", path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() && st.Nlink > 1 {
		return fmt.Errorf("%s has %d names (hard links), which a write would separate", path, st.Nlink)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() && !mayGive(st) {
		return fmt.Errorf("%s belongs to another user or group, and only root can give it back to them after a write", path)
	}
	return nil
}

// mayGive reports whether this process may give a new file the owner and the group
// of an old one.
func mayGive(st *syscall.Stat_t) bool {
	if os.Geteuid() == 0 {
		return true
	}
	groups, err := os.Getgroups()
	return err == nil && int(st.Uid) == os.Geteuid() && slices.Contains(append(groups, os.Getegid()), int(st.Gid))
}
