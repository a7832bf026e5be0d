package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// contestApp is an app that ends if its database or its cache does not answer when it starts.
const contestApp = `import socket
from http.server import BaseHTTPRequestHandler, HTTPServer
keep = [socket.create_connection(("127.0.0.1", port)) for port in (3306, 6379)]
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
HTTPServer(("127.0.0.1", 3000), Handler).serve_forever()
`

const contestUnit = `[Unit]
After=network.target
[Service]
ExecStart=/usr/bin/python3 /home/app/app.py
[Install]
WantedBy=multi-user.target
`

const contestNginx = `events {}
http {
    access_log /var/log/nginx/access.log;
    upstream app { server 127.0.0.1:3000; }
    server { listen 80; location / { proxy_pass http://app; } }
}
`

const contestBench = `#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9 10; do curl -fs http://127.0.0.1/ >/dev/null || { echo 'pass: false'; exit 1; }; done
echo 'score: 1000'
`

const contestFile = `version = 1
name = "shop"
url = "http://127.0.0.1:80"
[[service]]
name = "web"
role = "web"
engine = "nginx"
listen = "0.0.0.0:80"
unit = "nginx.service"
config = "/etc/nginx/nginx.conf"
[service.logs]
access = "/var/log/nginx/access.log"
[[service]]
name = "app"
role = "app"
engine = "python"
listen = "127.0.0.1:3000"
unit = "app.service"
[service.app]
source = "/home/app"
[[service]]
name = "database"
role = "database"
engine = "mariadb"
listen = "127.0.0.1:3306"
socket = "/run/mysqld/mysqld.sock"
unit = "mariadb.service"
drop_in = "/etc/mysql/mariadb.conf.d/zz-iikanji.cnf"
[service.database]
schema = "shop"
[[service]]
name = "cache"
role = "cache"
engine = "redis"
listen = "127.0.0.1:6379"
unit = "redis-server.service"
[bench]
command = "./bench.sh"
length = "1s"
[policy]
profile = "contest"
folders = ["/etc/nginx", "/etc/mysql/mariadb.conf.d", "/etc/systemd/system", "/etc/sysctl.d"]
`

// contestSite is a machine with a site on units.
func contestSite(t *testing.T) *lab.Machine {
	t.Helper()
	tier.Needs(t, "a machine in namespaces", lab.Missing())
	program := filepath.Join(t.TempDir(), "iikanji")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m, err := lab.New(t.TempDir(), "web", "nginx", "mariadb", "redis-server")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, err := range []error{m.Database(), m.Install(program, "iikanji"), m.Write("/home/app/app.py", contestApp, 0o644),
		m.Write("/etc/nginx/nginx.conf", contestNginx, 0o644), m.Write("/root/site/bench.sh", contestBench, 0o755), m.Write("/root/site/iikanji.toml", contestFile, 0o644),
		m.Write("/etc/systemd/system/app.service", contestUnit, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Boot(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside(t, m, 0, "systemctl start app; "+untilUp+`
mariadb -e "create database shop; create table shop.item (id int primary key); insert into shop.item values (1),(2)"`)
	return m
}

// untilUp waits until the site answers.
const untilUp = `i=0; until curl -fs http://127.0.0.1/; do sleep 0.2; i=$((i+1)); [ $i -lt 1500 ]; done`

// inside runs a script in a machine, which must end with a status.
func inside(t *testing.T, m *lab.Machine, status int, script string) string {
	t.Helper()
	r, err := m.Run(t.Context(), "timeout", "1200", "sh", "-ec", script)
	if err != nil || r.Status != status {
		t.Fatalf("%s: status %d, want %d, %v\n%s", script, r.Status, status, err, r.Output)
	}
	return r.Output
}

// plantLosses plants causes that finalize mends, and logs that are on. Beside them the app is not
// enabled, and gives up before its servers are there.
const plantLosses = `
printf '[Service]\nExecStart=/bin/sleep 1000000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/worker.service
for name in ruby perl; do printf '[Service]\nEnvironment=PORT=3000\nExecStart=/bin/sleep 9\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/$name.service; done
systemctl daemon-reload; systemctl enable -q ruby perl; systemctl start worker
mariadb -e 'set global innodb_flush_log_at_trx_commit = 0, global max_connections = 200, global slow_query_log = 1'
sysctl -qw net.core.somaxconn=8192
mkdir /etc/systemd/system/nginx.service.d; printf '[Service]\nLimitNOFILE=9999\n' >/etc/systemd/system/nginx.service.d/a.conf
sleep 3; touch /home/app/app.py`

// TestFinalize: ten planted causes are mended, the site is READY, and a real reboot of the machine
// proves it. A cause that only a person can mend makes it NOT READY. A kill in the middle of a
// step leaves the site up.
func TestFinalize(t *testing.T) {
	tier.Slow(t)
	m := contestSite(t)
	inside(t, m, 0, "cd /root/site; iikanji bench --load 1s </dev/null")
	// A run beside a disk with less than 512 MiB is void: here that of nginx's logs.
	if text := inside(t, m, 1, "mount -t tmpfs -o size=300m,mode=755 tmpfs /var/log/nginx; cd /root/site; iikanji bench --load 1s 2>&1 </dev/null"); !strings.Contains(text, "VOID: the disk of /var/log/nginx is nearly full") {
		t.Errorf("a run beside a full disk: %s", text)
	}
	inside(t, m, 0, "umount /var/log/nginx")
	// A unit's drop-in is brought back, too, and the service runs without it.
	inside(t, m, 0, `mkdir /etc/systemd/system/app.service.d; printf '[Service]\nLimitNOFILE=7777\n' >/etc/systemd/system/app.service.d/x.conf
systemctl daemon-reload; systemctl restart app; [ "$(systemctl show -P LimitNOFILE app)" = 7777 ]; `+untilUp+`
cd /root/site; iikanji work back 1 --partly </dev/null; [ ! -e /etc/systemd/system/app.service.d/x.conf ]; [ "$(systemctl show -P LimitNOFILE app)" != 7777 ]; `+untilUp)
	inside(t, m, 0, plantLosses)
	const digests = "cd /etc && find . -type f | sort | xargs sha256sum"
	before := inside(t, m, 0, digests)
	t.Log(inside(t, m, 0, "cd /root/site; iikanji finalize --check 2>&1 </dev/null"))
	if after := inside(t, m, 0, digests); after != before {
		t.Error("--check has changed a file")
	}
	t.Run("kill", func(t *testing.T) { killedFinalize(t, m) })
	var res finalize.Result
	text := inside(t, m, 0, "cd /root/site; iikanji finalize --json 2>/root/err </dev/null || { s=$?; cat /root/err; exit $s; }")
	if err := json.Unmarshal([]byte(text), &res); err != nil || !res.Ready {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("%s", text)
	if why := inside(t, m, 1, `cd /root/site; echo '{"kind":"mysqlconf","target":"database","args":{"max_connections":"300"}}' >r.json; iikanji apply . --file r.json 2>&1`); !strings.Contains(why, "changes are refused") {
		t.Errorf("a change after READY: %s", why)
	}
	inside(t, m, 0, "cd /root/site; iikanji finalize --open")
	down, err := m.Run(t.Context(), "sh", "-c", "cd ~/site; iikanji finalize --reboot --gaps 0s,20s 2>&1 </dev/null")
	t.Logf("going down: %v\n%s", err, down.Output) // the shell may end with the machine
	if err := m.Again(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Nobody types: the command goes on by itself.
	inside(t, m, 0, untilUp+"; systemctl is-active worker")
	const log = "/var/lib/iikanji/site-*/finalize-reboot.log"
	text = inside(t, m, 0, "i=0; until grep -q READY "+log+"; do sleep 0.5; i=$((i+1)); [ $i -lt 600 ] || break; done; cat "+log)
	t.Log(text)
	if !strings.Contains(text, "READY, rebooted.") || strings.Contains(text, "NOT READY") || strings.Contains(text, "what a boot would lose: ") {
		t.Errorf("after the reboot: %s", text)
	}
	inside(t, m, 0, "[ ! -e /etc/systemd/system/iikanji-finalize.service ]; [ ! -e /etc/systemd/system/multi-user.target.wants/iikanji-finalize.service ]")
	if got := inside(t, m, 0, "mariadb -Ne 'select @@innodb_flush_log_at_trx_commit, @@max_connections, @@slow_query_log, count(*) from shop.item'"); got != "0\t200\t0\t2\n" {
		t.Errorf("after the reboot the database has %q", got)
	}
	if r, err := m.Run(t.Context(), "systemctl", "is-active", "ruby", "perl"); err != nil || r.Output != "inactive\ninactive\n" {
		t.Errorf("the boot has started another app: %s, %v", r.Output, err)
	}
	inside(t, m, 0, `printf '[Service]\nType=oneshot\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/broken.service
systemctl daemon-reload; systemctl enable -q broken; systemctl start broken || true`)
	if text := inside(t, m, 3, "cd /root/site; iikanji finalize 2>/dev/null </dev/null"); !strings.Contains(text, "NOT READY: BOOT102") {
		t.Errorf("with a failing unit: %s", text)
	}
	inside(t, m, 0, untilUp)
}

// killedFinalize kills the command at moments of its steps: the site is up again without help. What
// begins a moment stays: a busy machine may look when the database that was down is up again.
func killedFinalize(t *testing.T, m *lab.Machine) {
	for _, when := range []string{"[ -e /etc/systemd/system/multi-user.target.d/90-iikanji-worker.service.conf ]", "[ \"$(systemctl show -P MainPID mariadb)\" != $was ]"} {
		inside(t, m, 0, "cd /root/site; was=$(systemctl show -P MainPID mariadb); iikanji finalize >/root/out 2>&1 </dev/null & pid=$!\ni=0; until "+when+
			"; do sleep 0.05; i=$((i+1)); [ $i -lt 6000 ] || { cat /root/out; exit 9; }; done; kill -9 $pid || true; sleep 1; "+untilUp)
	}
}
