package nginxconf

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
)

var socketForm = regexp.MustCompile(`^/[A-Za-z0-9._/@+-]{1,100}$`)

// editSocket reaches the app by its unix socket instead of by TCP: no
// handshake, no ports to run out of. The socket must be the target's, accept
// now, and nginx's workers must be allowed to write to it: a wrong one would
// answer 502 to all, and one of another program would be open to every client.
func editSocket(t *task) error {
	sock := t.args["socket"]
	if !socketForm.MatchString(sock) || filepath.Clean(sock) != sock {
		return fmt.Errorf("socket %q: want a plain absolute path", sock)
	}
	if err := t.isOurs(sock); err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(t.ctx, "unix", sock)
	if err != nil {
		return fmt.Errorf("socket %s: nobody accepts there: %w", sock, err)
	}
	conn.Close()
	if err := t.workersReach(sock); err != nil {
		return err
	}
	address := "unix:" + sock
	err = t.eachPass(func(p place, pass passed) error {
		if pass.to == address {
			return nil
		}
		up := t.upstreamFor(p, pass)
		servers := t.get(up, "server")
		if slices.ContainsFunc(servers, func(s place) bool { return s.arg(0) == address }) {
			return nil
		}
		if len(servers) != 1 {
			return fmt.Errorf("upstream %s has %d servers: want the one that the socket is of", up.arg(0), len(servers))
		}
		servers[0].setArgs(append([]string{address}, servers[0].args()[1:]...)...)
		return nil
	})
	t.says = "reach the app by its unix socket " + sock
	return err
}

// isOurs wants a socket of one of the target's services, but for a database,
// or one in the folders that the target's files are in.
func (t *task) isOurs(sock string) error {
	for _, svc := range t.site.Target.Services {
		if svc.Socket == sock && svc.Name != t.name && t.site.Services[svc.Name].DB == nil {
			return nil
		}
	}
	if err := t.site.MayWrite(sock); err != nil {
		return fmt.Errorf("socket %s is not one of the target's: %w", sock, err)
	}
	return nil
}

// workersReach says whether the user of nginx's workers may connect to a
// socket: write to it, and pass through the folders above.
func (t *task) workersReach(sock string) error {
	if os.Geteuid() != 0 {
		return nil // nginx was started by the same user, and its workers stay so
	}
	name := "nobody"
	if found := t.find("user"); len(found) > 0 {
		name = found[0].arg(0)
	}
	u, err := user.Lookup(name)
	if err != nil || u.Uid == "0" {
		return nil //nolint:nilerr // a user that nginx cannot find either is refused by nginx
	}
	groups, err := u.GroupIds()
	if err != nil {
		groups = []string{u.Gid}
	}
	for path, bit := sock, os.FileMode(2); ; path, bit = filepath.Dir(path), 1 {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("socket %s: %w", sock, err)
		}
		if !allowed(info, u.Uid, groups, bit) {
			return fmt.Errorf("socket %s: nginx's user %s may not use it: %s is %v", sock, name, path, info.Mode())
		}
		if path == "/" {
			return nil
		}
	}
}

// allowed says whether a user has a right (4 read, 2 write, 1 search) by a file's mode.
func allowed(info os.FileInfo, uid string, groups []string, bit os.FileMode) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	switch {
	case strconv.Itoa(int(st.Uid)) == uid:
		bit <<= 6
	case slices.Contains(groups, strconv.Itoa(int(st.Gid))):
		bit <<= 3
	}
	return info.Mode().Perm()&bit != 0
}
