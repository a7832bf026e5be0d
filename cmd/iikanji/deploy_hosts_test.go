package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// farFile is a site whose app runs on two machines other than that of the command. Its
// address in the file is that of the first one.
const farFile = `version = 1
name = "far"
url = "http://%[1]s"
[[host]]
name = "web"
address = "ssh://isucon@%[1]s"
[[host]]
name = "app2"
address = "ssh://isucon@%[2]s"
lost_wait = "3s"
[[host]]
name = "db"
address = "ssh://isucon@%[3]s"
lost_wait = "3s"
[[service]]
name = "web"
role = "web"
engine = "nginx"
host = "web"
listen = "0.0.0.0:80"
unit = "nginx.service"
config = "/etc/nginx/nginx.conf"
[service.logs]
access = "/var/log/nginx/access.log"
[[service]]
name = "app"
role = "app"
engine = "python"
host = "app2"
instances = ["db"]
listen = "%[2]s:3000"
unit = "app.service"
[service.app]
source = "/home/app"
[policy]
profile = "contest"
folders = ["web:/etc/nginx"]
`

// farApp is the source of a server that answers each request with VERSION. START is a line of
// Python that runs first; a version that must fail exits there.
const farApp = `import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
START
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"VERSION")
    def log_message(self, *args):
        pass
HTTPServer(("ADDRESS", 3000), Handler).serve_forever()
`

// A farSite is such a site.
type farSite struct {
	t            *testing.T
	web, app, db *lab.Machine
	dir          string
}

func newFarSite(t *testing.T) *farSite {
	t.Helper()
	machines := threeMachines(t, "nginx")
	s := &farSite{t: t, web: machines[0], app: machines[1], db: machines[2], dir: t.TempDir()}
	at := func(m *lab.Machine) string { return m.Address().String() }
	const unit = "[Service]\nExecStart=/usr/bin/python3 /home/app/app.py\nUser=isucon\n[Install]\nWantedBy=multi-user.target\n"
	for _, m := range []*lab.Machine{s.app, s.db} {
		inside(t, m, 0, "systemctl disable -q --now nginx; install -d -o isucon /home/app; cat >/etc/systemd/system/app.service <<'EOT'\n"+unit+"EOT")
		s.edit(m, "v1", "")
		inside(t, m, 0, "systemctl daemon-reload; systemctl enable -q --now app; i=0; until curl -fs http://"+at(m)+":3000/; do sleep 0.2; i=$((i+1)); [ $i -lt 100 ]; done")
	}
	conf := strings.ReplaceAll(contestNginx, "server 127.0.0.1:3000;", "server "+at(s.app)+":3000; server "+at(s.db)+":3000;")
	inside(t, s.web, 0, "cat >/etc/nginx/nginx.conf <<'EOT'\n"+conf+"\nEOT\nmkdir -p /var/lib/nginx /var/log/nginx; systemctl restart nginx; "+untilUp)
	if err := os.WriteFile(filepath.Join(s.dir, "iikanji.toml"), []byte(fmt.Sprintf(farFile, at(s.web), at(s.app), at(s.db))), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// edit writes a version of the app's source on a machine, as its owner does.
func (s *farSite) edit(m *lab.Machine, version, start string) {
	s.t.Helper()
	text := strings.NewReplacer("VERSION", version, "START", start, "ADDRESS", m.Address().String()).Replace(farApp)
	inside(s.t, m, 0, "cat >/home/app/app.py <<'EOT'\n"+text+"EOT\nchown isucon /home/app/app.py")
}

// serves checks what the app of a machine answers, and which version its source is.
func (s *farSite) serves(m *lab.Machine, version, source string) {
	s.t.Helper()
	if got := inside(s.t, m, 0, "curl -fs http://"+m.Address().String()+":3000/"); got != version {
		s.t.Errorf("%s answers %q, want %s", m.Name, got, version)
	}
	if got := inside(s.t, m, 0, "grep -o 'v[0-9]' /home/app/app.py; stat -c %U /home/app/app.py"); got != source+"\nisucon\n" {
		s.t.Errorf("the source of %s is %q, want %s", m.Name, got, source)
	}
}

// etc deploys an edit of the ledger onto the web server's machine, and refuses one of a file
// that was edited there.
func (s *farSite) etc(run func(status int, args ...string) string) {
	s.t.Helper()
	const file = "/etc/nginx/nginx.conf"
	ledger := s.t.TempDir()
	path := filepath.Join(ledger, "hosts", "web", file)
	before := inside(s.t, s.web, 0, "cat "+file)
	put := func(text string) {
		s.t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			s.t.Fatal(err)
		}
	}
	put(before)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "run 1: 10"}} {
		if out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", ledger}, args...)...).CombinedOutput(); err != nil {
			s.t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	put("worker_rlimit_nofile 4096;\n" + before)
	if text := run(0, "deploy", "--etc", "--ledger", ledger); !strings.Contains(text, "write 1 file of the ledger on web") {
		s.t.Errorf("--etc: %s", text)
	}
	if got := inside(s.t, s.web, 0, "cat "+file+"; "+untilUp); !strings.HasPrefix(got, "worker_rlimit_nofile 4096;\n"+before) {
		s.t.Errorf("after --etc the file is\n%s", got)
	}
	inside(s.t, s.web, 0, "echo '# by hand' >>"+file)
	put("worker_rlimit_nofile 8192;\n" + before)
	if text := run(1, "deploy", "--etc", "--ledger", ledger); !strings.Contains(text, "edited on the host since") {
		s.t.Errorf("--etc over an edit of the host: %s", text)
	}
}

// TestDeployHosts: an app of two other machines is deployed on one after the other, as its
// source lies on each. The first version that does not serve ends that, and its machine has the
// former one again. Nothing is deployed while one of the machines is down.
func TestDeployHosts(t *testing.T) {
	tier.Long(t, "it boots three machines; TestFarForms deploys over a connection in each check")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := newFarSite(t)
	run := func(status int, args ...string) string {
		t.Helper()
		var said lockedBuffer
		got, text := command(t.Context(), &said, append(args, "--target", s.dir)...)
		text += said.String()
		if t.Logf("%q: status %d\n%s", args, got, text); got != status {
			t.Fatalf("want status %d", status)
		}
		return text
	}
	holds := func(text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("no %q in\n%s", w, text)
			}
		}
	}
	var said lockedBuffer
	if status, text := command(t.Context(), &said, "hosts", "show", s.dir, "--accept-new"); status != 0 {
		t.Fatalf("%s%s", text, said.String())
	}
	const dies = `sys.exit("dies at start")`
	run(0, "deploy") // the first version becomes the former one
	s.edit(s.app, "v2", "")
	s.edit(s.db, "v2", "")
	holds(run(0, "deploy"), "app on app2: python, 1 file changed; it serves", "app on db: python, 1 file changed; it serves")
	s.serves(s.app, "v2", "v2")
	s.serves(s.db, "v2", "v2")

	s.edit(s.app, "v3", "")
	s.edit(s.db, "v3", dies)
	holds(run(1, "deploy", "--health", "3s"), "app on db: the new version of app does not serve", "dies at start", "the former version serves again", "the new version serves: app on app2")
	s.serves(s.app, "v3", "v3")
	s.serves(s.db, "v2", "v2")
	into := filepath.Join(t.TempDir(), "failed")
	run(0, "deploy", "--failed", into)
	if text, err := os.ReadFile(filepath.Join(into, "app.py")); err != nil || !strings.Contains(string(text), "v3") || !strings.Contains(string(text), dies) {
		t.Errorf("the failed version: %s, %v", text, err)
	}
	holds(run(0, "deploy", "--back"), "app on app2: the former version serves", "app on db: the former version serves")
	s.serves(s.app, "v2", "v2")
	s.serves(s.db, "v2", "v2")

	s.edit(s.app, "v4", dies)
	s.edit(s.db, "v4", "")
	holds(run(1, "deploy", "--health", "3s"), "app on app2: the new version of app does not serve", "not deployed: app on db")
	s.serves(s.app, "v2", "v2")
	s.serves(s.db, "v2", "v4")

	here := t.TempDir() // a folder of this machine goes to both
	text := strings.NewReplacer("VERSION", "v5", "START", "", `"ADDRESS"`, `""`).Replace(farApp)
	if err := os.WriteFile(filepath.Join(here, "app.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run(0, "deploy", "app", "--from", here)
	s.serves(s.app, "v5", "v5")
	s.serves(s.db, "v5", "v5")

	s.etc(run)

	s.edit(s.app, "v6", "")
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	holds(run(1, "deploy"), "nothing is deployed", "db")
	s.serves(s.app, "v5", "v6")
}
