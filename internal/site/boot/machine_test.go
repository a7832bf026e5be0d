package boot_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	rules "github.com/iikanji/iikanji/internal/cause/boot"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/boot"
)

// inside is the variable with which this test runs within a machine and prints what the
// rules find there.
const inside = "IIKANJI_TEST_INSIDE"

func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" {
		if err := printFindings(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// printFindings reads this machine and prints its findings as JSON.
func printFindings(ctx context.Context) error {
	m, err := process.ReadMachine(host.Local{})
	if err != nil {
		return err
	}
	t := iikanji.Target{Name: "site", Services: []iikanji.Service{
		{Name: "web", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Address: "127.0.0.1:80"},
		{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EnginePython, Address: "127.0.0.1:3000"},
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Address: "127.0.0.1:3306", Socket: "/run/mysqld/mysqld.sock"},
		{Name: "cache", Role: iikanji.RoleCache, Engine: iikanji.EngineRedis, Address: "127.0.0.1:6379"},
	}}
	for i := range t.Services {
		p := m.Owner(t.Services[i].Address)
		if p == nil {
			return fmt.Errorf("nothing listens at %s", t.Services[i].Address)
		}
		t.Services[i].PIDs = []int{p.PID}
	}
	db, err := (host.Local{}).SQL(host.Login{Socket: "/run/mysqld/mysqld.sock"})
	if err != nil {
		return err
	}
	defer db.Close()
	a := boot.Asker{Host: host.Local{}, Target: t, DB: func(string) *sql.DB { return db }, Sources: map[string]string{"app": "/home/app"}}
	b, err := a.Read(ctx)
	if err != nil {
		return err
	}
	if len(b.Unread) > 0 {
		return fmt.Errorf("not read: %q", b.Unread)
	}
	found, err := cause.Find(cause.Input{Target: t, Facts: []iikanji.Fact{boot.Fact(host.Local{}, b)}}, rules.Rules())
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

// app is an app that needs its database and its cache when it starts.
const app = `import os, socket
from http.server import BaseHTTPRequestHandler, HTTPServer
keep = [socket.create_connection(("127.0.0.1", port)) for port in (3306, 6379)]
if os.path.isdir("/run/sockets"):
    unix = socket.socket(socket.AF_UNIX)
    unix.bind("/run/sockets/app.sock")
    unix.listen()
    state = open("/dev/shm/state.db", "w")
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
HTTPServer(("127.0.0.1", 3000), Handler).serve_forever()
`

const appUnit = `[Unit]
After=network.target mariadb.service redis-server.service
[Service]
ExecStart=/usr/bin/python3 /home/app/app.py
%s
[Install]
WantedBy=multi-user.target
`

// site is a machine with a site: nginx, an app, MariaDB and Redis.
func site(t *testing.T) *lab.Machine {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	m, err := lab.New(t.TempDir(), "web", "nginx", "mariadb", "redis-server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{m.Database(), m.Install(self, "boot.test"), m.Write("/home/app/app.py", app, 0o644),
		m.Write("/etc/systemd/system/app.service", fmt.Sprintf(appUnit, "Restart=always\nRestartSec=3"), 0o644),
		os.Symlink("/etc/systemd/system/app.service", m.Path("/etc/systemd/system/multi-user.target.wants/app.service"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	shell(t, m, `i=0; until curl -fs http://127.0.0.1:3000/; do sleep 0.1; i=$((i+1)); [ $i -lt 200 ]; done`)
	return m
}

func shell(t *testing.T, m *lab.Machine, script string) string {
	t.Helper()
	r, err := m.Run(t.Context(), "sh", "-ec", script)
	if err != nil || r.Status != 0 {
		t.Fatalf("%s: status %d, %v\n%s", script, r.Status, err, r.Output)
	}
	return r.Output
}

// found are the findings in the machine, as "CODE place".
func found(t *testing.T, m *lab.Machine) (codes []string) {
	t.Helper()
	out := shell(t, m, inside+"=1 /usr/local/bin/boot.test")
	var all []iikanji.Finding
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range all {
		t.Logf("%s %s: %s", f.Code, f.Where, f.Claim)
		codes = append(codes, string(f.Code)+" "+f.Where)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// TestMachine: on a machine that systemd has booted, nothing is found on a clean site, and each
// planted cause is. BOOT114 needs a full disk and is planted in TestPlanted.
func TestMachine(t *testing.T) {
	tier.Slow(t)
	m := site(t)
	if codes := found(t, m); len(codes) > 0 {
		t.Errorf("on the clean site: %q", codes)
	}
	unit := func(name, text string) { shell(t, m, "cat >/etc/systemd/system/"+name+" <<'EOF'\n"+text+"\nEOF") }
	unit("app.service", fmt.Sprintf(appUnit, "StartLimitIntervalSec=0"))                                                    // 104: no Restart=; 113: a key of [Unit]
	unit("worker.service", "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target")                   // 101
	unit("broken.service", "[Service]\nType=oneshot\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target")          // 102
	unit("ruby.service", "[Service]\nEnvironment=PORT=3000\nExecStart=/bin/sleep 9\n[Install]\nWantedBy=multi-user.target") // 103
	shell(t, m, `mkdir /run/sockets /mnt/ram 2>/dev/null || mkdir -p /run/sockets
mkdir -p /srv/ram; mount -t tmpfs tmpfs /srv/ram
sed -i 's/^After=.*/After=network.target/' /etc/systemd/system/app.service
systemctl daemon-reload; systemctl start worker; systemctl enable broken ruby 2>/dev/null; systemctl start broken || true
mariadb -e 'set global innodb_flush_log_at_trx_commit = 0, global max_connections = 151'
sysctl -qw net.core.somaxconn=8192
systemctl stop redis-server
(cd /; setsid redis-server --port 6379 --save '' --daemonize no >/dev/null 2>&1 </dev/null &)
until redis-cli set a 1; do sleep 0.1; done
systemctl restart app; sleep 3; touch /home/app/app.py; sleep 3; touch /home/app/app.py
mkdir -p /etc/systemd/system/nginx.service.d; printf '[Service]\nLimitNOFILE=9999\n' >/etc/systemd/system/nginx.service.d/a.conf`)
	want := []string{"BOOT101 worker.service", "BOOT102 broken.service", "BOOT103 app", "BOOT104 app", "BOOT105 app", "BOOT106 /srv/ram", "BOOT106 app",
		"BOOT107 database", "BOOT108 host", "BOOT109 cache", "BOOT110 cache", "BOOT111 app", "BOOT112 web", "BOOT113 app"}
	if codes := found(t, m); !slices.Equal(codes, want) {
		t.Errorf("planted:\n%s\nfound:\n%s", strings.Join(want, "\n"), strings.Join(codes, "\n"))
	}
}
