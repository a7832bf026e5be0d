package sshdial

import (
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// needsSSH skips a test without the user's ssh.
func needsSSH(t *testing.T) {
	t.Helper()
	missing := ""
	if _, err := exec.LookPath("ssh"); err != nil {
		missing = err.Error()
	}
	tier.Needs(t, "ssh", missing)
}

// TestConfig: what a configuration says about a name, by ssh itself.
func TestConfig(t *testing.T) {
	needsSSH(t)
	t.Setenv("HOME", "/home/me")
	t.Setenv("SSH_AUTH_SOCK", "/run/agent")
	path := t.TempDir() + "/config"
	text := `Host web
	HostName 10.0.0.11
	User isucon
	Port 2222
	AddressFamily inet
	IdentityFile ~/.ssh/contest_%h
	IdentityFile %d/second
	CertificateFile ~/.ssh/contest-cert.pub
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile /srv/known_%n /srv/known
	HostKeyAlias front
	HostKeyAlgorithms ssh-ed25519,rsa-sha2-512
	ConnectTimeout 3
Host db
	ProxyJump me@web:22,ssh://gate
	IdentityAgent $MY_AGENT
Host odd
	ProxyCommand nc -X %% %h %p
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MY_AGENT", "/run/mine")
	c, err := configOf(t.Context(), Address{Name: "web"}, []string{"-F", path})
	if err != nil {
		t.Fatal(err)
	}
	want := &config{name: "web", hostname: "10.0.0.11", user: "isucon", port: "2222", network: "tcp4", identities: []string{"/home/me/.ssh/contest_10.0.0.11", "/home/me/second"},
		certificates: []string{"/home/me/.ssh/contest-cert.pub"}, identitiesOnly: true, knownHosts: []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2", "/srv/known_web", "/srv/known"},
		hostKeyAlias: "front", hostKeyKinds: []string{"ssh-ed25519", "rsa-sha2-512"}, timeout: 3 * time.Second}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v\nwant %+v", c, want)
	}
	if c.address() != "10.0.0.11:2222" || c.keyAddress() != "front:22" {
		t.Errorf("%s %s", c.address(), c.keyAddress())
	}
	if c, err = configOf(t.Context(), Address{Name: "web", User: "root", Port: 22}, []string{"-F", path}); err != nil || c.user != "root" || c.port != "22" {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = configOf(t.Context(), Address{Name: "db"}, []string{"-F", path}); err != nil || strings.Join(c.jumps, " ") != "me@web:22 ssh://gate" && strings.Join(c.jumps, " ") != "me@web:22 gate" || c.agent != "/run/mine" {
		t.Errorf("%+v %v", c, err)
	}
	if c, err = configOf(t.Context(), Address{Name: "odd"}, []string{"-F", path}); err != nil || c.command() != "nc -X % odd 22" || c.agent != "/run/agent" {
		t.Errorf("%+v %q %v", c, c.command(), err)
	}
	for _, a := range []Address{{Name: "-oProxyCommand=touch x"}, {Name: "web", User: "-x"}, {Name: "a b"}, {Name: "$(x)"}, {}} {
		if c, err := configOf(t.Context(), a, nil); err == nil {
			t.Errorf("%+v is %+v", a, c)
		}
	}
}

// TestJump reads the members of a list of jumps.
func TestJump(t *testing.T) {
	for text, want := range map[string]Address{
		"gate": {Name: "gate"}, "me@gate:2222": {User: "me", Name: "gate", Port: 2222}, "ssh://gate": {Name: "gate"},
		"me@[::1]:22": {User: "me", Name: "::1", Port: 22}, "a@b@gate": {User: "a@b", Name: "gate"},
	} {
		if got, err := jump(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "me@", "gate:0", "gate:x"} {
		if got, err := jump(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// FuzzConfig: whatever ssh prints, the result has a host, a user and a port, or is an error.
func FuzzConfig(f *testing.F) {
	f.Add("hostname 10.0.0.1\nuser isucon\nport 22\nidentityfile ~/.ssh/id_%h\nproxyjump a,b\nconnecttimeout none\n")
	f.Add("HostName x\nuser y\nport 70000\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err != nil {
			return
		}
		c.expand()
		if c.hostname == "" || c.user == "" || c.timeout <= 0 || !strings.HasPrefix(c.network, "tcp") {
			t.Errorf("%q: %+v", text, c)
		}
		for _, j := range c.jumps {
			if a, err := jump(j); err == nil && a.Name == "" {
				t.Errorf("%q: a jump without a name", j)
			}
		}
	})
}
