package export_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/export"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// root is the folder of the changes, which need not exist: an export reads no site.
const root = "/var/lib/somewhere/tiny"

const (
	oldNginx = "worker_processes auto;\nhttp {\n    access_log " + root + "/log/access.log;\n    server {\n        location / { proxy_pass http://127.0.0.1:81; }\n    }\n}\n"
	newNginx = "worker_processes auto;\nhttp {\n    access_log " + root + "/log/access.log;\n    server {\n        location / { proxy_pass http://127.0.0.1:81; }\n" +
		"        location /assets/ { root " + root + "/webapp/public; }\n    }\n}\n"
	oldApp = "package main\n\nfunc main() {\n\tone()\n}\n\nfunc two() {}\n" // edited by two changes
	midApp = "package main\n\nfunc main() {\n\tone()\n}\n\nfunc two() { fast() }\n"
	newApp = "package main\n\n// it's $HOME & <fast>\nfunc main() {\n\tone()\n}\n\nfunc two() { fast() }"
)

// A past is a history that a test fills.
type past struct {
	t *testing.T
	h *history.History
}

func newPast(t *testing.T) *past {
	t.Helper()
	h, err := history.Open(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &past{t, h}
}

// add saves a change and moves it through stages.
func (p *past) add(c *iikanji.Change, stages ...iikanji.Stage) iikanji.ChangeID {
	p.t.Helper()
	if err := change.Check(c); err != nil {
		p.t.Fatal(err)
	}
	if err := p.h.AddChange(c, change.Diff(c)); err != nil {
		p.t.Fatal(err)
	}
	p.move(c.ID, stages...)
	return c.ID
}

func (p *past) move(id iikanji.ChangeID, stages ...iikanji.Stage) {
	p.t.Helper()
	for _, s := range stages {
		if err := p.h.MoveChange(id, s, ""); err != nil {
			p.t.Fatal(err)
		}
	}
}

var (
	keptStages     = []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Kept}
	revertedStages = []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Reverting, iikanji.Reverted}
)

func edits(kind, target, says string, notice iikanji.Verb, e ...change.Edit) *iikanji.Change {
	c := &iikanji.Change{Kind: kind, Target: target, Says: says}
	for i := range e {
		e[i].Path = root + "/" + e[i].Path
	}
	change.FromEdits(c, notice, e...)
	return c
}

func index() *iikanji.Change {
	before, after := change.FingerprintOf([]byte("before")), change.FingerprintOf([]byte("after"))
	place := change.TablePlace("database", "shop", "orders")
	return &iikanji.Change{Kind: "ddl", Target: "database", Says: "add index by_user\non shop.orders", Ground: before, Answers: "DB101",
		Do:      []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: "ALTER TABLE `shop`.`orders` ADD INDEX `by_user` (`user`)", Expect: before}},
		Undo:    []iikanji.Op{{Verb: iikanji.SQL, Place: place, Body: "ALTER TABLE `shop`.`orders` DROP INDEX `by_user`", Expect: after}},
		Weakens: []iikanji.Promise{iikanji.RowOrder}}
}

// fill adds every kind of change, and changes that must not be exported. Change 2
// is applied after change 3.
func (p *past) fill() {
	p.add(index(), keptStages...)
	app2 := edits("patch", "app", "second patch", iikanji.Restart, change.Edit{Path: "webapp/go/main.go", Old: []byte(midApp), New: []byte(newApp)})
	p.add(app2)
	p.add(edits("patch", "app", "first patch", iikanji.Restart, change.Edit{Path: "webapp/go/main.go", Old: []byte(oldApp), New: []byte(midApp)}), keptStages...)
	p.move(2, keptStages...)
	nginx := edits("nginxconf", "nginx", "serve /assets/ from files", iikanji.Reload, change.Edit{Path: "conf/nginx.conf", Old: []byte(oldNginx), New: []byte(newNginx)})
	p.add(nginx, keptStages...)
	p.add(edits("mysqlconf", "database", "set innodb_flush_log_at_trx_commit = 2", iikanji.Restart,
		change.Edit{Path: "conf/mariadb.d/iikanji.cnf", New: []byte("[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n")}), keptStages...)
	p.add(edits("appenv", "app", "give the app its socket", iikanji.Restart, change.Edit{Path: "conf/app.env", New: []byte("DSN=unix(" + root + "/run/db.sock)\n")}), keptStages...)
	p.add(edits("patch", "app", "drop a file", iikanji.Restart, change.Edit{Path: "webapp/it's old.txt", Old: []byte("old\n")}), keptStages...)
	p.add(edits("mysqlconf", "database", "not this", iikanji.Restart, change.Edit{Path: "conf/my.cnf", Old: []byte("a\n"), New: []byte("b\n")}), revertedStages...)
	if err := p.h.SaveVerdict(1, &iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, Effect: iikanji.Interval{Mid: 0.2, Lo: 0.1, Hi: 0.3, Level: 0.9},
		Work: []iikanji.Work{{Name: "rows read", Effect: iikanji.Interval{Mid: -0.7, Lo: -0.8, Hi: -0.6, Level: 0.9}}}, Why: "a proof <b>"}); err != nil {
		p.t.Fatal(err)
	}
}

var places = []export.Place{
	{Path: "conf/nginx.conf", Var: "NGINX_CONF", Says: "nginx's file"},
	{Path: "conf/mariadb.d", Var: "MARIADB_CONF_DIR", Says: "the database's folder"},
	{Path: "conf/app.env", Var: "APP_ENV", Says: "the app's environment"},
	{Path: "webapp", Var: "WEBAPP", Says: "the app's folder"},
	{Path: "run", Var: "RUN_DIR", Says: "the sockets' folder"},
}

func write(t *testing.T, p *past) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	r, err := export.Write(dir, p.h, export.Options{Name: "tiny", Root: root, Places: places})
	if err != nil {
		t.Fatal(err)
	}
	if want := []iikanji.ChangeID{1, 3, 2, 4, 5, 6, 7}; !slices.Equal(r.Changes, want) {
		t.Errorf("changes %v, want %v in the order of their application", r.Changes, want)
	}
	return dir
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWhatIsWritten: files are whole and in their final state, and no portable file
// contains the path of the stack's folder.
func TestWhatIsWritten(t *testing.T) {
	p := newPast(t)
	p.fill()
	dir := write(t, p)
	for name, want := range map[string]string{
		"files/conf/nginx.conf":            newNginx,
		"files/webapp/go/main.go":          newApp,
		"files/conf/mariadb.d/iikanji.cnf": "[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n",
		"portable/conf/app.env":            "DSN=unix(@IIKANJI_RUN_DIR@/db.sock)\n",
		"sql/0001.sql":                     "-- change 1: add index by_user on shop.orders\nALTER TABLE `shop`.`orders` ADD INDEX `by_user` (`user`);\n",
		"sql/0001.undo.sql":                "-- change 1: add index by_user on shop.orders\nALTER TABLE `shop`.`orders` DROP INDEX `by_user`;\n",
	} {
		if got := read(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
		}
	}
	readme := read(t, filepath.Join(dir, "README.md"))
	for _, want := range []string{"| 1 | add index by\\_user on shop.orders | +22.1 % (+10.5 to +35.0) | keep (proven) |", "| 3 | first patch | - | by hand, not judged |",
		"- row order: ", "+        location /assets/ { root @IIKANJI_WEBAPP@/public; }", "--- a/conf/nginx.conf", "- rows read per request: -50.3 %", "a proof &lt;b>"} {
		if !strings.Contains(readme, want) {
			t.Errorf("no %q in\n%s", want, readme)
		}
	}
	if strings.Contains(readme, "not this") {
		t.Error("a reverted change was exported")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info, e := d.Info(); e != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v: others can read it", path, info.Mode(), e)
		}
		if rel, _ := filepath.Rel(dir, path); err == nil && !d.IsDir() && !strings.HasPrefix(rel, "files"+string(filepath.Separator)) {
			if strings.Contains(read(t, path), root) {
				t.Errorf("%s names %s", rel, root)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := export.Write(dir, p.h, export.Options{Root: root}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second export into the same folder: %v", err)
	}
	if _, err := export.Write(t.TempDir(), p.h, export.Options{Root: "/elsewhere"}); err == nil || !strings.Contains(err.Error(), "not in the folder") {
		t.Errorf("a root that does not contain the changes: %v", err)
	}
	if _, err := export.Write(t.TempDir(), newPast(t).h, export.Options{Root: root}); !errors.Is(err, export.ErrNothing) {
		t.Errorf("an empty history: %v", err)
	}
}

// A target stands for another machine: a folder and a real MariaDB.
type target struct {
	t     *testing.T
	dir   string
	out   string // the export
	db    *sql.DB
	env   []string
	start map[string]string
}

func newTarget(t *testing.T, out string) *target {
	t.Helper()
	s, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	db, err := s.Open(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE orders (id INT PRIMARY KEY, user INT)"); err != nil {
		t.Fatal(err)
	}
	g := &target{t: t, dir: filepath.Join(t.TempDir(), "a|b & c"), out: out, db: db} // characters that are special to sed
	g.start = map[string]string{
		"nginx.conf":         "# another machine's\n" + strings.ReplaceAll(oldNginx, root+"/log", "/var/log/nginx"),
		"app/go/main.go":     oldApp,
		"app/it's old.txt":   "old\n",
		"conf.d/distant.cnf": "[mysqld]\n",
	}
	for name, text := range g.start {
		g.write(name, text)
	}
	g.env = []string{"PATH=" + os.Getenv("PATH"), "NGINX_CONF=" + g.dir + "/nginx.conf", "MARIADB_CONF_DIR=" + g.dir + "/conf.d", "APP_ENV=" + g.dir + "/app.env",
		"WEBAPP=" + g.dir + "/app", "RUN_DIR=/run/shop", "NGINX_CHECK=true", "DB_CLIENT=mariadb --no-defaults --user=root --socket=" + s.Socket}
	return g
}

func (g *target) write(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		g.t.Fatal(err)
	}
}

// run runs a script of the export and checks its exit status.
func (g *target) run(status int, env []string, args ...string) string {
	g.t.Helper()
	cmd := exec.CommandContext(g.t.Context(), "sh", args...)
	cmd.Dir, cmd.Env = "/", env
	cmd.Args[1] = filepath.Join(g.out, cmd.Args[1])
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		g.t.Fatalf("%v: status %d (%v), want %d\n%s", args, got, err, status, out)
	}
	return string(out)
}

// state returns every file with its mode, and the table.
func (g *target) state() map[string]string {
	g.t.Helper()
	state := map[string]string{}
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		rel, _ := filepath.Rel(g.dir, path)
		state[rel] = info.Mode().String() + "\n" + read(g.t, path)
		return err
	})
	var name, table string
	if err == nil {
		err = g.db.QueryRowContext(g.t.Context(), "SHOW CREATE TABLE orders").Scan(&name, &table)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	state["orders"] = table
	return state
}

func (g *target) unchanged(what string, before map[string]string) {
	g.t.Helper()
	now := g.state()
	for name := range now {
		if now[name] != before[name] {
			g.t.Errorf("%s: %s is\n%s\nwant\n%s", what, name, now[name], before[name])
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			g.t.Errorf("%s: %s is gone", what, name)
		}
	}
}

// TestElsewhere applies an export to another machine with the scripts alone, and
// undoes it to the byte.
func TestElsewhere(t *testing.T) {
	p := newPast(t)
	p.fill()
	g := newTarget(t, write(t, p))
	before := g.state()

	said := g.run(2, []string{"PATH=" + os.Getenv("PATH")}, "apply.sh", "--yes")
	for _, want := range []string{"NGINX_CONF: nginx's file", "DB_CLIENT: ", "RUN_DIR: ", "sql     ALTER TABLE", "patch   $NGINX_CONF", "new     $MARIADB_CONF_DIR/iikanji.cnf"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	if said := g.run(0, g.env, "apply.sh"); !strings.Contains(said, "Nothing was changed") {
		t.Errorf("without --yes:\n%s", said)
	}
	g.unchanged("before --yes", before)

	g.applied(g.run(0, g.env, "apply.sh", "--yes"))
	if info, err := os.Stat(filepath.Join(g.out, "backup")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the backup: %v, %v", info, err)
	}
	after := g.state()
	if said := g.run(1, g.env, "apply.sh", "--yes"); !strings.Contains(said, "already") {
		t.Errorf("a second time:\n%s", said)
	}
	g.unchanged("applied twice", after)

	g.write("nginx.conf", after["nginx.conf"]+"# by hand\n")
	moved := g.state()
	if said := g.run(1, g.env, "undo.sh"); !strings.Contains(said, "+# by hand") || !strings.Contains(said, "was edited since apply.sh") {
		t.Errorf("undone over an edit:\n%s", said)
	}
	g.unchanged("refused", moved)
	_, text, _ := strings.Cut(after["nginx.conf"], "\n")
	g.write("nginx.conf", text)
	g.run(0, g.env, "undo.sh")
	g.unchanged("undone", before)
	if said := g.run(1, g.env, "undo.sh"); !strings.Contains(said, "nothing was applied") {
		t.Errorf("undone twice:\n%s", said)
	}
}

func (g *target) applied(said string) {
	g.t.Helper()
	state := g.state()
	for name, want := range map[string]string{
		"nginx.conf":         "location /assets/ { root " + g.dir + "/app/public; }",
		"app/go/main.go":     newApp,
		"conf.d/iikanji.cnf": "innodb_flush_log_at_trx_commit = 2",
		"app.env":            "DSN=unix(/run/shop/db.sock)\n",
		"orders":             "KEY `by_user` (`user`)",
	} {
		if !strings.Contains(state[name], want) {
			g.t.Errorf("%s has no %q:\n%s", name, want, state[name])
		}
	}
	if _, there := state["app/it's old.txt"]; there {
		g.t.Error("a removed file exists")
	}
	if !strings.HasPrefix(state["nginx.conf"], "-rw-r-----") {
		g.t.Errorf("nginx.conf lost its mode: %s", state["nginx.conf"][:10])
	}
	for _, want := range []string{"restart database", "reload nginx", "restart app"} {
		if !strings.Contains(said, want) {
			g.t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// TestElsewhereRefused: a patch that does not fit is found before any file is
// changed, and after a refused statement everything can be undone.
func TestElsewhereRefused(t *testing.T) {
	tier.Slow(t)
	p := newPast(t)
	p.fill()
	g := newTarget(t, write(t, p))
	g.write("app/go/main.go", "package main\n\n// quite another program\n")
	before := g.state()
	if said := g.run(1, g.env, "apply.sh", "--yes"); !strings.Contains(said, "does not fit") {
		t.Errorf("a patch that does not fit:\n%s", said)
	}
	g.unchanged("a patch that does not fit", before)

	g.write("app/go/main.go", oldApp)
	if _, err := g.db.ExecContext(t.Context(), "ALTER TABLE orders ADD INDEX by_user (id)"); err != nil {
		t.Fatal(err)
	}
	before = g.state()
	if said := g.run(1, g.env, "apply.sh", "--yes"); !strings.Contains(said, "Duplicate key name") || !strings.Contains(said, "undo.sh undoes what was done") {
		t.Errorf("a statement that is refused:\n%s", said)
	}
	if bytes.Equal([]byte(g.state()["nginx.conf"]), []byte(before["nginx.conf"])) {
		t.Fatal("nothing was done before the statement: the test proves nothing")
	}
	g.run(0, g.env, "undo.sh")
	g.unchanged("undone from the middle", before)
}
