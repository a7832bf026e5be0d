package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestSqlcache makes the cache for an app, switches it on with the two lines of
// the page, builds the app and runs it against a real MariaDB: it prints the same
// as before, with hits.
func TestSqlcache(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	db, err := server.Open(t.Context(), "app")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const create = "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(50), at DATETIME DEFAULT CURRENT_TIMESTAMP)"
	dir := writeCachedApp(t, create)
	reset := func() {
		for _, text := range []string{"DROP TABLE IF EXISTS item", create, "INSERT INTO item (id, name, at) VALUES (1, '日本語', '2021-01-01')"} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	dsn := fmt.Sprintf("root@unix(%s)/app", server.Socket)
	reset()
	before := runApp(t, dir, "before", dsn)

	var out bytes.Buffer
	e := cacheEnv(t, &out)
	cmd := &sqlcacheCmd{Dir: dir, SQL: []string{filepath.Join(dir, "schema.sql")}, Write: "sqlcache", Strict: true}
	if err := cmd.Run(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kept   SELECT name FROM item WHERE id = ?", "now() may give another result", `sql.Open("mysql+cache", dsn)`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the answer has no %q:\n%s", want, out.String())
		}
	}
	swap(t, filepath.Join(dir, "main.go"), `sql.Open("mysql"`, `sql.Open("mysql+cache"`)
	swap(t, filepath.Join(dir, "main.go"), "import (", "import (\n\t_ \"example.com/app/sqlcache\"")
	put(t, filepath.Join(dir, "stats.go"), `package main

import (
	"fmt"

	"example.com/app/sqlcache"
)

func stats() { fmt.Println(sqlcache.Default) }
`)
	reset()
	after := runApp(t, dir, "after", dsn)
	lines, json, _ := strings.Cut(after, "{")
	if lines != before || !strings.Contains(before, "日本語\n日本語\n日本語\n日本語\n日本語\nnew new\n") {
		t.Errorf("the app prints\n%s\nwith the cache\n%s", before, lines)
	}
	if !regexp.MustCompile(`"kept":true,"hits":5,"misses":2`).MatchString(json) {
		t.Errorf("the counters are %s", json)
	}
}

func cacheEnv(t *testing.T, out *bytes.Buffer) *env {
	return &env{Stdin: strings.NewReader(""), Stdout: out, Stderr: t.Output(), Now: time.Now, Cols: 80}
}

func put(t *testing.T, name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func swap(t *testing.T, name, old, text string) {
	b, err := os.ReadFile(name)
	if err != nil || strings.Count(string(b), old) != 1 {
		t.Fatalf("%s has %q %d times, %v", name, old, strings.Count(string(b), old), err)
	}
	put(t, name, strings.Replace(string(b), old, text, 1))
}

func writeCachedApp(t *testing.T, create string) string {
	dir := t.TempDir()
	main, err := os.ReadFile("testdata/cachedapp/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`github.com/go-sql-driver/mysql (v\S+)`).FindStringSubmatch(string(own))
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "main.go"), string(main))
	put(t, filepath.Join(dir, "stats.go"), "package main\n\nfunc stats() {}\n")
	put(t, filepath.Join(dir, "schema.sql"), create+";\n")
	put(t, filepath.Join(dir, "go.mod"), fmt.Sprintf("module example.com/app\n\ngo 1.25\n\nrequire (\n\tgithub.com/go-sql-driver/mysql %s\n\tfilippo.io/edwards25519 v1.2.0 // indirect\n)\n", version[1]))
	put(t, filepath.Join(dir, "go.sum"), string(sums))
	return dir
}

func runApp(t *testing.T, dir, name, dsn string) string {
	bin := filepath.Join(t.TempDir(), name)
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", bin, ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the app: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin, dsn).CombinedOutput()
	if err != nil {
		t.Fatalf("running the app: %v\n%s", err, out)
	}
	return string(out)
}

// TestSqlcacheFile makes the cache for the same app with a file of SQLite.
func TestSqlcacheFile(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	const create = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP)"
	dir := writeCachedApp(t, create)
	own, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	module := regexp.MustCompile(`modernc.org/sqlite v\S+`).Find(own)
	swap(t, filepath.Join(dir, "go.mod"), "require (", "require (\n\t"+string(module))
	swap(t, filepath.Join(dir, "main.go"), `"github.com/go-sql-driver/mysql"`, `"modernc.org/sqlite"`)
	swap(t, filepath.Join(dir, "main.go"), `sql.Open("mysql"`, `sql.Open("sqlite"`)
	swap(t, filepath.Join(dir, "main.go"), "NOW()", "datetime('now')")
	file := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reset := func() {
		for _, text := range []string{"DROP TABLE IF EXISTS item", create, "INSERT INTO item (id, name, at) VALUES (1, '日本語', '2021-01-01')"} {
			if _, err := db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	reset()
	before := runApp(t, dir, "before", file)

	var out bytes.Buffer
	cmd := &sqlcacheCmd{Dir: dir, SQL: []string{filepath.Join(dir, "schema.sql")}, Write: "sqlcache", Driver: "sqlite"}
	if err := cmd.Run(context.Background(), cacheEnv(t, &out)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kept   SELECT name FROM item WHERE id = ?", "datetime() may give another result", `sql.Open("sqlite+cache", dsn)   instead of "sqlite"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the answer has no %q:\n%s", want, out.String())
		}
	}
	swap(t, filepath.Join(dir, "main.go"), `sql.Open("sqlite"`, `sql.Open("sqlite+cache"`)
	swap(t, filepath.Join(dir, "main.go"), "import (", "import (\n\t_ \"example.com/app/sqlcache\"")
	put(t, filepath.Join(dir, "stats.go"), "package main\n\nimport (\n\t\"fmt\"\n\n\t\"example.com/app/sqlcache\"\n)\n\nfunc stats() { fmt.Println(sqlcache.Default) }\n")
	reset()
	lines, json, _ := strings.Cut(runApp(t, dir, "after", file), "{")
	if lines != before || !strings.Contains(before, "日本語\nnew new\n") {
		t.Errorf("the app prints\n%s\nwith the cache\n%s", before, lines)
	}
	if !regexp.MustCompile(`"kept":true,"hits":5,"misses":2`).MatchString(json) {
		t.Errorf("the counters are %s", json)
	}
}

// TestSqlcacheRefuses: nothing is written over other files or outside of the
// module.
func TestSqlcacheRefuses(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	dir := writeCachedApp(t, "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(50), at DATETIME)")
	put(t, filepath.Join(dir, "other", "mine.go"), "package other\n")
	for write, want := range map[string]string{"other": "mine.go", "../x": "below the module", ".": "not of the package"} {
		cmd := &sqlcacheCmd{Dir: dir, SQL: []string{filepath.Join(dir, "schema.sql")}, Write: write, Strict: true}
		if err := cmd.Run(context.Background(), cacheEnv(t, &bytes.Buffer{})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--write %s: %v, want %q", write, err, want)
		}
	}
	none := &sqlcacheCmd{Dir: dir}
	if err := none.Run(context.Background(), cacheEnv(t, &bytes.Buffer{})); err == nil || !strings.Contains(err.Error(), "no definitions") {
		t.Errorf("without a schema: %v", err)
	}
}
