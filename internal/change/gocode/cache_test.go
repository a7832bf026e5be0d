package gocode

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// cachedMain answers with the number of a member, and with how many queries for it
// reached the server since the app started. Each connection asks three times, and
// then changes the number.
const cachedMain = `package main

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		panic(err)
	}
	l, err := net.Listen("unix", os.Args[1])
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(c, answer(db), initialize())
		c.Close()
	}
}

func answer(db *sql.DB) string {
	text := ""
	for range 3 {
		n := 0
		if err := db.QueryRow("SELECT n FROM member WHERE id = ?", 7).Scan(&n); err != nil {
			return err.Error()
		}
		text += fmt.Sprint(n, " ")
	}
	if _, err := db.Exec("UPDATE member SET n = 1 - n WHERE id = ?", 7); err != nil {
		return err.Error()
	}
	n := 0
	if err := db.QueryRow("SELECT n FROM member WHERE id = ?", 7).Scan(&n); err != nil {
		return err.Error()
	}
	return text + fmt.Sprint(n)
}

func initialize() bool { return exec.Command("true").Run() == nil }
`

// A cachedApp is an app with a database of its own.
type cachedApp struct {
	testApp
	db *sql.DB
}

// fillMain is another program of the module, which fills the database: it is no part of
// what is served.
const fillMain = `package main

import (
	"database/sql"
	"os"

	_ "github.com/go-sql-driver/mysql"
)

func main() {
	db, err := sql.Open("mysql", os.Getenv("DSN"))
	if err != nil {
		panic(err)
	}
	if _, err := db.Exec("INSERT INTO member (id, n) VALUES (9, 0)"); err != nil {
		panic(err)
	}
}
`

// siteDatabase is a schema on a server of the test, filled by statements, and its DSN.
func siteDatabase(t *testing.T, statements ...string) (db *sql.DB, dsn string) {
	t.Helper()
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	if db, err = server.Open(t.Context(), "site"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, text := range statements {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = "root", "unix", server.Socket, "site"
	return db, c.FormatDSN()
}

func newCachedApp(t *testing.T) cachedApp {
	t.Helper()
	db, dsn := siteDatabase(t, "CREATE TABLE member (id BIGINT PRIMARY KEY, n INT NOT NULL); INSERT INTO member VALUES (7, 0), (8, 5)")
	files := map[string]string{"main.go": cachedMain, "fill/main.go": fillMain}
	for _, name := range []string{"go.mod", "go.sum"} { // of an app whose modules are in the module cache
		body, err := os.ReadFile(filepath.Join("../../rewrite/testdata/apps/chi", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.ReplaceAll(string(body), "\tgithub.com/go-chi/chi/v5 v5.5.0\n", "")
	}
	return cachedApp{testApp{changetest.NewApp(t, files, "DSN="+dsn)}, db}
}

// site is the site with a database besides the app.
func (a cachedApp) site() *change.Site {
	s := a.Open(a.Dir)
	s.Services["database"] = change.Service{Running: changetest.Running{Pool: a.db}}
	s.Target.Services = []iikanji.Service{{Name: changetest.Service, Role: iikanji.RoleApp, Engine: iikanji.EngineGo},
		{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Schema: "site"}}
	return s
}

var cacheRemedy = iikanji.Remedy{Kind: "gocode", Target: changetest.Service, Args: map[string]string{"levers": "APP207", "file": "main.go", "func": "main"}}

// selects counts the queries for the member that reached the server.
func (a cachedApp) selects(t *testing.T) int {
	t.Helper()
	var name string
	var n int
	if err := a.db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Com_select'").Scan(&name, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCache: a query cache is added to an app, answers from memory until a write, and
// goes again to the byte, with its folder.
func TestCache(t *testing.T) {
	tier.Slow(t)
	a := newCachedApp(t)
	reset := func() {
		t.Helper()
		if _, err := a.db.ExecContext(t.Context(), "UPDATE member SET n = 0 WHERE id = 7"); err != nil {
			t.Fatal(err)
		}
	}
	reset()
	before, err := a.State()
	if err != nil {
		t.Fatal(err)
	}
	asked := func(want string, queries int) {
		t.Helper()
		n := a.selects(t)
		got, err := a.Ask()
		if n = a.selects(t) - n; err != nil || got != want+"\n" || n != queries {
			t.Errorf("%q after %d queries, %v; want %q after %d", got, n, err, want, queries)
		}
	}
	asked("1 1 1 0 true", 4) // State has asked once
	site := a.site()
	c, ex := applyCache(t, site, a.Dir)
	if slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return strings.Contains(op.Location(), "/fill/") }) {
		t.Error("a program that is not served is changed, too")
	}
	asked("1 1 1 0 true", 2) // two of four answers come from memory
	asked("0 0 0 1 true", 2) // initialize has emptied it
	if _, err := change.Plan(t.Context(), site, cacheRemedy); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned again: %v", err)
	}
	if err := ex.Revert(t.Context(), c.ID, "a test"); err != nil {
		t.Fatal(err)
	}
	asked("0 0 0 1 true", 4)
	if _, err := os.Stat(a.Source(cacheFolder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the cache: %v", err)
	}
	reset()
	if after, err := a.State(); err != nil || after != before {
		t.Errorf("after the undo: %v\n%s\nwant\n%s", err, after, before)
	}
	a.unsafe(t)
}

// unsafe: sites at which a cache would not see every write are refused.
func (a cachedApp) unsafe(t *testing.T) {
	exec := func(statements ...string) func(*change.Site) {
		return func(*change.Site) {
			for _, s := range statements {
				if _, err := a.db.ExecContext(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(*change.Site)
		mend  func(*change.Site)
		want  string
	}{
		"another app": {func(s *change.Site) {
			s.Target.Services = append(s.Target.Services, iikanji.Service{Name: "worker", Role: iikanji.RoleApp})
		}, nil, "the app worker may write"},
		"a reset": {func(s *change.Site) { s.Target.Bench.Resets = true }, nil, "put back before each run"},
		"several processes": {func(s *change.Site) {
			edit(s, func(x *change.Service) { x.Running = listed(x.Running, 1, 2) })
		}, nil, "2 processes"},
		"no database": {func(s *change.Site) { delete(s.Services, "database") }, nil, "no MySQL or MariaDB"},
		"two databases": {func(s *change.Site) {
			s.Services["second"] = s.Services["database"]
			s.Target.Services = append(s.Target.Services, iikanji.Service{Name: "second", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMySQL})
		}, nil, "several databases"},
		"an event": {exec("SET GLOBAL event_scheduler = ON", "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO DELETE FROM member WHERE n > 9"),
			exec("DROP EVENT nightly", "SET GLOBAL event_scheduler = OFF"), "the event nightly"},
		"serializable transactions": {exec("SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE"),
			func(*change.Site) { exec("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ")(nil) }, "transactions are serializable"},
		"files of the app's own": {func(*change.Site) { a.Write(t, "sqlcache/mine.go", "package sqlcache\n") },
			func(*change.Site) { os.RemoveAll(a.Source("sqlcache")) }, "holds mine.go, which is not of the package"},
		"a program that goes on": {func(*change.Site) {
			a.Write(t, "worker.go", "package main\n\nimport \"os/exec\"\n\nfunc start() error { return exec.Command(\"worker\").Start() }\n")
		}, func(*change.Site) { os.Remove(a.Source("worker.go")) }, "worker.go:5: a program is started"},
	} {
		site := a.site()
		c.spoil(site)
		_, err := change.Plan(t.Context(), site, cacheRemedy)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.mend != nil {
			c.mend(site)
		}
	}
	with := cacheRemedy
	with.Args = map[string]string{"levers": "APP207,APP201", "file": "main.go"}
	if _, err := change.Match(with); err == nil || !strings.Contains(err.Error(), "stands alone") {
		t.Errorf("with another lever: %v", err)
	}
	if act, err := change.Match(cacheRemedy); err != nil || !act.Apart || !act.Rewrites {
		t.Errorf("%+v, %v", act, err)
	}
	if _, err := change.GoModule(host.Local{}, t.TempDir()); err == nil {
		t.Error("a folder without go.mod has a module")
	}
}

// edit changes the app of a site.
func edit(s *change.Site, how func(*change.Service)) {
	svc := s.Services[changetest.Service]
	how(&svc)
	s.Services[changetest.Service] = svc
}

// listed is what runs, as the processes of certain ids.
func listed(is change.Running, pids ...int) change.Running {
	r, _ := is.(changetest.Running)
	r.PIDs = func() []int { return pids }
	return r
}

// applyCache plans the cache of one statement and applies it. Its history is below dir.
func applyCache(t *testing.T, site *change.Site, dir string) (*iikanji.Change, *change.Executor) {
	t.Helper()
	c, err := change.Plan(t.Context(), site, cacheRemedy)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Weakens, []iikanji.Promise{iikanji.TestedOnly}) || !strings.Contains(c.Says, "keep the answers of 1 statements in a query cache") {
		t.Errorf("%s weakens %v", c.Says, c.Weakens)
	}
	return c, applyPlanned(t, site, dir, c)
}

// applyPlanned applies a change. Its history is below dir.
func applyPlanned(t *testing.T, site *change.Site, dir string, c *iikanji.Change) *change.Executor {
	t.Helper()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	ex := &change.Executor{Hands: site, Journal: h, Policy: iikanji.Policy{Allow: c.Weakens}}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	if err := ex.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	return ex
}
