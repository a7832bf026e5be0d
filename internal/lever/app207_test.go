package lever

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cacheModule writes a module with the standard library's pool only.
func cacheModule(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/app\n\ngo 1.24\n"
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// program wraps declarations into a package with all imports that they use.
func program(body string) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, p := range []string{"context", "database/sql", "database/sql/driver", "os", "os/exec"} {
		if name := p[strings.LastIndexByte(p, '/')+1:]; strings.Contains(body, name+".") {
			b.WriteString("\t\"" + p + "\"\n")
		}
	}
	b.WriteString(")\n\n" + body + "\n\nfunc main() {}\n")
	return b.String()
}

const poolSource = `func pool() (*sql.DB, error) { return sql.Open("mysql", "dsn") }
`

// TestCacheSource: the edits that switch a query cache on.
func TestCacheSource(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // of the files after the edits
	}{
		"opened":           {map[string]string{"main.go": program(poolSource)}, []string{`_ "example.org/app/sqlcache"`, `sql.Open("mysql+cache", "dsn")`}},
		"a named constant": {map[string]string{"main.go": program("const engine = \"mysql\"\n\nfunc pool() (*sql.DB, error) { return sql.Open(engine, \"dsn\") }")}, []string{`sql.Open("mysql+cache", "dsn")`}},
		"twice":            {map[string]string{"main.go": program(poolSource), "b.go": "package main\n\nimport \"database/sql\"\n\nvar other, _ = sql.Open(\"mysql\", \"b\")\n"}, []string{`sql.Open("mysql+cache", "b")`, `sql.Open("mysql+cache", "dsn")`}},
		"another engine":   {map[string]string{"main.go": program(poolSource + "\nfunc files() (*sql.DB, error) { return sql.Open(\"sqlite\", \"f\") }")}, []string{`sql.Open("sqlite", "f")`, `sql.Open("mysql+cache", "dsn")`}},
		"in a package": {map[string]string{"main.go": program("func other() {}"), "db/db.go": "package db\n\nimport \"database/sql\"\n\nfunc Open() (*sql.DB, error) { return sql.Open(\"mysql\", \"dsn\") }\n"},
			[]string{`_ "example.org/app/sqlcache"`}},
		"a program that is run": {map[string]string{"main.go": program(poolSource + "\nfunc initialize() error { return exec.Command(\"init.sh\").Run() }")},
			[]string{"\t\"example.org/app/sqlcache\"", "func initialize() error {\n\tdefer sqlcache.Default.Outside()() // a program may write to the database past the cache\n\treturn exec.Command"}},
		"a program with a folder": {map[string]string{"main.go": program(poolSource + "\nfunc initialize(ctx context.Context) error {\n\tcmd := exec.CommandContext(ctx, \"init.sh\")\n\tcmd.Dir = \"/\"\n\tcmd.Stdout = os.Stdout\n\treturn cmd.Run()\n}")},
			[]string{"defer sqlcache.Default.Outside()()"}},
		"a program that is waited for": {map[string]string{"main.go": program(poolSource + "\nfunc initialize() error {\n\tcmd := exec.Command(\"init.sh\")\n\tif err := cmd.Start(); err != nil {\n\t\treturn err\n\t}\n\treturn cmd.Wait()\n}")},
			[]string{"defer sqlcache.Default.Outside()()"}},
		"a program in a closure": {map[string]string{"main.go": program(poolSource + "\nvar initialize = func() ([]byte, error) { return exec.Command(\"init.sh\").CombinedOutput() }")},
			[]string{"func() ([]byte, error) {\n\tdefer sqlcache.Default.Outside()()"}},
		"on already, with a program": {map[string]string{"main.go": strings.Replace(program("func pool() (*sql.DB, error) { return sql.Open(\"mysql+cache\", \"dsn\") }\n\nfunc initialize() error {\n\tdefer sqlcache.Default.Outside()()\n\treturn exec.Command(\"init.sh\").Run()\n}"),
			"import (", "import (\n\t\"example.org/app/sqlcache\"", 1), "sqlcache/a.go": "package sqlcache\n\nimport \"database/sql\"\n\ntype cache struct{}\n\nfunc (cache) Outside() func() { sql.Register(\"x\", nil); return func() {} }\n\nvar Default cache\n"}, nil},
		"on already": {map[string]string{"main.go": program("func pool() (*sql.DB, error) { return sql.Open(\"mysql+cache\", \"dsn\") }")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cacheModule(t, c.files)
			got, err := Cache(context.Background(), dir, "example.org/app/sqlcache")
			if err != nil || len(got.Blockers) > 0 || got.Opens == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			after, err := Apply(got.Files, got.Fixes)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, text := range after {
				all.Write(text)
			}
			for _, want := range c.want {
				if !strings.Contains(all.String(), want) {
					t.Errorf("no %q in\n%s", want, &all)
				}
			}
			if len(c.want) == 0 && len(after) > 0 {
				t.Errorf("edited:\n%s", &all)
			}
		})
	}
}

// TestCacheBlockers: source in which a cache would not see every write.
func TestCacheBlockers(t *testing.T) {
	for name, body := range map[string]string{
		"the driver's name is computed":     "func pool(engine string) (*sql.DB, error) { return sql.Open(engine, \"dsn\") }",
		"a connector":                       poolSource + "\nfunc second(c driver.Connector) *sql.DB { return sql.OpenDB(c) }",
		"a driver of its own":               poolSource + "\nfunc add(d driver.Driver) { sql.Register(\"mine\", d) }",
		"a program that is not waited for":  poolSource + "\nfunc start() error {\n\tcmd := exec.Command(\"worker\")\n\treturn cmd.Start()\n}",
		"a program that is returned":        poolSource + "\nfunc command() *exec.Cmd { return exec.Command(\"worker\") }",
		"a program that is passed on":       poolSource + "\nfunc use(*exec.Cmd) {}\n\nfunc start() {\n\tcmd := exec.Command(\"worker\")\n\tuse(cmd)\n\tcmd.Run()\n}",
		"a program that another func runs":  poolSource + "\nfunc start() func() error {\n\tcmd := exec.Command(\"worker\")\n\treturn func() error { return cmd.Run() }\n}",
		"a program that is a method value":  poolSource + "\nfunc start() func() error {\n\tcmd := exec.Command(\"worker\")\n\treturn cmd.Run\n}",
		"a program at package level":        poolSource + "\nvar worker = exec.Command(\"worker\")",
		"a process":                         poolSource + "\nfunc start() {\n\tos.StartProcess(\"worker\", nil, nil)\n}",
		"a package with an error in types":  poolSource + "\nvar x int = \"\"",
		"a program that is only waited for": poolSource + "\nfunc start() error {\n\tcmd := exec.Command(\"worker\")\n\treturn cmd.Wait()\n}",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Cache(context.Background(), cacheModule(t, map[string]string{"main.go": program(body)}), "example.org/app/sqlcache")
			if err != nil || len(got.Blockers) != 1 {
				t.Errorf("%+v, %v, want one blocker", got, err)
			}
		})
	}
}

// TestApp207: the place where a pool to MySQL is opened, with the statements that
// read; nothing for other engines, or with a cache.
func TestApp207(t *testing.T) {
	read := poolSource + "\nfunc names(db *sql.DB) {\n\tdb.Query(\"SELECT name FROM user\")\n\tdb.Exec(\"DELETE FROM user\")\n\tdb.Query(\" select id from user where id = ?\", 1)\n}"
	for name, c := range map[string]struct {
		body string
		want int // statements; -1 for no place
	}{
		"mysql":          {read, 2},
		"nothing read":   {poolSource, 0},
		"sqlite":         {strings.ReplaceAll(read, `"mysql"`, `"sqlite3"`), -1},
		"cached":         {strings.ReplaceAll(read, `"mysql"`, `"mysql+cache"`), -1},
		"computed":       {strings.ReplaceAll(read, `"mysql"`, `os.Args[1]`), -1},
		"another Open":   {"func Open(a, b string) {}\n\nfunc pool() { Open(\"mysql\", \"dsn\") }", -1},
		"only a mention": {"var engine = \"mysql\"", -1},
	} {
		res, err := Run(t.Context(), cacheModule(t, map[string]string{"main.go": program(c.body)}), []string{"./..."}, Facts{}, []*Lever{newApp207(Facts{})})
		if err != nil || len(res.Problems) > 0 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		if c.want < 0 && len(res.Hits) == 0 {
			continue
		}
		if len(res.Hits) != 1 || len(res.Hits[0].Statements) != c.want || res.Hits[0].Func != "pool" || len(res.Hits[0].Variants) > 0 {
			t.Errorf("%s: %+v", name, res.Hits)
		}
	}
}
