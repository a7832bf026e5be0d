package topology

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/contest/lab/labtest"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func TestMain(m *testing.M) { labtest.Main(m) }

const appUnit = `[Unit]
Description=the app
[Service]
EnvironmentFile=/home/isucon/env
ExecStart=/home/isucon/app
[Install]
WantedBy=multi-user.target
`

// canary is the password of the app's account.
const secret = "canary-7c31"

// A contest is a site on web, and db with the same servers, which have data of their own.
type contest struct {
	t         *testing.T
	dir       string
	hosts     map[string]*labtest.Far
	addresses map[string]string
	pools     map[string]change.Running
	source    string
	units     []string
	// now and open are the state to restore, and the site; those of a move if nil.
	now  func() string
	open func() *change.Site
}

// folders are what the policy allows on both hosts.
var folders = []string{"/var/lib/mysql", "/etc/mysql", "/etc/systemd/system", "/home/isucon", "/etc/nginx"}

// cacheFolders are those that a move of caches needs, too.
var cacheFolders = []string{"/etc/redis", "/var/lib/redis", "/etc"}

// folders are what the policy allows on both hosts of a contest.
func (c *contest) folders() []string {
	if slices.Contains(c.units, "redis-server") {
		return slices.Concat(folders, cacheFolders)
	}
	return folders
}

// app is the program of the test's app, built once.
var app = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "iikanji-topology-app")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "app")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", out, "./testdata/app")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return out, nil
})

// newContest boots both machines. In a child that is killed it uses the parent's.
func newContest(t *testing.T) *contest {
	t.Helper()
	return newContestWith(t, "mariadb")
}

// newContestWith boots both with these units of Debian.
func newContestWith(t *testing.T, units ...string) *contest {
	t.Helper()
	c := &contest{t: t, units: units, dir: changetest.ChildDir(), pools: map[string]change.Running{}}
	var err error
	if c.source, err = filepath.Abs("testdata/app"); err != nil {
		t.Fatal(err)
	}
	if c.dir == "" {
		c.dir = t.TempDir()
		c.boot()
	}
	if c.hosts, c.addresses, err = labtest.Dial(c.dir, c.folders()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, h := range c.hosts {
			h.Close()
		}
	})
	return c
}

func (c *contest) boot() {
	program, err := app()
	if err != nil {
		c.t.Fatal(err)
	}
	body, err := os.ReadFile(program)
	if err != nil {
		c.t.Fatal(err)
	}
	main, err := os.ReadFile(filepath.Join(c.source, "main.go"))
	if err != nil {
		c.t.Fatal(err)
	}
	prepare := func(m *lab.Machine) error {
		if slices.Contains(c.units, "nginx") {
			return c.prepareSpread(m, string(body), string(main))
		}
		return errors.Join(m.Write("/home/isucon/app", string(body), 0o755), m.Write("/home/isucon/webapp/main.go", string(main), 0o644),
			m.Write("/home/isucon/env", "DB_HOST=127.0.0.1\nDB_USER=isu\nDB_PASSWORD="+secret+"\n", 0o600), m.Write("/etc/systemd/system/isu-go.service", appUnit, 0o644))
	}
	machines := labtest.Boot(c.t, labtest.Spec{Name: "web", Units: c.units, Prepare: prepare}, labtest.Spec{Name: "db", Units: c.units, Prepare: prepare})
	labtest.File(c.t, c.dir, machines...)
	both := map[string]string{"web": "create database shop; create table shop.item (id int primary key, name text) engine=innodb; insert into shop.item values (1, 'one'), (2, 'two'); " +
		"create user isu@localhost identified by '" + secret + "'; grant all on shop.* to isu@localhost", "db": "create database own; create table own.t (a int); insert into own.t values (7)"}
	for _, m := range machines {
		for _, args := range [][]string{{"mariadb", "-e", both[m.Name]}, {"systemctl", "disable", "mariadb"}, {"systemctl", "enable", "mariadb"}} {
			if r, err := m.Run(c.t.Context(), args...); err != nil || r.Status != 0 {
				c.t.Fatalf("%s: %q: %v %s", m.Name, args, err, r.Output)
			}
		}
	}
	if r, err := machines[0].Run(c.t.Context(), "systemctl", "enable", "--now", "isu-go"); err != nil || r.Status != 0 {
		c.t.Fatalf("%v %s", err, r.Output)
	}
}

// site is the site as it was at first: its services on web.
func (c *contest) site() *change.Site {
	db, err := c.hosts["web"].SQL(host.Login{Socket: "/run/mysqld/mysqld.sock", Idle: 0})
	if err != nil {
		panic(err)
	}
	s := &change.Site{Hosts: map[string]host.Host{}, Placement: filepath.Join(c.dir, "placement.json"), Roots: []string{c.dir},
		Services: map[string]change.Service{"mariadb": {Host: "web", Running: changetest.Running{Pool: db}}, "isu-go": {Host: "web", Source: "/home/isucon/webapp"}},
		Target: iikanji.Target{Services: []iikanji.Service{
			{Name: "mariadb", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Address: "127.0.0.1:3306", Socket: "/run/mysqld/mysqld.sock", Unit: "mariadb.service", Spare: []string{"db"}},
			{Name: "isu-go", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Host: "web", Address: "127.0.0.1:8000", Unit: "isu-go.service", Spare: []string{"db"}},
		}},
		Initialize: c.initialize}
	for name, h := range c.hosts {
		s.Hosts[name] = h
		s.Target.Hosts = append(s.Target.Hosts, iikanji.HostRef{Name: name, Private: c.addresses[name]})
		for _, folder := range c.folders() {
			s.Roots = append(s.Roots, name+":"+folder)
		}
	}
	return s
}

// initialize waits for the app, which a change may have restarted just now.
func (c *contest) initialize(ctx context.Context) (err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if _, err = c.ask("/initialize"); err == nil || !strings.Contains(err.Error(), "refused") {
			break
		}
	}
	return err
}

// ask requests a path of the app, on web.
func (c *contest) ask(path string) (string, error) { return c.get("127.0.0.1:8000", path) }

// get requests a path of a server on web.
func (c *contest) get(address, path string) (string, error) {
	conn, err := c.hosts["web"].Dial(c.t.Context(), "tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: isu\r\nConnection: close\r\n\r\n"); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return string(b), err
}

func (c *contest) run(name string, args ...string) string {
	c.t.Helper()
	out, err := c.hosts[name].Run(c.t.Context(), args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// state is everything of both hosts that an undo must restore.
func (c *contest) state() string {
	c.t.Helper()
	var b strings.Builder
	for _, name := range []string{"web", "db"} {
		fmt.Fprintf(&b, "== %s\n%s\n", name, c.run(name, "sh", "-c", `cd /etc && find systemd/system mysql /home/isucon ! -type l -printf '%p %y %m %u\n' -o -type l -printf '%p -> %l\n' | grep -v /dev/null | sort
find systemd/system mysql /home/isucon -type f | sort | xargs sha256sum
ls -d /var/lib/mysql*
stat -c '%i %U %a' /var/lib/mysql
for u in mariadb isu-go; do systemctl is-active $u; systemctl is-enabled $u; done
mariadb -Ne "select concat(user, '@', host, ' ', json_remove(priv, '$.password_last_changed')) from mysql.global_priv order by 1"
mariadb-dump --all-databases --skip-dump-date --order-by-primary --ignore-table=mysql.global_priv --ignore-table=mysql.innodb_index_stats --ignore-table=mysql.innodb_table_stats | sha256sum; :`))
	}
	placement, err := os.ReadFile(filepath.Join(c.dir, "placement.json"))
	fmt.Fprintf(&b, "== placement %s, %v\n", placement, errors.Is(err, os.ErrNotExist))
	return b.String()
}

// executor is one on a history of its own.
func (c *contest) executor(s *change.Site) (*change.Executor, *history.History) {
	c.t.Helper()
	h, err := history.Open(filepath.Join(c.t.TempDir(), "history"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { h.Close() })
	return &change.Executor{Hands: s, Journal: h, Policy: iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability, iikanji.RowOrder}}}, h
}

// move is the remedy.
func move(kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "topology", Target: "mariadb", Args: changetest.Args(append([]string{"act", "move", "service", "mariadb", "to", "db"}, kv...)...)}
}

// plan plans a remedy into a history.
func (c *contest) plan(s *change.Site, h *history.History, r iikanji.Remedy) *iikanji.Change {
	c.t.Helper()
	ch, err := change.Plan(c.t.Context(), s, r)
	if err == nil {
		err = h.AddChange(ch, change.Diff(ch))
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if text := change.Diff(ch); strings.Contains(text, secret) {
		c.t.Errorf("the plan has the password:\n%s", text)
	}
	return ch
}
