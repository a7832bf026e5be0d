package topology

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/contest/lab"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// spreadConf is nginx's configuration of the front.
const spreadConf = `worker_processes 1;
pid /run/nginx.pid;
events {
    worker_connections 128;
}
http {
    # the site
    server {
        listen 80;
        location / {
            proxy_pass http://127.0.0.1:8000;
        }
    }
}
`

// reload has nginx read its configuration, and waits for the end of the old workers.
const reload = `old=$(pgrep -P $(cat /run/nginx.pid)); systemctl reload nginx || exit 1
for i in $(seq 200); do
	alive=
	for p in $old; do kill -0 $p 2>/dev/null && alive=1; done
	[ -z "$alive" ] && exit 0
	sleep 0.05
done
echo "old workers serve still"; exit 1`

// prepareSpread puts the app onto a machine; db has an older source, and a file that web does
// not have.
func (c *contest) prepareSpread(m *lab.Machine, program, source string) error {
	errs := []error{m.Write("/home/isucon/webapp/app", program, 0o755), m.Write("/home/isucon/webapp/main.go", source, 0o644),
		m.Write("/home/isucon/env", "DB_HOST=127.0.0.1\nDB_USER=isu\nDB_PASSWORD="+secret+"\nLISTEN=0.0.0.0:8000\n", 0o600),
		m.Write("/etc/systemd/system/isu-go.service", strings.Replace(appUnit, "/home/isucon/app", "/home/isucon/webapp/app", 1), 0o644),
		m.Write("/etc/nginx/nginx.conf", spreadConf, 0o644)}
	if m.Name == "db" {
		errs = append(errs, m.Write("/home/isucon/webapp/main.go", "// older\n"+source, 0o644), m.Write("/home/isucon/webapp/notes", "of db alone\n", 0o600))
	}
	return errors.Join(errs...)
}

// newSpread boots a site whose front, app and database are on web.
func newSpread(t *testing.T) *contest {
	t.Helper()
	return newContestWith(t, "mariadb", "nginx")
}

// spreadSite is the site with its front.
func (c *contest) spreadSite() *change.Site {
	s := c.site()
	s.Target.Services = append(s.Target.Services, iikanji.Service{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Host: "web", Address: "0.0.0.0:80", Unit: "nginx.service"})
	run := func(ctx context.Context, args ...string) error {
		r, err := c.hosts["web"].Exec(ctx, host.Command{Path: args[0], Args: args[1:], Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}})
		if err == nil && r.Status != 0 {
			err = fmt.Errorf("%q: %s", args, r.Output)
		}
		return err
	}
	nginx := changetest.Running{OnReload: func(ctx context.Context) error { return run(ctx, "/bin/sh", "-c", reload) },
		OnRestart: func(ctx context.Context) error { return run(ctx, "/usr/bin/systemctl", "restart", "nginx") },
		OnCheck:   func(ctx context.Context, path string) error { return run(ctx, "/usr/sbin/nginx", "-t", "-c", path) }}
	s.Services["nginx"] = change.Service{Host: "web", Config: "/etc/nginx/nginx.conf", Checks: true, Reloads: true, Running: nginx}
	return s
}

// front requests a path of the site's front.
func (c *contest) front(path string) (string, error) { return c.get("127.0.0.1:80", path) }

// settle waits for the app, which a change may have restarted just now.
func (c *contest) settle(path string) (got string, err error) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got, err = c.front(path); err == nil {
			break
		}
	}
	return got, err
}

// who counts which host answers so many requests.
func (c *contest) who(n int) map[string]int {
	c.t.Helper()
	all := map[string]int{}
	c.settle("/who")
	for range n {
		name, err := c.front("/who")
		if err != nil {
			c.t.Fatal(err)
		}
		all[strings.TrimSuffix(name, "<nil>")]++
	}
	return all
}

// spreadState is everything that an undo of a spread must restore.
func (c *contest) spreadState() string {
	c.t.Helper()
	return c.state() + c.run("web", "sh", "-c", "cd /etc/nginx && find . -type f | sort | xargs sha256sum") + "\n" +
		c.run("db", "sh", "-c", "stat -c '%i' /home/isucon/webapp; ls -A /home/isucon")
}

// spreading is the remedy.
func spreading(kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "topology", Target: "isu-go", Args: changetest.Args(append([]string{"act", "spread", "service", "isu-go", "over", "web,db"}, kv...)...)}
}

// TestSpread: a second instance of the app is made from the first one, the front divides the
// requests, weights and gather change that, and each undo leaves both hosts as they were.
func TestSpread(t *testing.T) {
	tier.Slow(t)
	c := newSpread(t)
	s := c.spreadSite()
	x, h := c.executor(s)
	before := c.spreadState()
	do := func(r iikanji.Remedy) *iikanji.Change {
		t.Helper()
		ch := c.plan(s, h, r)
		t.Logf("%s\n%s", ch.Says, change.Diff(ch))
		begin := time.Now()
		if err := x.Apply(t.Context(), ch.ID); err != nil {
			t.Fatal(err)
		}
		t.Logf("in %v", time.Since(begin))
		return ch
	}
	undo := func(ch *iikanji.Change) {
		t.Helper()
		if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.who(4); got["web"] != 4 {
		t.Fatalf("at first: %v", got)
	}
	prepare := do(spreading())
	if got := c.who(4); got["web"] != 4 {
		t.Errorf("prepared: %v", got)
	}
	if got := c.run("db", "sh", "-c", "cat /home/isucon/webapp/main.go | head -1; ls /home/isucon/webapp; stat -c %a /home/isucon/webapp/app"); strings.Contains(got, "older") || strings.Contains(got, "notes") || !strings.HasSuffix(got, "755") {
		t.Errorf("the copy is\n%s", got)
	}
	lead := do(spreading())
	if got := c.who(40); got["web"] < 10 || got["db"] < 10 {
		t.Errorf("spread: %v", got)
	}
	for range 8 {
		if got, err := c.front("/"); err != nil || got != "2 items from web" {
			t.Errorf("spread: %q, %v", got, err)
		}
	}
	if text, err := os.ReadFile(s.Placement); err != nil || !strings.Contains(string(text), `"db"`) {
		t.Errorf("%s %v", text, err)
	}
	if _, err := change.Plan(t.Context(), s, spreading()); !errors.Is(err, change.ErrNothing) {
		t.Errorf("once more: %v", err)
	}
	weights := do(iikanji.Remedy{Kind: "topology", Target: "isu-go", Args: changetest.Args("act", "weights", "service", "isu-go", "weights", "web=1,db=4")})
	if got := c.who(50); got["web"] < 5 || got["web"] > 15 {
		t.Errorf("with weights: %v", got)
	}
	gather := do(iikanji.Remedy{Kind: "topology", Target: "isu-go", Args: changetest.Args("act", "gather", "service", "isu-go")})
	if got := c.who(10); got["web"] != 10 {
		t.Errorf("gathered: %v", got)
	}
	if got := c.run("db", "sh", "-c", "systemctl is-active isu-go; :"); got != "inactive" {
		t.Errorf("gathered, the other instance is %q", got)
	}
	undo(gather)
	s.Initialize = func(context.Context) error { _, err := c.settle("/initialize"); return err } // as a benchmarker: by the front
	moved := do(iikanji.Remedy{Kind: "topology", Target: "isu-go", Args: changetest.Args("act", "gather", "service", "isu-go", "to", "db")})
	if got := c.who(10); got["db"] != 10 {
		t.Errorf("moved to db: %v", got)
	}
	if got := c.run("web", "sh", "-c", "systemctl is-active isu-go; :"); got != "inactive" {
		t.Errorf("moved to db, the app on web is %q", got)
	}
	if text, err := os.ReadFile(s.Placement); err != nil || !strings.Contains(string(text), `"host": "db"`) {
		t.Errorf("%s %v", text, err)
	}
	undo(moved)
	undo(weights)
	if got := c.who(40); got["web"] < 10 || got["db"] < 10 {
		t.Errorf("spread again: %v", got)
	}
	undo(lead)
	if got := c.who(4); got["web"] != 4 {
		t.Errorf("back: %v", got)
	}
	undo(prepare)
	if got := c.spreadState(); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
	if got, err := c.settle("/"); err != nil || got != "2 items from web" {
		t.Errorf("at the end: %q, %v", got, err)
	}
}

// TestSpreadRefused: what the app keeps on its host, and what the other host does not have, is
// named before anything is changed.
func TestSpreadRefused(t *testing.T) {
	tier.Slow(t)
	c := newSpread(t)
	s := c.spreadSite()
	source := c.run("web", "cat", "/home/isucon/webapp/main.go")
	write := func(name, path, text string) {
		t.Helper()
		if err := c.hosts[name].Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string, r iikanji.Remedy) {
		t.Helper()
		if _, err := change.Plan(t.Context(), s, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	before := c.spreadState()
	env := c.run("db", "cat", "/home/isucon/env")
	write("db", "/home/isucon/env", env+"\nX=1\n")
	refused("/home/isucon/env is another one on db than on web", spreading())
	write("db", "/home/isucon/env", env+"\n")
	refused("weights: \"x\" is not one of the hosts", spreading("weights", "x=2"))
	refused("apply step=prepare first", spreading("step", "switch"))
	refused("spread it over both hosts first", iikanji.Remedy{Kind: "topology", Target: "isu-go", Args: changetest.Args("act", "gather", "service", "isu-go", "to", "db")})
	counted := strings.Replace(source, "func main() {", "var served int\n\nfunc count(w http.ResponseWriter, r *http.Request) { served++; fmt.Fprint(w, served) }\n\nfunc main() {", 1)
	write("web", "/home/isucon/webapp/main.go", counted)
	line := 1 + strings.Count(source[:strings.Index(source, "func main() {")], "\n")
	refused(fmt.Sprintf("keeps memory on its host at main.go:%d (served): each instance would keep other values", line), spreading())
	write("web", "/home/isucon/webapp/main.go", source+"\n")
	if got := c.spreadState(); got != before {
		t.Errorf("refusing changed\n%s\nto\n%s", before, got)
	}
}

// TestSpreadKills: a process that is killed at any step of a spread is recovered from.
func TestSpreadKills(t *testing.T) {
	tier.Long(t, "61 kills take four minutes; every check cuts the connection at some of the same ops")
	c := newSpread(t)
	changetest.Run(t, changetest.Case{
		Dir: c.dir, Open: func(string) *change.Site { return c.spreadSite() },
		Policy:   iikanji.Policy{Allow: []iikanji.Promise{iikanji.Availability}},
		Remedies: map[string]iikanji.Remedy{"prepare": spreading("step", "prepare")},
		Effects:  map[string]string{"prepare": "91-iikanji-topology.conf"},
		Secrets:  []string{"prepare"}, // the digest of the account
		State:    func() (string, error) { return c.spreadState(), nil },
		Serves: func() error {
			got, err := c.settle("/")
			if err == nil && got != "2 items from web" {
				err = fmt.Errorf("%q", got)
			}
			return err
		},
		Disturb: c.disturb,
	})
}

// disturb edits a file by hand.
func (c *contest) disturb(op iikanji.Op) (func() error, error) {
	h := c.hosts[op.Host]
	if op.Verb != iikanji.Write || h == nil {
		return nil, nil
	}
	was, err := h.Read(op.Place)
	if err == nil {
		return func() error { return h.Write(op.Place, was, 0o644) }, h.Write(op.Place, append([]byte("# by hand\n"), was...), 0o644)
	}
	folder := filepath.Dir(op.Place)
	_, missing := h.Stat(folder)
	calm := func() error {
		err := h.Remove(op.Place)
		if missing != nil {
			err = errors.Join(err, h.Rmdir(folder))
		}
		return err
	}
	if missing != nil {
		if err := h.Mkdir(folder, 0o755); err != nil {
			return nil, err
		}
	}
	return calm, h.Write(op.Place, []byte("# by hand\n"), 0o644)
}

// TestSpreadCuts: a connection that is lost before, within or after an op of a spread: after
// recover both hosts are as before, to the byte.
func TestSpreadCuts(t *testing.T) {
	tier.Slow(t)
	c := newSpread(t)
	c.now, c.open = c.spreadState, c.spreadSite
	n := c.cutAll(spreading("step", "prepare"), 6)
	s := c.spreadSite()
	x, h := c.executor(s)
	prepare := c.plan(s, h, spreading("step", "prepare"))
	if err := x.Apply(t.Context(), prepare.ID); err != nil {
		t.Fatal(err)
	}
	n += c.cutAll(spreading("step", "switch"), 3)
	t.Logf("%d cuts", n)
	if n < 8 {
		t.Errorf("only %d cuts", n)
	}
}
