package main

import (
	"bytes"
	"encoding/json"
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

// plansThere checks what init has found of an app, a database and a web server that are on other
// machines, and plans changes of each kind that needs it.
func plansThere(t *testing.T, f *target.File) {
	t.Helper()
	const source = "/home/isucon/webapp/go"
	for _, s := range f.Services {
		right := true
		switch s.Name {
		case "isucondition.go":
			right = s.App.Source == source && s.Program == source+"/isucondition"
		case "mariadb":
			right = s.Database.Schema == "isucondition" && s.Socket != "" && s.DropIn != "" && slices.Equal(s.Database.Loads, []string{"/home/isucon/webapp/sql"})
		case "nginx":
			right = s.Config == "/etc/nginx/nginx.conf" && s.Logs.Access != ""
		}
		if !right {
			t.Errorf("%+v", s)
		}
	}
	remedies := `[{"kind": "appenv", "target": "isucondition.go", "says": "parameters", "args": {"dsn": "interpolateParams=true"}},
{"kind": "appenv", "target": "isucondition.go", "says": "a pool", "args": {"pool": "50"}},
{"kind": "gocode", "target": "isucondition.go", "says": "the newest row", "args": {"levers": "APP201", "file": "trend.go", "func": "(*app).trendOf"}},
{"kind": "nginxconf", "target": "nginx", "says": "kept connections", "args": {"act": "upstream keepalive", "keepalive": "32"}},
{"kind": "nginxconf", "target": "nginx", "says": "compressed", "args": {"act": "gzip"}},
{"kind": "ddl", "target": "mariadb", "says": "an index", "args": {"act": "add index", "schema": "isucondition", "table": "isu", "columns": "jia_user_id", "into": "schema file"}}]`
	file := filepath.Join(t.TempDir(), "remedies.json")
	if err := os.WriteFile(file, []byte(remedies), 0o600); err != nil {
		t.Fatal(err)
	}
	var said lockedBuffer
	status, text := command(t.Context(), &said, "plan", filepath.Dir(f.Path), "--dir", t.TempDir(), "--file", file, "--json")
	var list remedyList
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != 0 {
		t.Fatalf("status %d, %v\n%s%s", status, err, text, said.String())
	}
	for _, p := range list.Plans {
		if p.Change == nil || len(p.Change.Do) == 0 || p.Change.Do[0].Host != "isu1" {
			t.Errorf("%s %v: %s", p.Remedy.Kind, p.Remedy.Args, p.Why)
		}
	}
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
	plansThere(t, f)
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
