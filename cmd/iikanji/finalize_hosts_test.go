package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// spreadFile is a site on three machines: nginx on the first, an app on the second, its
// database and its cache on the third.
const spreadFile = `version = 1
name = "spread"
url = "http://%[1]s"
[[host]]
name = "web"
address = "ssh://isucon@%[1]s"
reboot = "ask"
[[host]]
name = "app2"
address = "ssh://isucon@%[2]s"
reboot = "ask"
[[host]]
name = "db"
address = "ssh://isucon@%[3]s"
reboot = "yes"
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
listen = "0.0.0.0:3000"
unit = "app.service"
[service.app]
source = "/home/app"
[[service]]
name = "database"
role = "database"
engine = "mariadb"
host = "db"
listen = "0.0.0.0:3306"
socket = "/run/mysqld/mysqld.sock"
unit = "mariadb.service"
drop_in = "/etc/mysql/mariadb.conf.d/zz-iikanji.cnf"
[service.database]
schema = "shop"
[[service]]
name = "cache"
role = "cache"
engine = "redis"
host = "db"
listen = "0.0.0.0:6379"
unit = "redis-server.service"
[bench]
command = "./bench.sh"
length = "1s"
[team]
notify = ["env:SPREAD_HOOK"]
[policy]
profile = "contest"
folders = ["web:/etc/nginx", "web:/etc/systemd/system", "web:/etc/sysctl.d", "app2:/etc/systemd/system", "db:/etc/mysql/mariadb.conf.d", "db:/etc/systemd/system"]
`

// A spreadSite is such a site. Machines that reboot are booted, and counted.
type spreadSite struct {
	web, app, db *lab.Machine
	dir          string
	boots        [3]atomic.Int32
	unwatch      func() // ends the watch that boots machines which went down
}

// newSpreadSite boots the machines and makes the site.
func newSpreadSite(t *testing.T) *spreadSite {
	t.Helper()
	machines := threeMachines(t, "nginx", "mariadb", "redis-server")
	s := &spreadSite{web: machines[0], app: machines[1], db: machines[2], dir: t.TempDir()}
	at := func(m *lab.Machine) string { return m.Address().String() }
	write := func(m *lab.Machine, path, text string) string {
		return fmt.Sprintf("mkdir -p $(dirname %[1]s); cat >%[1]s <<'EOT'\n%[2]s\nEOT\n", path, text)
	}
	app := strings.NewReplacer(`"127.0.0.1", port)) for`, `"`+at(s.db)+`", port)) for`, `"127.0.0.1", 3000`, `"0.0.0.0", 3000`).Replace(contestApp)
	inside(t, s.db, 0, write(s.db, "/etc/mysql/mariadb.conf.d/60-listen.cnf", "[mysqld]\nbind-address = 0.0.0.0")+write(s.db, "/etc/redis/redis.conf", "bind 0.0.0.0\nprotected-mode no\ndir /var/lib/redis")+`
chmod 644 /etc/redis/redis.conf; systemctl restart mariadb redis-server
mariadb -e "create database shop; create table shop.item (id int primary key); insert into shop.item values (1),(2)"`)
	inside(t, s.app, 0, write(s.app, "/home/app/app.py", app)+write(s.app, "/etc/systemd/system/app.service", contestUnit)+`systemctl daemon-reload
i=0; until curl -fs http://127.0.0.1:3000/; do systemctl reset-failed app || true; systemctl restart app || true; sleep 1; i=$((i+1)); [ $i -lt 20 ] || exit 1; done`)
	inside(t, s.web, 0, write(s.web, "/etc/nginx/nginx.conf", strings.ReplaceAll(contestNginx, "127.0.0.1:3000", at(s.app)+":3000"))+"systemctl restart nginx; "+untilUp)
	// What is not used would race, or be found beside the planted causes.
	inside(t, s.web, 0, "systemctl disable -q --now mariadb redis-server")
	inside(t, s.app, 0, "systemctl disable -q --now mariadb redis-server nginx")
	inside(t, s.db, 0, "systemctl disable -q --now nginx")
	bench := strings.ReplaceAll(contestBench, "http://127.0.0.1/", "http://"+at(s.web)+"/")
	file := fmt.Sprintf(spreadFile, at(s.web), at(s.app), at(s.db))
	if err := errors.Join(os.WriteFile(filepath.Join(s.dir, "bench.sh"), []byte(bench), 0o755), os.WriteFile(filepath.Join(s.dir, "iikanji.toml"), []byte(file), 0o644)); err != nil {
		t.Fatal(err)
	}
	s.watch(t, machines)
	return s
}

// watch boots machines again that reboot, until the test ends.
func (s *spreadSite) watch(t *testing.T, machines []*lab.Machine) {
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	s.unwatch = func() { stop(); all.Wait() }
	t.Cleanup(s.unwatch)
	for i, m := range machines {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-m.Down():
				}
				if ctx.Err() != nil || m.Again(ctx) != nil {
					return
				}
				s.boots[i].Add(1)
			}
		})
	}
}

// spreadLosses are ten planted causes on three machines. Besides them the app is not enabled
// (BOOT101) and gives up when its servers boot later (UNIT103).
func (s *spreadSite) plant(t *testing.T) {
	inside(t, s.web, 0, `sysctl -qw net.core.somaxconn=8192
mkdir /etc/systemd/system/nginx.service.d; printf '[Service]\nLimitNOFILE=9999\n' >/etc/systemd/system/nginx.service.d/a.conf
printf '[Service]\nExecStart=/bin/sleep 1000000\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/worker.service
systemctl start worker`)
	inside(t, s.app, 0, `for name in ruby perl; do printf '[Service]\nEnvironment=PORT=3000\nExecStart=/bin/sleep 9\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/$name.service; done
systemctl daemon-reload; systemctl enable -q ruby perl; sleep 3; touch /home/app/app.py`)
	inside(t, s.db, 0, "mariadb -e 'set global innodb_flush_log_at_trx_commit = 0, global max_connections = 200, global slow_query_log = 1'")
}

// TestFinalizeHosts: finalize runs on a fourth machine, mends causes on three, reboots them in
// every order and says READY with the reboots. It sends no notice of a lost machine, because
// iikanji itself rebooted them. It says NOT READY with the machine if an app does not come back,
// if a unit fails that only a person can mend, and if a machine is down.
func TestFinalizeHosts(t *testing.T) {
	tier.Slow(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := newSpreadSite(t)
	titles := toldTitles(t, "SPREAD_HOOK")
	run := func(status int, args ...string) string {
		t.Helper()
		var said lockedBuffer
		got, text := command(t.Context(), &said, args...)
		if got != status {
			t.Fatalf("%q: status %d, want %d\n%s\n%s", args, got, status, text, said.String())
		}
		return text
	}
	run(0, "hosts", "show", s.dir, "--accept-new")
	run(0, "bench", "--load", "1s", s.dir)
	s.plant(t)
	const digests = "cd /etc && find . -type f | sort | xargs sha256sum"
	before := inside(t, s.db, 0, digests) + inside(t, s.app, 0, digests) + inside(t, s.web, 0, digests)
	t.Log(run(0, "finalize", "--check", s.dir))
	if after := inside(t, s.db, 0, digests) + inside(t, s.app, 0, digests) + inside(t, s.web, 0, digests); after != before {
		t.Error("--check has changed a file")
	}
	began := time.Now()
	var res finalize.Result
	text := run(0, "finalize", "--reboot", "--gaps", "0s,3s", "--json", s.dir)
	if err := json.Unmarshal([]byte(text), &res); err != nil || !res.Ready || !res.Rebooted || len(res.Stayed) > 0 {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("it took %.0f s\n%s", time.Since(began).Seconds(), text)
	s.ready(t, &res)
	for i := range s.boots {
		if n := s.boots[i].Load(); n != 4 {
			t.Errorf("machine %d has booted %d times", i, n)
		}
	}
	if got := titles(); slices.ContainsFunc(got, func(title string) bool { return strings.HasPrefix(title, "host:") }) {
		t.Errorf("the team was told %q", got)
	}
	if why := run(1, "apply", s.dir, "DB101"); why != "" {
		t.Errorf("a change after READY: %s", why)
	}
	run(0, "finalize", "--open", s.dir)
	inside(t, s.web, 0, "sysctl -qp /etc/sysctl.d/90-iikanji.conf") // which a boot of the lab does not read
	if text := run(0, "rehearse", "--gaps", "0s", "--no-last-run", s.dir); !strings.Contains(text, "READY, not rebooted.") {
		t.Errorf("a rehearsal without reboots: %s", text)
	}
	s.notReady(t, run, titles)
}

// ready checks the machines after READY.
func (s *spreadSite) ready(t *testing.T, res *finalize.Result) {
	all := ""
	for _, step := range res.Steps {
		all += step.Name + ": " + step.Says + " " + strings.Join(step.More, "; ") + "\n"
	}
	for _, want := range []string{"BOOT108 on web", "BOOT112 on web", "BOOT101 on web", "BOOT101 on app2", "UNIT103 on app2", "BOOT103 on app2", "BOOT111 on app2", "BOOT107 on db", "reboot, all at once: ", "reboot, one after the other: db ", "reboot, clients first: ", "reboot, servers 3 s later: ", "1 table as before"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	inside(t, s.web, 0, untilUp+"; systemctl is-active worker; grep -qx 'net.core.somaxconn = 8192' /etc/sysctl.d/90-iikanji.conf; [ ! -e /run/iikanji ]")
	inside(t, s.app, 0, "systemctl is-active app; ! systemctl is-active ruby && ! systemctl is-active perl; [ ! -e /run/iikanji ]")
	if got := inside(t, s.db, 0, "mariadb -Ne 'select @@innodb_flush_log_at_trx_commit, @@max_connections, @@slow_query_log, count(*) from shop.item'"); got != "0\t200\t0\t2\n" {
		t.Errorf("after the reboots the database has %q", got)
	}
}

// notReady plants what cannot be mended, one after the other.
func (s *spreadSite) notReady(t *testing.T, run func(status int, args ...string) string, titles func() []string) {
	// The app needs a file that a boot removes. No rule can find that before the reboot.
	inside(t, s.app, 0, `mkdir -p /etc/systemd/system/app.service.d; touch /run/by-hand; cp -p /home/app/app.py /home/app.before
printf '[Service]\nRestartPreventExitStatus=3\n' >/etc/systemd/system/app.service.d/zz.conf; systemctl daemon-reload
{ printf 'import os, sys\nos.path.exists("/run/by-hand") or sys.exit(3)\n'; cat /home/app.before; } >/home/app/app.py; systemctl restart app; sleep 3`)
	text := run(exitChecks, "finalize", "--reboot", "--gaps", "0s", "--no-last-run", s.dir)
	if !strings.Contains(text, "NOT READY: reboot, all at once: app2: app did not come back") {
		t.Errorf("an app that needs what a boot removes: %s", text)
	}
	inside(t, s.app, 0, "rm /etc/systemd/system/app.service.d/zz.conf; cp -p /home/app.before /home/app/app.py; systemctl daemon-reload; systemctl restart app")
	inside(t, s.db, 0, `printf '[Service]\nType=oneshot\nExecStart=/bin/false\n[Install]\nWantedBy=multi-user.target\n' >/etc/systemd/system/broken.service
systemctl daemon-reload; systemctl enable -q broken; systemctl start broken || true`)
	if text := run(exitChecks, "finalize", s.dir); !strings.Contains(text, "NOT READY: BOOT102 on db") {
		t.Errorf("with a failing unit: %s", text)
	}
	s.unwatch() // otherwise the machine that is ended boots again
	if err := s.db.Close(); err != nil {
		t.Fatal(err)
	}
	if text := run(exitChecks, "finalize", s.dir); !strings.Contains(text, "NOT READY: before the first step") || !strings.Contains(text, "when db answers") {
		t.Errorf("with a machine that is down: %s", text)
	}
	if got := titles(); !slices.Contains(got, "host: machine db is lost") {
		t.Errorf("the team was told %q", got)
	}
}
