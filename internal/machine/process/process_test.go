package process

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestParse(t *testing.T) {
	p := &Process{}
	p.parseStatus("Name:\tx\nUid:\t0\t33\t33\t33\nGid:\t0\t34\t34\t34\nGroups:\t4 20 \n")
	if p.UID != 33 || p.GID != 34 || !slices.Equal(p.Groups, []int{4, 20}) {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{"0::/system.slice/app.service\n": "app.service", "0::/user.slice/user-0.slice/user@0.service/app.slice/x.service": "x.service",
		"0::/": "", "1:name=systemd:/system.slice/a.service": "", "0::/system.slice/ssh.service/sub": "ssh.service"} {
		if got := unitOf(text); got != want {
			t.Errorf("%q: unit %q, want %q", text, got, want)
		}
	}
	h := &host.Fake{Root: t.TempDir(), Host: "other"}
	dir := filepath.Join(h.ProcFolder(), "net")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sockets := "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 00010000 0001 01 11 /run/a b.sock\n0: 2 0 00000000 0001 03 12 /run/c.sock\n0: 2 0 00010000 0001 01 13 @abstract\n"
	for name, text := range map[string]string{"tcp": "  sl  local_address rem_address\n", "unix": sockets} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m := &Machine{Host: h}
	if err := m.listen(); err != nil {
		t.Fatal(err)
	}
	if got := m.Listens; len(got) != 1 || got[0].Path != "/run/a b.sock" || got[0].inode != 11 {
		t.Errorf("%+v", got)
	}
}

func TestAt(t *testing.T) {
	listen := func(a string) Listen { return Listen{Address: netip.MustParseAddrPort(a)} }
	for _, c := range []struct {
		l    Listen
		to   string
		want bool
	}{
		{listen("0.0.0.0:80"), "127.0.0.1:80", true}, {listen("0.0.0.0:80"), "127.0.0.1:81", false}, {listen("127.0.0.1:80"), "localhost:80", true},
		{listen("10.0.0.1:80"), "localhost:80", false}, {listen("10.0.0.1:80"), "127.0.0.1:80", false}, {listen("[::]:80"), "[::1]:80", true},
		{listen("127.0.0.1:80"), ":80", true}, {listen("127.0.0.1:80"), "80", false}, {Listen{Path: "/a"}, "/a", true}, {Listen{Path: "/a"}, "/b", false},
	} {
		if got := c.l.at(c.to); got != c.want {
			t.Errorf("%s at %s: %v", c.l.Name(), c.to, got)
		}
	}
}

// TestRead finds this process with its sockets.
func TestRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "s")
	u, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	m, err := ReadMachine(host.Local{})
	if err != nil {
		t.Fatal(err)
	}
	me := m.Processes[os.Getpid()]
	if me == nil || me.UID != os.Geteuid() || !me.Alive(host.Local{}) || me.Parent != os.Getppid() {
		t.Fatalf("%+v", me)
	}
	if wd, err := os.Getwd(); err != nil || me.Dir != wd || me.Deleted {
		t.Errorf("%+v in %s, %v", me, wd, err)
	}
	for _, address := range []string{l.Addr().String(), path} {
		if p := m.Owner(address); p != me {
			t.Errorf("%s belongs to %+v", address, p)
		}
	}
	if n := len(m.Of(me.PID)); n != 2 {
		t.Errorf("%d sockets listen, want 2", n)
	}
	env, err := Env(host.Local{}, me.PID)
	if err != nil || len(env) == 0 || !slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }) {
		t.Errorf("%d variables, %v", len(env), err)
	}
	gone := *me
	gone.Started++
	if gone.Alive(host.Local{}) {
		t.Error("another process with this id is taken for it")
	}
}

// FuzzProc checks that no text of /proc stops the readers: users choose names.
func FuzzProc(f *testing.F) {
	f.Add("0::/system.slice/app.service")
	f.Fuzz(func(t *testing.T, text string) {
		p := &Process{}
		p.parseStatus(text)
		if unit := unitOf(text); strings.Contains(unit, "/") {
			t.Errorf("%q", unit)
		}
	})
}
