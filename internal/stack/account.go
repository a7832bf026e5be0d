package stack

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"github.com/iikanji/iikanji/internal/host"
)

// An account is whom the services run as: ourselves, or, when we are root, the
// user called nobody. MariaDB refuses to run as root, and an arena's app is
// slow on purpose and safe by no promise.
//
// Note: the package's user mysql would do, but it owns the data of the
// machine's own MariaDB, which nothing of ours shall be able to touch.
type account struct {
	drop     bool
	uid, gid int
	name     string
}

// overflowID is nobody's number wherever there is no name for it.
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

// userName is a user's name, or its number where it has none.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

func ownerName(uid uint32) string { return userName(int(uid)) }

// own gives a path to the account.
func (a account) own(path string) error {
	if !a.drop {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// share gives a path to the account's group and leaves it its owner.
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

// reach asks, as the account, whether a folder can be entered: access lists
// and mount options make a guess from the modes wrong.
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
