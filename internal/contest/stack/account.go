package stack

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/iikanji/iikanji/internal/machine/host"
)

// An account is the user that the services run as: the calling user, or, when
// the caller is root, the user nobody. MariaDB refuses to run as root, and an
// arena's app is slow on purpose and not guaranteed to be safe.
//
// The user mysql of the Debian package is not used: it owns the data of the
// machine's own MariaDB, which the stack must never be able to touch.
type account struct {
	drop     bool
	uid, gid int
	name     string
}

// overflowID is the user ID of nobody on machines where the name does not resolve.
const overflowID = 65534

func serviceAccount() account {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid(), name: userName(os.Geteuid())}
	}
	a := account{drop: true, uid: overflowID, gid: overflowID, name: "nobody"}
	if u, err := user.Lookup(a.name); err == nil {
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err1 == nil && err2 == nil && uid > 0 {
			a.uid, a.gid = uid, gid
		}
	}
	return a
}

// userName returns the name of a user, or its ID as text if it has no name.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

func ownerName(uid uint32) string { return userName(int(uid)) }

// own makes the account the owner and group of a path.
func (a account) own(path string) error {
	if !a.drop {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// share gives a path to the account's group and keeps its owner.
func (a account) share(path string) error {
	if !a.drop {
		return nil
	}
	return os.Lchown(path, -1, a.gid)
}

func (a account) credential() *syscall.Credential {
	if !a.drop {
		return nil
	}
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
}

// reach checks, as the account, whether a directory can be entered. Mode bits
// alone are not enough: access control lists and mount options matter too.
func (a account) reach(ctx context.Context, dir string) error {
	if !a.drop {
		return nil
	}
	r, err := host.Local{}.Exec(ctx, host.Command{Path: "/bin/sh", Args: []string{"-c", `cd -- "$1"`, "sh", dir}, Dir: "/", As: a.credential()})
	if err != nil {
		return fmt.Errorf("asking whether %s can reach %s: %w", a.name, dir, err)
	}
	if r.Status != 0 {
		return &ReachError{Dir: dir, User: a.name}
	}
	return nil
}

// openState lets other users enter iikanji's state folder, if the work folder is one below
// it: an earlier version, or a history of a site, may have made it for its owner only. What
// is private in it has folders of its own, which stay closed.
func openState(work string) error {
	usual, err := DefaultDir(filepath.Base(work))
	if err != nil || usual != work {
		return nil
	}
	state := filepath.Dir(work)
	info, err := os.Lstat(state)
	if err != nil {
		return fmt.Errorf("opening the state folder: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o011 == 0o011 {
		return nil
	}
	if err := os.Chmod(state, info.Mode().Perm()|0o011); err != nil {
		return fmt.Errorf("opening the state folder: %w", err)
	}
	return nil
}
