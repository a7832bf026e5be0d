package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/host/hosttest"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestMain makes this program the far end where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != "peer" {
		os.Exit(m.Run())
	}
	o := peer.Options{Lock: "/run/iikanji/lock", Claim: "/run/iikanji/site"}
	if err := peer.Serve(context.Background(), peer.Join(os.Stdin, os.Stdout), host.Local{}, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// apart is a command that reaches a shell of this machine with a /run of its own, which is
// the folder that is given.
func apart(t *testing.T, run string) []string {
	t.Helper()
	via := []string{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /run && exec "$@"`, run}
	out, err := exec.Command(via[0], append(via[1:], "true")...).CombinedOutput()
	missing := ""
	if err != nil {
		missing = fmt.Sprintf("%v: %s", err, out)
	}
	tier.Needs(t, "a mount namespace", missing)
	return via
}

// file is a site with one machine behind a command, in which a folder may be written.
func file(t *testing.T, via []string, folder string) *target.File {
	t.Helper()
	return &target.File{Path: t.TempDir() + "/iikanji.toml", Hosts: []target.Host{{Name: "web"}, {Name: "db", Via: via, LostWait: target.Duration(1)}},
		Policy: target.Policy{Folders: []string{t.TempDir(), "db:" + folder}}}
}

func open(t *testing.T, f *target.File, o Options) *Fleet {
	t.Helper()
	fleet, err := Open(t.Context(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	})
	return fleet
}

// TestConformVia: a machine behind a command behaves as this one.
func TestConformVia(t *testing.T) {
	tier.Slow(t)
	fleet := open(t, file(t, apart(t, t.TempDir()), "/"), Options{Write: true})
	if down := fleet.Down(); len(down) > 0 {
		t.Fatal(down)
	}
	hosttest.Run(t, func(*testing.T, string) host.Host { return fleet.Hosts()["db"] })
}

// TestOpen: the program is sent once and started again; a write stays in the policy's
// folders; this machine is none of the hosts.
func TestOpen(t *testing.T) {
	run, folder := t.TempDir(), t.TempDir()
	f := file(t, apart(t, run), folder)
	fleet := open(t, f, Options{Write: true, Claim: peer.Claim{Site: "web:/srv/shop", Command: "iikanji tune"}})
	hosts := fleet.Hosts()
	if len(hosts) != 1 || hosts["db"] == nil || hosts["db"].Name() != "db" {
		t.Fatalf("%v, down %v", hosts, fleet.Down())
	}
	if err := hosts["db"].Create(folder+"/f", []byte("x"), 0o600); err != nil {
		t.Error(err)
	}
	if err := hosts["db"].Create(f.Policy.Folders[0]+"/f", nil, 0o600); !errors.Is(err, peer.ErrFenced) {
		t.Errorf("a folder of this machine: %v", err)
	}
	is := fleet.Member("db").Identity()
	if mine, err := IdentityOf(host.Local{}); err != nil || is != mine || len(is.ID) != 64 || is.Boot == "" {
		t.Errorf("%+v, this machine %+v, %v", is, mine, err)
	}
	names, err := filepath.Glob(run + "/iikanji/iikanji-*")
	if err != nil || len(names) != 1 {
		t.Fatalf("%v %v", names, err)
	}
	before, err := os.Stat(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Close(); err != nil {
		t.Error(err)
	}
	second := open(t, f, Options{Write: true, Claim: peer.Claim{Site: "web:/srv/shop"}})
	if after, err := os.Stat(names[0]); err != nil || !os.SameFile(before, after) || len(second.Down()) > 0 {
		t.Errorf("the program was sent twice: %v, down %v", err, second.Down())
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(names[0], []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if third := open(t, f, Options{}); len(third.Down()) > 0 {
		t.Errorf("a program that was exchanged was started: %v", third.Down())
	}
	if other := open(t, f, Options{Write: true, Claim: peer.Claim{Site: "laptop:/home/a"}}); !errors.Is(other.Down()["db"], peer.ErrClaimed) ||
		!strings.Contains(other.Down()["db"].Error(), "web:/srv/shop") {
		t.Errorf("a second control: %v", other.Down())
	}
}

// TestLost: a machine whose far end is killed is lost, its calls say so, and it is connected
// again; one that cannot be reached is among the hosts.
func TestLost(t *testing.T) {
	f := file(t, apart(t, t.TempDir()), t.TempDir())
	f.Hosts[1].LostWait = 0
	f.Hosts = append(f.Hosts, target.Host{Name: "gone", Via: []string{"/no/such/command"}, LostWait: 1},
		target.Host{Name: "silent", Via: []string{"sh", "-c", "echo 'no such container: app1' >&2"}, LostWait: 1})
	fleet := open(t, f, Options{})
	db := fleet.Member("db")
	p, err := db.live()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Lost()
	var lost *host.LostError
	if _, err := db.Read("/etc/hostname"); !errors.As(err, &lost) || lost.Host != "db" {
		t.Errorf("%v", err)
	}
	again := func() error {
		err := db.Reconnect(t.Context())
		if err == nil {
			_, err = db.Read("/etc/hostname")
		}
		return err
	}
	// As the executor does: the far end of a killed command may still end while the next begins.
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if err = again(); err == nil {
			break
		}
		if !errors.As(err, &lost) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"gone": "no such file", "silent": "no such container: app1"} {
		h := fleet.Hosts()[name].(host.Reconnector)
		if _, err := h.Read("/etc/hostname"); !errors.As(err, &lost) || lost.Sent || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := h.Reconnect(t.Context()); !errors.As(err, &lost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	db.mu.Lock()
	db.is.ID = "another"
	db.mu.Unlock()
	if p, err = db.live(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	var other *ExchangedError
	if err := db.Reconnect(t.Context()); err != nil && !errors.As(err, &other) || err == nil {
		t.Errorf("another machine at the address: %v", err)
	}
}

// TestNoRoot: an account that cannot become root is told the line for sudoers.
func TestNoRoot(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{"id": `case $1 in -u) echo 1000;; *) echo isucon;; esac`, "sudo": "exit 1"} {
		if err := os.WriteFile(bin+"/"+name, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f := file(t, []string{"env", "PATH=" + bin + ":/usr/bin:/bin"}, "/srv")
	var sudo *peer.SudoError
	if err := open(t, f, Options{}).Down()["db"]; !errors.As(err, &sudo) || sudo.Account != "isucon" || !strings.Contains(sudo.Hints()[0], "isucon ALL=(root) NOPASSWD: ALL") {
		t.Errorf("%v", err)
	}
}
