package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs lockedOutput
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, &env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80}, []string{"up", "isucondition", "--hosts", "2", "--key", key.Path + ".pub"})
	}()
	for !strings.Contains(out.String(), "Ctrl-C ends") {
		select {
		case status := <-ended:
			t.Fatalf("status %d\n%s%s", status, out.String(), errs.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Log(out.String())
	config := regexp.MustCompile(`ssh -F (\S+) isu1`).FindStringSubmatch(out.String())
	addresses := regexp.MustCompile(`HostName (\S+)`).FindAllStringSubmatch(out.String(), -1)
	if len(config) != 2 || len(addresses) != 2 {
		t.Fatal(out.String())
	}
	login := func(name, script string) string {
		t.Helper()
		text, err := exec.CommandContext(t.Context(), "ssh", "-F", config[1], name, script).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %s: %v\n%s", name, script, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	if got := login("isu2", "systemctl is-active nginx mariadb isucondition.go; sudo -n id -un"); got != "active\nactive\nactive\nroot" {
		t.Errorf("%q", got)
	}
	r, err := http.Get("http://" + addresses[0][1] + "/")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Errorf("%+v %v", r, err)
	}
	dir := t.TempDir()
	var said lockedBuffer
	status, text := command(t.Context(), &said, "init", "ssh://isucon@"+addresses[0][1], "ssh://isucon@"+addresses[1][1], "--accept-new", "--into", dir, "--bench", "true")
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
	_ = exec.CommandContext(t.Context(), "ssh", "-F", config[1], "isu2", "sudo -n systemctl reboot").Run() // its connection ends
	again := func() bool {
		text, err := exec.CommandContext(t.Context(), "ssh", "-F", config[1], "-o", "ConnectTimeout=2", "isu2", "cut -d. -f1 /proc/uptime >/dev/null; systemctl is-active isucondition.go; systemctl show -p ActiveEnterTimestampMonotonic --value nginx").CombinedOutput()
		return err == nil && strings.HasPrefix(string(text), "active") && strings.Contains(errs.String(), "isu2 reboots")
	}
	for end := time.Now().Add(time.Minute); !again(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come back after a reboot\n%s", errs.String())
		}
	}
	stop()
	if status := <-ended; status != 0 {
		t.Errorf("status %d\n%s", status, errs.String())
	}
	if _, err := os.Stat(filepath.Dir(config[1])); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}
