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

// keep gives a new file what the old one at path has beside its content: the
// owner, the mode with its special bits, and extended attributes, which access
// control lists are among. Another's file that we may write but not give away
// becomes ours; then it loses the special bits, as they would act for us.
//
// It comes after the content: writing clears some of it.
func keep(f *os.File, path string, old os.FileInfo) error {
	mode := old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
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
	return copyAttributes(path, f.Name())
}

// ofContent are attributes that sign what a file held: the kernel makes them
// anew, or the new content has none.
var ofContent = []string{"security.ima", "security.evm"}

// copyAttributes copies extended attributes, see xattr(7), as far as the file
// system has them and we may: a label that only the system gives is the system's.
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

// attributes are the names of a file's extended attributes.
func attributes(path string) ([]string, error) {
	list, err := grown(func(buf []byte) (int, error) { return syscall.Listxattr(path, buf) })
	if errors.Is(err, syscall.ENOTSUP) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("listing its attributes: %w", err)
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

// grown calls for an answer of unknown size until the buffer is large enough.
// The kernel has no larger one than 64 KiB.
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

// Replaceable says why Write would not keep what a path is, whatever it holds:
// a link to nothing would become a file, and of a file with several names one
// would be cut off from the others. A path with nothing there is replaceable.
func (Local) Replaceable(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is a symbolic link to nothing", path)
		}
		return nil
	} else if err != nil {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() && st.Nlink > 1 {
		return fmt.Errorf("%s has %d names (hard links), which would no longer be one file", path, st.Nlink)
	}
	return nil
}
