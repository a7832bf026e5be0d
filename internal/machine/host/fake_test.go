package host

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// both returns a Local and a Fake, each with a folder of the same content. prefix is
// the path of the folder.
func both(t *testing.T) map[string]struct {
	h      Host
	prefix string
} {
	t.Helper()
	local, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fake, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(fake, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		h      Host
		prefix string
	}{"local": {Local{}, local}, "fake": {&Fake{Root: fake, Host: "db1"}, "/etc"}}
}

// TestHosts tests that file operations behave alike on every Host.
func TestHosts(t *testing.T) {
	for name, c := range both(t) {
		t.Run(name, func(t *testing.T) {
			h, p := c.h, func(name string) string { return filepath.Join(c.prefix, name) }
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := h.Read(p("a")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file that is not there: %v", err)
			}
			if _, err := h.Open(p("a")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("opening a file that is not there: %v", err)
			}
			must(h.Mkdir(p("d"), 0o750))
			must(h.Write(p("d/a"), []byte("one"), 0o640))
			must(h.Write(p("d/a"), []byte("two"), 0o600))
			if info, err := h.Stat(p("d/a")); err != nil || info.Mode().Perm() != 0o640 || info.Size() != 3 {
				t.Errorf("%v %v", info, err)
			}
			if err := h.Replaceable(p("d/a")); err != nil {
				t.Error(err)
			}
			f, err := h.Open(p("d/a"))
			must(err)
			buf := make([]byte, 2)
			if _, err := f.ReadAt(buf, 1); err != nil || string(buf) != "wo" {
				t.Errorf("%q %v", buf, err)
			}
			must(f.Close())
			if es, err := h.ReadDir(p("d")); err != nil || len(es) != 1 || es[0].Name() != "a" {
				t.Errorf("%v %v", es, err)
			}
			if g, err := h.Glob(p("d/*")); err != nil || len(g) != 1 || g[0] != p("d/a") {
				t.Errorf("%v %v", g, err)
			}
			var seen []string
			must(h.Walk(c.prefix, func(path string, _ fs.DirEntry, err error) error {
				seen = append(seen, path)
				return err
			}))
			if strings.Join(seen, " ") != c.prefix+" "+p("d")+" "+p("d/a") {
				t.Errorf("walked %q", seen)
			}
			testCreate(t, h, p)
			must(h.Remove(p("d/a")))
			must(h.Remove(p("d/a")))
			if err := h.Remove(p("d")); err == nil {
				t.Error("a folder was removed as a file")
			}
			must(h.RemoveAll(p("d")))
			if _, err := h.Lstat(p("d")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder is there: %v", err)
			}
		})
	}
}

// testCreate tests new files, links, locks and owners in the folder d, and leaves
// nothing of them.
func testCreate(t *testing.T, h Host, p func(string) string) {
	t.Helper()
	me, err := h.Account()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Create(p("d/new"), []byte("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	info, err := h.Lstat(p("d/new"))
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
	if owner, ok := OwnerOf(info); !ok || owner != me {
		t.Errorf("owner %v, want %v", owner, me)
	}
	if err := h.Symlink("nothing", p("d/link")); err != nil {
		t.Fatal(err)
	}
	if to, err := h.Readlink(p("d/link")); err != nil || to != "nothing" {
		t.Errorf("link to %q: %v", to, err)
	}
	for _, taken := range []string{"d/new", "d/link", "d"} {
		if err := h.Create(p(taken), []byte("other"), 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s was made again: %v", taken, err)
		}
	}
	if err := errors.Join(h.Chown(p("d/new"), me), h.Chown(p("d/link"), me)); err != nil {
		t.Error(err)
	}
	for _, held := range []string{"d/new", "d"} {
		lock, err := h.Hold(p(held))
		if err != nil || lock == nil {
			t.Fatalf("locking %s: %v", held, err)
		}
		if second, err := h.Hold(p(held)); err != nil || second != nil {
			t.Errorf("%s is locked twice: %v", held, err)
		}
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
		if lock, err = h.Hold(p(held)); err != nil || lock == nil {
			t.Errorf("%s cannot be locked again: %v", held, err)
		} else if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}
	if lock, err := h.Hold(p("d/none")); err != nil || lock != nil {
		t.Errorf("nothing was locked: %v", err)
	}
	if _, err := h.User("no such user of ours"); !errors.Is(err, ErrNoUser) {
		t.Errorf("a user that does not exist: %v", err)
	}
	if err := h.Rmdir(p("d")); err == nil {
		t.Error("a folder with content was removed")
	}
	if err := errors.Join(h.Remove(p("d/new")), h.Remove(p("d/link")), h.Mkdir(p("d/e"), 0o700), h.Rmdir(p("d/e"))); err != nil {
		t.Error(err)
	}
}

// TestUser tests that an account is found by its name.
func TestUser(t *testing.T) {
	if u, err := (Local{}).User("root"); err != nil || u.UID != 0 || len(u.Groups) == 0 {
		t.Errorf("%+v %v", u, err)
	}
	f := &Fake{Users: map[string]User{"www-data": {UID: 33, Groups: []int{33, 4}}}}
	if u, err := f.User("www-data"); err != nil || u.UID != 33 || len(u.Groups) != 2 {
		t.Errorf("%+v %v", u, err)
	}
}

// TestFakeLinks tests that links of the host are followed within the host.
func TestFakeLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &Fake{Root: root}
	for _, dir := range []string{"etc", "srv"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"etc/my.cnf": "/srv/real.cnf", "etc/up.cnf": "../../../srv/real.cnf", "etc/loop": "loop", "etc/none": "/srv/none"} {
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Write("/etc/my.cnf", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(root, "srv/real.cnf")); err != nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
	for path, want := range map[string]string{"/etc/my.cnf": "/srv/real.cnf", "/etc/up.cnf": "/srv/real.cnf"} {
		if got, err := f.RealPath(path); err != nil || got != want {
			t.Errorf("%s is %s: %v", path, got, err)
		}
	}
	if to, err := f.Readlink("/etc/my.cnf"); err != nil || to != "/srv/real.cnf" {
		t.Errorf("%s %v", to, err)
	}
	if _, err := f.Read("/etc/loop"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
	if err := f.Replaceable("/etc/none"); err == nil {
		t.Error("a link to nothing is replaceable")
	}
}

// TestFakeFails tests injected failures, signals and connections.
func TestFakeFails(t *testing.T) {
	root := t.TempDir()
	f := &Fake{Root: root, Alive: map[int]bool{7: true}, Fail: func(op, path string) error {
		if op == "write" && path == "/full" {
			return syscall.ENOSPC
		}
		return nil
	}}
	if err := f.Write("/full", nil, 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	if err := f.Signal(7, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := f.Signal(7, syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a process that has ended: %v", err)
	}
	if got := f.Signals(); len(got) != 1 || got[0] != (Sent{7, syscall.SIGKILL}) {
		t.Errorf("%v", got)
	}
	if _, err := f.Exec(t.Context(), Command{Path: "/bin/true"}); err == nil {
		t.Error("a command without Run")
	}
	if _, err := f.Dial(t.Context(), "tcp", "db:3306"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nothing listens: %v", err)
	}
	l, err := net.Listen("unix", filepath.Join(root, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f.Listen = map[string][2]string{"/run/db.sock": {"unix", l.Addr().String()}}
	c, err := f.Dial(t.Context(), "unix", "/run/db.sock")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestLocalSignal kills a child process, then signals it again.
func TestLocalSignal(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := (Local{}).Signal(cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if err := (Local{}).Signal(cmd.Process.Pid, syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a process that has ended: %v", err)
	}
	for _, pid := range []int{0, -1} {
		if err := (Local{}).Signal(pid, syscall.SIGCONT); err == nil {
			t.Errorf("a signal to process %d", pid)
		}
	}
}

// TestLogin tests that an empty user means the account of this process.
func TestLogin(t *testing.T) {
	var network, address string
	dial := func(_ context.Context, n, a string) (net.Conn, error) {
		network, address = n, a
		return nil, syscall.ECONNREFUSED
	}
	for login, want := range map[Login]string{{Socket: "/run/x.sock"}: "unix /run/x.sock", {Address: "127.0.0.1:3307", User: "u"}: "tcp 127.0.0.1:3307"} {
		db, err := OpenSQL(login, dial)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.PingContext(t.Context()); !bytes.Contains([]byte(err.Error()), []byte("refused")) || network+" "+address != want {
			t.Errorf("%+v dials %s %s: %v", login, network, address, err)
		}
		db.Close()
	}
}

// TestFreeSpace: the free space is that of the path's file system; a Fake has
// what the test gives it.
func TestFreeSpace(t *testing.T) {
	for name, c := range both(t) {
		if free, err := c.h.FreeSpace(c.prefix); err != nil || free <= 0 {
			t.Errorf("%s: %d, %v", name, free, err)
		}
		if _, err := c.h.FreeSpace(filepath.Join(c.prefix, "missing")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a path that does not exist: %v", name, err)
		}
		if f, ok := c.h.(*Fake); ok {
			f.Space = 7
			if free, err := f.FreeSpace(c.prefix); err != nil || free != 7 {
				t.Errorf("%d, %v", free, err)
			}
		}
	}
}
