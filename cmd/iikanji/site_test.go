package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// shopVariable adds the arena "shop" to a command of the tests. The arena starts
// quickly and has a place for each kind of change: a table, settings, a config,
// sources, static files.
const shopVariable = "IIKANJI_TEST_SHOP"

func shopArena() *arena.Arena {
	return &arena.Arena{
		Name: "shop",
		Files: fstest.MapFS{
			"go/main.go":          {Data: []byte(shopApp)},
			"go/word.go":          {Data: []byte(shopWord)},
			"nginx.conf":          {Data: []byte(strings.Replace(tinyConf, "    server {", "    include {{.Conf}}/nginx.d/*.conf;\n    server {", 1))},
			"public/assets/a.txt": {Data: []byte("an asset\n")},
			"sql/schema.sql":      {Data: []byte(shopSchema)},
			"sql/init.sh":         {Data: []byte(shopInit)},
		},
		Services: []arena.Service{
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Loads: []string{"sql"}, DropIns: "mariadb.d", Configs: []arena.Config{{File: "my.cnf"}},
				Database: arena.Database{Name: "shop", User: "shop", Password: "shop", Conf: "innodb_buffer_pool_size = 16M\n"}},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go", Load: "sql/init.sh", Programs: []string{"mariadb"},
				Env: func(p arena.Places) []string {
					return []string{fmt.Sprintf("PORT=%d", p.Service("app").Port), fmt.Sprintf("MYSQL_PORT=%d", p.Service("database").Port)}
				}},
			{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Public: "public", Configs: []arena.Config{{Template: "nginx.conf"}}},
		},
		Allow:    []iikanji.Promise{iikanji.Durability, iikanji.RowOrder, iikanji.Availability},
		Scenario: func(o arena.Options) (scenario.Scenario, error) { return &shopping{o.NoLoad}, nil },
		Ladder:   shopLadder,
	}
}

const shopApp = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.Handle("/assets/", http.FileServer(http.Dir("../public")))
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, word(), " ", os.Getenv("GREETING")) })
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
`

const shopWord = `package main

func word() string { return "hello" }
`

const shopSchema = `DROP TABLE IF EXISTS orders;
CREATE TABLE orders (id INT PRIMARY KEY, user INT NOT NULL, made DATETIME NOT NULL);
INSERT INTO orders VALUES (1, 2, '2026-01-02 03:04:05');
`

const shopInit = `#!/bin/sh
set -eu
cd "$(dirname "$0")"
MYSQL_PWD=shop mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$MYSQL_PORT" --user=shop shop <schema.sql
`

func init() {
	if os.Getenv(shopVariable) != "" {
		arena.Register(shopArena())
	}
}

// shop registers the arena in this process and returns a prepared work folder.
func shop(t *testing.T) (a *arena.Arena, dir string) {
	t.Helper()
	if _, known := arena.Find("shop"); !known {
		arena.Register(shopArena())
	}
	a, _ = arena.Find("shop")
	return a, preparedFolder(t, "shop")
}

// oneOfEach returns a remedy for each kind of change.
func oneOfEach() map[string]iikanji.Remedy {
	return map[string]iikanji.Remedy{
		"ddl":       {Kind: "ddl", Target: "database", Args: map[string]string{"act": "add index", "schema": "shop", "table": "orders", "columns": "user, made DESC"}},
		"mysqlconf": {Kind: "mysqlconf", Target: "database", Args: map[string]string{"innodb_flush_log_at_trx_commit": "2"}},
		"restart":   {Kind: "mysqlconf", Target: "database", Args: map[string]string{"max_connections": "77"}},
		"limits":    {Kind: "sysctl", Target: "nginx", Args: map[string]string{"act": "limits", "nofile": "2048"}},
		"appenv":    {Kind: "appenv", Target: "app", Args: map[string]string{"env.GOGC": "200"}},
		"nginxconf": {Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "upstream keepalive", "keepalive": "8"}},
		"patch": {Kind: "patch", Target: "app", Args: map[string]string{
			"diff": "--- a/word.go\n+++ b/word.go\n@@ -1,3 +1,3 @@\n package main\n \n-func word() string { return \"hello\" }\n+func word() string { return \"good day\" }\n"}},
	}
}

// everything returns the state that an undo must restore: the files below the
// written folders with their modes, the definition of the table, two variables.
func everything(t *testing.T, dir string, site *change.Site) map[string]string {
	t.Helper()
	state := filesBelow(t, dir)
	if site == nil {
		return state
	}
	conn, err := site.Services["database"].DB().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if state["table orders"], err = change.TableDefinition(t.Context(), conn, "shop.orders"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"innodb_flush_log_at_trx_commit", "max_connections"} {
		var value string
		if err := conn.QueryRowContext(t.Context(), "SELECT @@GLOBAL."+name).Scan(&value); err != nil {
			t.Fatal(err)
		}
		state["variable "+name] = value
	}
	return state
}

func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	state := map[string]string{}
	for _, root := range []string{"conf", "webapp"} {
		err := filepath.WalkDir(filepath.Join(dir, root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			b, err := os.ReadFile(path)
			state[path] = fmt.Sprintf("%v\n%s", info.Mode(), b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return state
}

// same tests that two states are equal.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for place := range got {
		if got[place] != want[place] {
			t.Errorf("%s: %s is\n%s\nwant\n%s", what, place, got[place], want[place])
		}
	}
	for place := range want {
		if _, there := got[place]; !there {
			t.Errorf("%s: %s is gone", what, place)
		}
	}
}

func differs(got, want map[string]string) bool {
	if len(got) != len(want) {
		return true
	}
	for place := range got {
		if got[place] != want[place] {
			return true
		}
	}
	return false
}

func get(url string) (string, error) {
	r, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK {
		err = errors.Join(err, errors.New(r.Status))
	}
	return string(b), err
}

// TestSite plans, applies and reverts a remedy of each kind on a running stack. After
// each, every byte is as before, and the site answers.
func TestSite(t *testing.T) {
	tier.Slow(t)
	a, dir := shop(t)
	s, err := stack.Up(t.Context(), a, stack.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Down(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	wired, closeSite, err := arenasite.Of(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := closeSite(); err != nil {
			t.Error(err)
		}
	}()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	w := &liveTarget{Subject: arenasite.New(a, s, wired)}
	for name, r := range oneOfEach() {
		t.Run(name, func(t *testing.T) { thereAndBack(t, dir, w, h, r) })
	}
	t.Run("checks", func(t *testing.T) { checksForReal(t, dir, wired) })
}

func thereAndBack(t *testing.T, dir string, w *liveTarget, h *history.History, r iikanji.Remedy) {
	before := everything(t, dir, w.Site())
	c, err := change.Plan(t.Context(), w.Site(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	same(t, "planned", everything(t, dir, w.Site()), before)
	x := w.executor(h)
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if !differs(everything(t, dir, w.Site()), before) {
		t.Error("applying changed nothing")
	}
	answer, err := get(w.URL())
	if err != nil {
		t.Errorf("with the change: %v", err)
	}
	if want := map[bool]string{true: "good day", false: "hello"}[r.Kind == "patch"]; !strings.HasPrefix(answer, want) {
		t.Errorf("with the change the site answers %q, want %q", answer, want)
	}
	if err := x.Revert(t.Context(), c.ID, "test"); err != nil {
		t.Fatal(err)
	}
	same(t, "undone", everything(t, dir, w.Site()), before)
	if answer, err := get(w.URL()); err != nil || !strings.HasPrefix(answer, "hello") {
		t.Errorf("after the undo the site answers %q, %v", answer, err)
	}
}

// checksForReal tests that the checks of services find errors in their configs, and
// that writes outside the site's folders are refused.
func checksForReal(t *testing.T, dir string, site *change.Site) {
	bad := filepath.Join(dir, "conf", ".iikanji-bad.cnf")
	edit(t, bad, "[mysqld]\nno_such_variable = 1\n")
	defer os.Remove(bad)
	if err := site.Services["database"].Running.CheckConfig(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "no_such_variable") {
		t.Errorf("a bad setting: %v", err)
	}
	edit(t, bad, "no_such_directive;\n")
	if err := site.Services["nginx"].Running.CheckConfig(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "no_such_directive") {
		t.Errorf("a bad directive: %v", err)
	}
	public, err := os.ReadFile(filepath.Join(site.Services["nginx"].Public, "assets", "a.txt"))
	if err != nil || string(public) != "an asset\n" {
		t.Errorf("the folder of static files: %q, %v", public, err)
	}
	if loads := site.Services["database"].Loads; len(loads) != 1 || filepath.Base(loads[0]) != "sql" {
		t.Errorf("initialize loads from %v", loads)
	}
	for _, place := range []string{"history/x", "state.json", "mariadb/ibdata1", "data/x"} {
		if err := site.Perform(t.Context(), iikanji.Op{Verb: iikanji.Write, Place: filepath.Join(dir, place)}); err == nil {
			t.Errorf("%s was written", place)
		}
	}
}

// remedyFile writes remedies to a file.
func remedyFile(t *testing.T, r ...iikanji.Remedy) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "remedies.json")
	edit(t, file, string(b))
	return file
}

// shell runs one command line in this process; another status than the given one
// ends the test.
func shell(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var errs lockedBuffer
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	got, out := command(ctx, &errs, args...)
	if got != status {
		t.Fatalf("iikanji %s: status %d, want %d\n%s\n%s", strings.Join(args, " "), got, status, out, errs.String())
	}
	return out, errs.String()
}

// TestByHand tunes a site with single commands: plan, apply, history, export, revert.
func TestByHand(t *testing.T) {
	tier.Slow(t)
	_, dir := shop(t)
	each := oneOfEach()
	all := remedyFile(t, each["ddl"], each["mysqlconf"], each["nginxconf"], each["patch"],
		iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "static files", "path": "/assets", "expires": "1d"}},
		iikanji.ByPerson("app", "another machine"), iikanji.Remedy{Kind: "ddl", Target: "elsewhere"})
	out, _ := shell(t, exitDone, "plan", "shop", "--dir", dir, "--file", all)
	for _, want := range []string{"5 of 7 remedies can be planned; nothing was changed", "#1 add index", "weakens: durability", "+innodb_flush_log_at_trx_commit = 2",
		"forbids weakening freshness", "not planned:", "#6 person on app: another machine\n    because: iikanji has no kind", "#7 ddl on elsewhere"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	original := filesBelow(t, dir)
	if _, err := os.Stat(filepath.Join(dir, "history")); err == nil {
		t.Error("planning made a history")
	}

	for i, kind := range []string{"ddl", "mysqlconf", "nginxconf", "patch"} {
		file := remedyFile(t, each[kind])
		if kind == "ddl" {
			out, _ := shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", file, "--dry-run")
			if !strings.Contains(out, "nothing was changed") {
				t.Errorf("--dry-run:\n%s", out)
			}
			same(t, "--dry-run", filesBelow(t, dir), original)
		}
		out, _ := shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", file)
		if want := fmt.Sprintf("change %d is applied; iikanji revert shop %d --dir %s undoes it", i+1, i+1, dir); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "webapp", "sql", "schema.sql")); err != nil || !strings.Contains(string(b), "(`user`,`made` DESC)") {
		t.Errorf("initialize would wipe the index out: %v\n%s", err, b)
	}
	byHandRefused(t, dir, each)
	byHandExported(t, dir)

	out, _ = shell(t, exitDone, "revert", "shop", "--dir", dir, "--all", "--json")
	var doc struct{ Reverted []iikanji.Change }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || len(doc.Reverted) != 4 || doc.Reverted[0].ID != 5 || doc.Reverted[3].Stage != iikanji.Reverted {
		t.Errorf("%v\n%s", err, out)
	}
	same(t, "revert --all", filesBelow(t, dir), original)
	out, _ = shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedyFile(t, each["nginxconf"]), "--no-keep")
	if !strings.Contains(out, "change 6 was applied and reverted") {
		t.Errorf("--no-keep:\n%s", out)
	}
	same(t, "--no-keep", filesBelow(t, dir), original)
	out, _ = shell(t, exitDone, "revert", "shop", "--dir", dir, "--all")
	if out != "no change is undone\n" {
		t.Errorf("nothing to revert: %q", out)
	}
}

// byHandRefused tests the refusals and their reasons.
func byHandRefused(t *testing.T, dir string, each map[string]iikanji.Remedy) {
	out, _ := shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedyFile(t, each["mysqlconf"]))
	if !strings.Contains(out, "nothing to change") {
		t.Errorf("applied twice:\n%s", out)
	}
	_, said := shell(t, exitFailed, "apply", "shop", "--dir", dir, "--file",
		remedyFile(t, iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: map[string]string{"act": "static files", "path": "/assets", "expires": "1d"}}))
	if !strings.Contains(said, "weakens freshness, which the target's policy does not allow") {
		t.Errorf("a promise that the policy keeps: %s", said)
	}

	conf := filepath.Join(dir, "conf", "nginx.conf")
	was, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, conf, string(was)+"# by hand\n")
	out, said = shell(t, exitFailed, "revert", "shop", "--dir", dir, "--all")
	if !strings.Contains(said, "+# by hand") || !strings.Contains(out, "change 4 is undone") || strings.Contains(out, "change 3 is undone") {
		t.Errorf("an edit since: %s\n%s", out, said)
	}
	edit(t, conf, string(was))
	shell(t, exitDone, "apply", "shop", "--dir", dir, "--file", remedyFile(t, each["patch"]))
	out, _ = shell(t, exitDone, "history", "shop", "--dir", dir, "--format", "tsv")
	for _, want := range []string{"1\tddl\tkept\t-\t-\t-\tadd index", "4\tpatch\treverted\t", "5\tpatch\tkept\t", "applied by hand, not judged"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, said = shell(t, exitFailed, "revert", "shop", "4", "--dir", dir)
	if !strings.Contains(said, "change 4 is reverted: there is nothing to undo") {
		t.Errorf("undone twice: %s", said)
	}
	_, said = shell(t, exitFailed, "revert", "shop", "44", "--dir", dir)
	if !strings.Contains(said, "no change 44") {
		t.Errorf("no such change: %s", said)
	}
}

// byHandExported exports the kept changes.
func byHandExported(t *testing.T, dir string) {
	into := filepath.Join(t.TempDir(), "out")
	out, _ := shell(t, exitDone, "export", "shop", into, "--dir", dir)
	if !strings.HasPrefix(out, "4 changes and ") {
		t.Errorf("%s", out)
	}
	for name, want := range map[string]string{"README.md": "| 1 | add index", "apply.sh": "require MARIADB_CONF_DIR", "files/webapp/go/word.go": "good day", "sql/0001.sql": "ALTER TABLE `shop`.`orders`"} {
		if b, err := os.ReadFile(filepath.Join(into, name)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v, no %q in\n%s", name, err, want, b)
		}
	}
	if b, err := os.ReadFile(filepath.Join(into, "apply.sh")); err != nil || strings.Contains(string(b), dir) {
		t.Errorf("apply.sh: %v\n%s", err, b)
	}
	_, said := shell(t, exitFailed, "export", "shop", into, "--dir", dir)
	if !strings.Contains(said, "is not empty") {
		t.Errorf("into a folder with something in it: %s", said)
	}
}

// stackOf is the stack of an arena that is up.
func stackOf(w *liveTarget) *stack.Stack { return w.Subject.(*arenasite.Subject).Stack }
