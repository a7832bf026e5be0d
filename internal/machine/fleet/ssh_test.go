package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/machine/freeport"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/host/hosttest"
	"github.com/iikanji/iikanji/internal/machine/peer"
	"github.com/iikanji/iikanji/internal/machine/sshdial"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A park is two machines with sshd, and a configuration of ssh with names for each way to
// reach them.
type park struct {
	web, db *lab.Machine
	config  string
}

func startPark(t *testing.T) *park {
	t.Helper()
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	dir := t.TempDir()
	link, err := lab.NewLink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	})
	key, err := lab.NewKey(t.Context(), dir+"/key")
	if err != nil {
		t.Fatal(err)
	}
	p := &park{config: dir + "/config"}
	start := func(name string, n int) *lab.Machine {
		m, err := lab.New(t.TempDir(), name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		m.Join(link, n)
		accounts := []lab.Account{{Name: "root", Keys: key.Public}, {Name: "isucon", UID: 61000, Keys: key.Public, Sudo: true}, {Name: "guest", UID: 61001, Keys: key.Public}}
		if err := m.SSHD(t.Context(), accounts...); err != nil {
			tier.Needs(t, "Debian's openssh-server and sudo", err.Error())
		}
		if err := m.Boot(t.Context()); err != nil {
			t.Fatal(err)
		}
		return m
	}
	p.web, p.db = start("web", 11), start("db", 12)
	text := fmt.Sprintf(`Host root
	HostName %[1]s
	User root
Host sudo
	HostName %[1]s
	User isucon
Host guest
	HostName %[1]s
	User guest
Host jump
	HostName %[2]s
	User isucon
	ProxyJump sudo
Host proxy
	HostName %[2]s
	User isucon
	ProxyCommand ssh -F %[3]s -o StrictHostKeyChecking=no -W %%h:%%p sudo
Host *
	IdentityFile %[4]s
	IdentityAgent none
	UserKnownHostsFile /dev/null
	LogLevel ERROR
`, p.web.Address(), p.db.Address(), p.config, key.Path)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// site is a file with a machine for each name of the configuration of ssh.
func (p *park) site(t *testing.T, names ...string) *target.File {
	f := &target.File{Path: t.TempDir() + "/iikanji.toml"}
	for _, name := range names {
		f.Hosts = append(f.Hosts, target.Host{Name: name, Address: "ssh://" + name})
		f.Policy.Folders = append(f.Policy.Folders, name+":/")
	}
	return f
}

// TestConformSSH: a machine behind sshd behaves as this one: as root, with sudo, through a
// jump, through a proxy command, and through ssh itself as a command. The sshd has this
// machine's processes and sockets, as the suite wants it.
func TestConformSSH(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	m, err := lab.New(t.TempDir(), "web")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	key, err := lab.NewKey(t.Context(), dir+"/key")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SSHD(t.Context(), lab.Account{Name: "root", Keys: key.Public}, lab.Account{Name: "isucon", UID: 61000, Keys: key.Public, Sudo: true}); err != nil {
		tier.Needs(t, "Debian's openssh-server and sudo", err.Error())
	}
	port := 20000 + os.Getpid()%5000
	for !freeport.Free(port) {
		port++
	}
	stop, err := m.Loopback(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	text := fmt.Sprintf(`Host root
	User root
Host jump
	ProxyJump sudo
Host proxy
	ProxyCommand ssh -F %[1]s -o StrictHostKeyChecking=no -W %%h:%%p sudo
Host *
	HostName 127.0.0.1
	Port %[2]d
	User isucon
	IdentityFile %[3]s
	IdentityAgent none
	UserKnownHostsFile /dev/null
	LogLevel ERROR
`, dir+"/config", port, key.Path)
	if err := os.WriteFile(dir+"/config", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ways := []target.Host{{Name: "via", Via: []string{"ssh", "-F", dir + "/config", "-o", "StrictHostKeyChecking=no", "sudo"}}}
	for _, name := range []string{"root", "sudo", "jump", "proxy"} {
		ways = append(ways, target.Host{Name: name, Address: "ssh://" + name})
	}
	for _, h := range ways {
		t.Run(h.Name, func(t *testing.T) { conform(t, h, dir+"/config") })
	}
}

// conform runs the suite on a machine that is reached in one way.
func conform(t *testing.T, h target.Host, config string) {
	f := &target.File{Path: t.TempDir() + "/iikanji.toml", Hosts: []target.Host{h}, Policy: target.Policy{Folders: []string{h.Name + ":/"}}}
	fleet := open(t, f, Options{Write: true, AcceptNew: true, SSHArguments: []string{"-F", config}})
	if down := fleet.Down(); len(down) > 0 {
		t.Fatal(down)
	}
	if account, err := fleet.Hosts()[h.Name].Account(); err != nil || account.UID != 0 {
		t.Errorf("%+v %v", account, err)
	}
	hosttest.Run(t, func(*testing.T, string) host.Host { return fleet.Hosts()[h.Name] })
}

// TestHostKeys: a key that is not known is refused with its fingerprint, accepted once into
// the site's own file, and refused when it has changed; a person sees what to do.
func TestHostKeys(t *testing.T) {
	p := startPark(t)
	f := p.site(t, "sudo")
	o := Options{SSHArguments: []string{"-F", p.config}}
	var refused *sshdial.HostKeyError
	key, err := p.web.HostKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, f, o).Down()["sudo"]; !errors.As(err, &refused) || refused.Changed || !strings.HasPrefix(refused.Fingerprint, "SHA256:") || !strings.Contains(refused.Hints()[0], "--accept-new") {
		t.Fatalf("%v", err)
	}
	own := filepath.Join(filepath.Dir(f.Path), knownHosts)
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Errorf("a refused key was written: %v", err)
	}
	o.AcceptNew = true
	if down := open(t, f, o).Down(); len(down) > 0 {
		t.Fatal(down)
	}
	b, err := os.ReadFile(own)
	if err != nil || !strings.Contains(string(b), strings.Fields(key)[1]) || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%q %v", b, err)
	}
	o.AcceptNew = false
	if down := open(t, f, o).Down(); len(down) > 0 {
		t.Errorf("a known key: %v", down)
	}
	other, err := p.db.HostKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(strings.Replace(string(b), strings.Fields(key)[1], strings.Fields(other)[1], 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o.AcceptNew = true
	if err := open(t, f, o).Down()["sudo"]; !errors.As(err, &refused) || !refused.Changed || len(refused.Known) != 1 || refused.Known[0] != own+":1" {
		t.Errorf("%v", err)
	}
}

// TestSSHRefused: no right to become root, no key that is accepted, a host that the rules
// forbid, and nobody who listens are told with what to do.
func TestSSHRefused(t *testing.T) {
	p := startPark(t)
	f := p.site(t, "guest", "sudo")
	f.Hosts = append(f.Hosts, target.Host{Name: "nobody", Address: "ssh://nobody@" + p.web.Address().String()},
		target.Host{Name: "portal", Address: "ssh://" + p.db.Address().String()})
	f.Contest.Forbid = []string{p.db.Address().String()}
	down := open(t, f, Options{AcceptNew: true, SSHArguments: []string{"-F", p.config}}).Down()
	var sudo *peer.SudoError
	if err := down["guest"]; !errors.As(err, &sudo) || sudo.Account != "guest" {
		t.Errorf("%v", err)
	}
	var login *sshdial.LoginError
	if err := down["nobody"]; !errors.As(err, &login) || login.User != "nobody" || login.Keys == 0 {
		t.Errorf("%v", err)
	}
	var forbidden *sshdial.ForbiddenError
	if err := down["portal"]; !errors.As(err, &forbidden) {
		t.Errorf("%v", err)
	}
	if err := down["sudo"]; err != nil {
		t.Error(err)
	}
}

// TestReboot: a machine that reboots is lost and is connected again, as the same machine
// with another boot.
func TestReboot(t *testing.T) {
	p := startPark(t)
	f := p.site(t, "sudo")
	fleet := open(t, f, Options{AcceptNew: true, SSHArguments: []string{"-F", p.config}})
	web := fleet.Member("sudo")
	before := web.Identity()
	if _, err := web.Exec(context.Background(), host.Command{Path: "/bin/systemctl", Args: []string{"reboot"}}); err != nil && !errors.As(err, new(*host.LostError)) {
		t.Fatal(err)
	}
	if err := p.web.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	for { // pings find it
		if _, err := web.Read("/etc/hostname"); err != nil {
			break
		}
	}
	if err := web.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := web.Identity(); after.ID != before.ID || after.Boot == before.Boot || before.ID == "" {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// TestSilence: a machine that falls silent, without an end of its connection, is lost within
// about ten seconds, and is connected again when it answers.
func TestSilence(t *testing.T) {
	p := startPark(t)
	f := p.site(t, "sudo")
	fleet := open(t, f, Options{AcceptNew: true, SSHArguments: []string{"-F", p.config}})
	web := fleet.Member("sudo")
	link := func(state string) {
		if r, err := p.web.Run(t.Context(), "ip", "link", "set", "eth0", state); err != nil || r.Status != 0 {
			t.Fatalf("%s %v", r.Output, err)
		}
	}
	link("down")
	var lost *host.LostError
	if _, err := web.Read("/etc/hostname"); !errors.As(err, &lost) || !lost.Sent {
		t.Errorf("%v", err)
	}
	if _, err := web.Read("/etc/hostname"); !errors.As(err, &lost) || lost.Sent {
		t.Errorf("after it was lost: %v", err)
	}
	link("up")
	if err := web.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := web.Read("/etc/hostname"); err != nil {
		t.Error(err)
	}
}
