package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// An Entry is a file, a folder or a link below a folder.
type Entry struct {
	Path        string // relative to the folder; "." is the folder itself
	Mode        fs.FileMode
	User, Group string // names where the host knows them, else numbers
	UID, GID    int
	Size        int64 // of a regular file
	Time        time.Time
	Link        string // target of a link
	Sum         [sha256.Size]byte
}

// A Manifest lists a folder's content in the order of the names. One of ListTree has no
// sums.
type Manifest []Entry

// Digest is that of names, modes, owners, links and contents.
func (m Manifest) Digest() string {
	sum := sha256.New()
	for _, e := range m {
		fmt.Fprintf(sum, "%q %v %s:%s %d %q %x\n", e.Path, e.Mode, e.User, e.Group, e.Size, e.Link, e.Sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Bytes is the size of all files.
func (m Manifest) Bytes() (all int64) {
	for _, e := range m {
		all += e.Size
	}
	return all
}

// names looks up the accounts of this machine.
type names struct{ users, groups map[int]string }

func (n *names) user(id int) string {
	if name, ok := n.users[id]; ok {
		return name
	}
	name := strconv.Itoa(id)
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
	}
	n.users[id] = name
	return name
}

func (n *names) group(id int) string {
	if name, ok := n.groups[id]; ok {
		return name
	}
	name := strconv.Itoa(id)
	if g, err := user.LookupGroupId(name); err == nil {
		name = g.Name
	}
	n.groups[id] = name
	return name
}

// mostEntries bounds the content of a folder that is copied.
const mostEntries = 1_000_000

// list lists a folder of this machine, without sums; nil for one that is missing.
func list(dir string) (Manifest, error) {
	n := &names{map[int]string{}, map[int]string{}}
	var all Manifest
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if len(all) >= mostEntries {
			return fmt.Errorf("%s has more than %d files", dir, mostEntries)
		}
		e := Entry{Path: rel, Mode: info.Mode(), Time: info.ModTime()}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			e.UID, e.GID = int(stat.Uid), int(stat.Gid)
			e.User, e.Group = n.user(e.UID), n.group(e.GID)
		}
		switch {
		case info.Mode().IsRegular():
			e.Size = info.Size()
		case info.Mode()&fs.ModeSymlink != 0:
			e.Link, err = os.Readlink(path)
		case info.Mode()&(fs.ModeSocket|fs.ModeNamedPipe) != 0:
			return nil // its server makes it
		case !info.IsDir():
			err = fmt.Errorf("%s is a device", path)
		}
		all = append(all, e)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) && len(all) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	return all, nil
}
