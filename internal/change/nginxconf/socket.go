package nginxconf

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// socketForm has no limit of length: its repetition would be compiled to as many copies, at
// the start of every command.
var socketForm = regexp.MustCompile(`^/[A-Za-z0-9._/@+-]+$`)

// upstreamSocket connects to the app by its unix socket instead of TCP: there
// needs no handshake and uses up no port. The socket must belong to the
// target and accept now, and nginx's workers must be allowed to write to it: a
// wrong socket would answer 502 to all requests, and one of another program
// would be open to all clients.
type upstreamSocket struct {
	Socket string `arg:"socket,required" help:"an absolute path that accepts now; with of, one below the source of that app"`
	Of     string `arg:"of" help:"the app in whose source folder the socket is"`
	To     string `arg:"to" help:"host:port or upstream of proxy_pass; all by default"`
}

func (a *upstreamSocket) edit(t *task) error {
	sock, err := a.path(t)
	if err != nil {
		return err
	}
	if err := t.usable(sock); err != nil {
		return err
	}
	t.Says = "connect to the app by its unix socket " + sock
	address := "unix:" + sock
	return t.EachPass(a.To, func(p nginx.Place, pass nginxedit.Passed) error {
		if pass.To == address {
			return nil
		}
		up := t.UpstreamFor(p, pass)
		servers := t.Get(up, "server")
		if slices.ContainsFunc(servers, func(s nginx.Place) bool { return s.Arg(0) == address }) {
			return nil
		}
		if len(servers) != 1 {
			return fmt.Errorf("upstream %s has %d servers: want one, the one with the socket", up.Arg(0), len(servers))
		}
		if len(servers[0].Args()) == 0 {
			return fmt.Errorf("%s:%d: server has no address", servers[0].File, servers[0].Line)
		}
		servers[0].SetArgs(append([]string{address}, servers[0].Args()[1:]...)...)
		return nil
	})
}

// path is the absolute path of the socket.
func (a *upstreamSocket) path(t *task) (string, error) {
	if a.Of == "" {
		return a.Socket, nil
	}
	app, ok := t.Site.Services[a.Of]
	switch {
	case !ok || app.Source == "":
		return "", fmt.Errorf("of %q: no app with that name and a source that is known", a.Of)
	case app.Host != t.Svc.Host:
		return "", fmt.Errorf("of %q: the app is on another machine than nginx", a.Of)
	case !filepath.IsLocal(a.Socket):
		return "", fmt.Errorf("socket %q: with of, want a path below the source of %s", a.Socket, a.Of)
	}
	return filepath.Join(app.Source, a.Socket), nil
}

// usable refuses a socket that is not the target's, that does not accept, or
// that nginx's workers cannot reach.
func (t *task) usable(sock string) error {
	if len(sock) > len("/")+100 || !socketForm.MatchString(sock) || filepath.Clean(sock) != sock {
		return fmt.Errorf("socket %q: want a plain absolute path", sock)
	}
	if err := t.isTargets(sock); err != nil {
		return err
	}
	conn, err := t.Host.Dial(t.Ctx, "unix", sock)
	if err != nil {
		return fmt.Errorf("socket %s does not accept: %w", sock, err)
	}
	_ = conn.Close() // nothing was written to it
	return t.workersReach(sock)
}

// isTargets refuses a socket unless it belongs to a service of the target,
// other than a database, or is in the folders of the target's files.
func (t *task) isTargets(sock string) error {
	for _, svc := range t.Site.Target.Services {
		if svc.Socket == sock && svc.Host == t.Svc.Host && svc.Name != t.Name && t.Site.Services[svc.Name].DB() == nil {
			return nil
		}
	}
	if err := t.Site.MayWrite(t.Svc.Host, sock); err != nil {
		return fmt.Errorf("socket %s is not one of the target's: %w", sock, err)
	}
	return nil
}

// workersReach refuses a socket to which the user of nginx's workers may not
// connect: that user needs to write to it and to search the folders above.
func (t *task) workersReach(sock string) error {
	me, err := t.Host.Account()
	if err != nil {
		return fmt.Errorf("socket %s: %w", sock, err)
	}
	if me.UID != 0 {
		return nil // nginx runs as the same user, and its workers keep that user
	}
	name := "nobody"
	if found := t.Find("user"); len(found) > 0 {
		name = found[0].Arg(0)
	}
	u, err := t.Host.User(name)
	if err != nil || u.UID == 0 {
		return nil //nolint:nilerr // nginx refuses a user that does not exist
	}
	for path, bit := sock, fs.FileMode(2); ; path, bit = filepath.Dir(path), 1 {
		info, err := t.Stat(path)
		if err != nil {
			return fmt.Errorf("socket %s: %w", sock, err)
		}
		if !allowed(info, u, bit) {
			return fmt.Errorf("socket %s: nginx's user %s may not use it: %s is %v", sock, name, path, info.Mode())
		}
		if path == "/" {
			return nil
		}
	}
}

// allowed reports whether a user has a right (4 read, 2 write, 1 search) by the
// mode of a file.
func allowed(info fs.FileInfo, u host.User, bit fs.FileMode) bool {
	owner, ok := host.OwnerOf(info)
	if !ok {
		return true
	}
	switch {
	case owner.UID == u.UID:
		bit <<= 6
	case slices.Contains(u.Groups, owner.GID):
		bit <<= 3
	}
	return info.Mode().Perm()&bit != 0
}
