package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// kept are the bits of a mode that a copy has.
const kept = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// check refuses a list whose names leave the folder: it comes from another machine.
func (m Manifest) check() error {
	if len(m) == 0 || m[0].Path != "." || !m[0].Mode.IsDir() || len(m) > mostEntries {
		return errors.New("the list is not that of a folder")
	}
	folders := map[string]bool{".": true}
	for _, e := range m[1:] {
		if !filepath.IsLocal(e.Path) || filepath.Clean(e.Path) != e.Path || strings.ContainsRune(e.Path, 0) || !folders[filepath.Dir(e.Path)] || e.Size < 0 {
			return fmt.Errorf("the list has the name %q", e.Path)
		}
		switch {
		case e.Mode.IsDir():
			folders[e.Path] = true
		case !e.Mode.IsRegular() && e.Mode&fs.ModeType != fs.ModeSymlink:
			return fmt.Errorf("%q is neither a file, a folder nor a link", e.Path)
		}
	}
	return nil
}

// prepare makes the folders and links of a list, and removes what it does not have. No link
// that is there is followed: what should be a folder and is none is removed first.
func prepare(dir string, all Manifest, o *owners) error {
	want := map[string]Entry{}
	for _, e := range all {
		want[e.Path] = e
	}
	have, err := list(dir)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(have) { // what is below a folder before it
		if w, ok := want[e.Path]; ok && w.Mode.Type() == e.Mode.Type() && w.Link == e.Link {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Path)); err != nil {
			return fmt.Errorf("removing what the source does not have: %w", err)
		}
	}
	for _, e := range all {
		path := filepath.Join(dir, e.Path)
		switch {
		case e.Mode.IsDir():
			err = os.Mkdir(path, 0o700)
		case e.Mode&fs.ModeSymlink != 0:
			if err = os.Symlink(e.Link, path); err == nil {
				err = o.set(path, e)
			}
		default:
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making %s: %w", e.Path, err)
		}
	}
	return nil
}

// finish gives folders their owners, modes and times, and makes the copy durable.
func finish(dir string, all Manifest) error {
	o := &owners{users: map[string]int{}, groups: map[string]int{}}
	for _, e := range slices.Backward(all) {
		if e.Mode.IsDir() {
			if err := o.set(filepath.Join(dir, e.Path), e); err != nil {
				return err
			}
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}

// owners are the accounts of this machine by their names.
type owners struct{ users, groups map[string]int }

func (o *owners) user(name string, id int) int {
	if known, ok := o.users[name]; ok {
		return known
	}
	if u, err := user.Lookup(name); err == nil {
		if n, err := strconv.Atoi(u.Uid); err == nil {
			id = n
		}
	}
	o.users[name] = id
	return id
}

func (o *owners) group(name string, id int) int {
	if known, ok := o.groups[name]; ok {
		return known
	}
	if g, err := user.LookupGroup(name); err == nil {
		if n, err := strconv.Atoi(g.Gid); err == nil {
			id = n
		}
	}
	o.groups[name] = id
	return id
}

// set gives a file its owner, its mode and its time. Only root can give it to others: the
// files of another account stay with the own one.
func (o *owners) set(path string, e Entry) error {
	if os.Geteuid() == 0 {
		if err := os.Lchown(path, o.user(e.User, e.UID), o.group(e.Group, e.GID)); err != nil {
			return err
		}
	}
	if e.Mode&fs.ModeSymlink == 0 {
		if err := os.Chmod(path, e.Mode&kept); err != nil {
			return err
		}
	}
	at := unix.NsecToTimespec(e.Time.UnixNano())
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "utimensat", Path: path, Err: err}
	}
	return nil
}

// rename renames a file or folder durably. What is at the new name is not overwritten.
func rename(from, to string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	for _, dir := range []string{filepath.Dir(from), filepath.Dir(to)} {
		if err := syncFolder(dir); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("syncing %s: %w", dir, err)
	}
	return nil
}
