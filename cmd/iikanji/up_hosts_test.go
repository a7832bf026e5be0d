package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A lockedOutput is what a command has printed so far.
type lockedOutput struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lockedOutput) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lockedOutput) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// TestUpHosts: an arena on two machines is a foreign site: ssh reaches both by the printed
// configuration, the first answers, init finds its services and the second's spares, a
// reboot comes back, and nothing is left at the end.
func TestUpHosts(t *testing.T) {
	tier.Slow(t)
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	key, err := lab.NewKey(t.Context(), filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	withAgent(t, key)
	p := upOnHosts(t, "--hosts", "2", "--key", key.Path+".pub")
	if got := p.inside("isu2", "systemctl is-active nginx mariadb isucondition.go; sudo -n id -un"); got != "active\nactive\nactive\nroot" {
		t.Errorf("%q", got)
	}
	r, err := http.Get("http://" + p.addresses[0] + "/")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%+v %v", r, err)
	}
	dir := t.TempDir()
	var said lockedBuffer
	status, text := command(t.Context(), &said, "init", "ssh://isucon@"+p.addresses[0], "ssh://isucon@"+p.addresses[1], "--accept-new", "--into", dir, "--bench", "true")
	t.Log(text)
	if status != 0 {
		t.Fatalf("status %d\n%s", status, said.String())
	}
	f, err := target.Load(filepath.Join(dir, target.Name))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Services {
		if s.Host != "isu1" || !slices.Equal(s.Spare, []string{"isu2"}) {
			t.Errorf("%+v", s)
		}
	}
	if len(f.Services) != 3 {
		t.Errorf("%d services", len(f.Services))
	}
	_, _ = p.ssh("isu2", "sudo -n systemctl reboot") // its connection ends
	again := func() bool {
		text, err := p.ssh("isu2", "cut -d. -f1 /proc/uptime >/dev/null; systemctl is-active isucondition.go; systemctl show -p ActiveEnterTimestampMonotonic --value nginx")
		return err == nil && strings.HasPrefix(text, "active") && strings.Contains(p.errs.String(), "isu2 reboots")
	}
	for end := time.Now().Add(time.Minute); !again(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come back after a reboot\n%s", p.errs.String())
		}
	}
	p.end()
	if _, err := os.Stat(filepath.Dir(p.config)); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}
