package rewrite

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

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

const fileSource = `func pool(name string) (*sql.DB, error) { return sql.Open("sqlite", name) }
`

// TestCacheSource: the edits that switch a query cache on.
func TestCacheSource(t *testing.T) {
	tier.Slow(t)
	type sourceCase struct {
		files map[string]string
		want  []string // of the files after the edits
	}
	cases := map[string]sourceCase{
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
		"files": {map[string]string{"main.go": program(fileSource + "\nfunc initialize() error { return exec.Command(\"init.sh\").Run() }")},
			[]string{`sql.Open("sqlite+cache", name)`, "defer sqlcache.Default.Outside()()"}},
		"files of the other driver": {map[string]string{"main.go": program(strings.ReplaceAll(fileSource, "sqlite", "sqlite3"))}, []string{`_ "example.org/app/sqlcache"`, `sql.Open("sqlite3+cache", name)`}},
		"files that are only read":  {map[string]string{"main.go": program(fileSource + "\nfunc read() (*os.File, error) { return os.OpenFile(\"a\", os.O_RDONLY, 0) }")}, []string{`"sqlite+cache"`}},
		"on already":                {map[string]string{"main.go": program("func pool() (*sql.DB, error) { return sql.Open(\"mysql+cache\", \"dsn\") }")}, nil},
	}
	apps := loadEach(t, cases, func(_ string, c sourceCase) map[string]string { return c.files })
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := apps[name].cache()
			if err != nil || len(got.Blockers) > 0 || got.Opens == 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			after, err := goapp.Apply(got.Files, got.Fixes)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, text := range after {
				all.Write(apps[name].text(text))
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
	tier.Slow(t)
	cases := map[string]map[string]string{}
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
		cases[name] = map[string]string{"main.go": program(body)}
	}
	for name, app := range loadCases(t, cases, nil) {
		t.Run(name, func(t *testing.T) {
			got, err := app.cache()
			if err != nil || len(got.Blockers) != 1 {
				t.Errorf("%+v, %v, want one blocker", got, err)
			}
		})
	}
}

// TestCacheFileBlockers: source in which a cache would not see every change of the files.
// An app that also has a pool to MySQL gets the cache for that pool: then the same source
// blocks nothing.
func TestCacheFileBlockers(t *testing.T) {
	tier.Slow(t)
	const driver = "package sqlite\n\ntype Driver struct{}\n\nfunc MustRegisterScalarFunction(name string) {}\n\ntype Error struct{ code int }\n\nfunc (e *Error) Error() string { return \"\" }\n\nfunc (e *Error) Code() int { return e.code }\n"
	type fileCase struct {
		body, imports string
		want          string // of the blocker; "" for none
	}
	cases := map[string]fileCase{
		"a file that is written":     {"func put() error { return os.WriteFile(\"a\", nil, 0o600) }", "os", "changes files by os.WriteFile"},
		"a file that is replaced":    {"func put(a, b string) error { return os.Rename(a, b) }", "os", "changes files by os.Rename"},
		"a function value":           {"var remove = os.Remove", "os", "changes files by os.Remove"},
		"a file opened for writing":  {"func put() (*os.File, error) { return os.OpenFile(\"a\", os.O_RDWR, 0) }", "os", "opens a file for writing"},
		"flags of a variable":        {"func put(flags int) (*os.File, error) { return os.OpenFile(\"a\", flags, 0) }", "os", "opens a file for writing"},
		"a file that is cut":         {"func cut(f *os.File) error { return f.Truncate(0) }", "os", "os.Truncate"},
		"a system call":              {"func remove() error { return syscall.Unlink(\"a\") }", "syscall", "changes files by syscall.Unlink"},
		"a connection of the driver": {"func raw(c *sql.Conn) error { return c.Raw(func(any) error { return nil }) }", "", "a connection of the driver"},
		"a function of SQL":          {"func add() { sqlite.MustRegisterScalarFunction(\"upper\") }", "modernc.org/sqlite", "sqlite.MustRegisterScalarFunction"},
		"a driver by itself":         {"var d sqlite.Driver", "modernc.org/sqlite", "sqlite.Driver"},
		"two drivers":                {"func other() (*sql.DB, error) { return sql.Open(\"sqlite3\", \"a\") }", "", "by two drivers, sqlite and sqlite3"},
		"a computed driver":          {"func other(d string) (*sql.DB, error) { return sql.Open(d, \"file:a\") }", "", "the name of the driver is not a constant"},
		"errors of the driver":       {"func code(err *sqlite.Error) int { return err.Code() }", "modernc.org/sqlite", ""},
		"new files":                  {"func put() (*os.File, error) { return os.CreateTemp(\"\", \"x\") }", "os", ""},
		"memory":                     {"func other() (*sql.DB, error) { return sql.Open(\"sqlite3\", \":memory:\") }", "", ""},
	}
	const withMySQL = ", with MySQL"
	sources := map[string]map[string]string{}
	for name, c := range cases {
		source := "package main\n\nimport (\n\t\"database/sql\"\n"
		if c.imports != "" {
			source += "\t\"" + c.imports + "\"\n"
		}
		for kind, pool := range map[string]string{"": fileSource, withMySQL: poolSource} {
			sources[name+kind] = map[string]string{"main.go": source + ")\n\n" + pool + "\n" + c.body + "\n\nfunc main() {}\n"}
		}
	}
	apps := loadCases(t, sources, map[string]map[string]string{"modernc.org/sqlite": {"driver.go": driver}})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := apps[name].cache()
			if err != nil || !got.OfFiles() || (c.want == "") != (len(got.Blockers) == 0) || !strings.Contains(strings.Join(got.Blockers, "\n"), c.want) {
				t.Errorf("%+v, %v, want the blocker %q", got, err, c.want)
			}
			if name == "a computed driver" {
				return // it may be that of MySQL as well as that of files
			}
			got, err = apps[name+withMySQL].cache()
			if err != nil || got.OfFiles() || len(got.Blockers) > 0 {
				t.Errorf("with MySQL: %+v, %v", got, err)
			}
		})
	}
}

// TestApp207: the place where a pool to MySQL or to files is opened, with the statements
// that read, and for other servers the reason; nothing with a cache, or where the app reaches its
// files by other ways.
func TestApp207(t *testing.T) {
	tier.Slow(t)
	read := poolSource + "\nfunc names(db *sql.DB) {\n\tdb.Query(\"SELECT name FROM user\")\n\tdb.Exec(\"DELETE FROM user\")\n\tdb.Query(\" select id from user where id = ?\", 1)\n}"
	type placeCase struct {
		body string
		want int // statements; -1 for no place
	}
	cases := map[string]placeCase{
		"mysql":          {read, 2},
		"nothing read":   {poolSource, 0},
		"sqlite3":        {strings.ReplaceAll(read, `"mysql"`, `"sqlite3"`), 2},
		"sqlite":         {strings.ReplaceAll(read, `"mysql"`, `"sqlite"`), 2},
		"cached sqlite":  {strings.ReplaceAll(read, `"mysql"`, `"sqlite+cache"`), -1},
		"in memory":      {strings.ReplaceAll(read, `"mysql", "dsn"`, `"sqlite", ":memory:"`), -1},
		"copied files":   {strings.ReplaceAll(read, `"mysql"`, `"sqlite"`) + "\n\nfunc initialize() error { return os.CopyFS(\"data\", os.DirFS(\"originals\")) }", -1},
		"workers":        {strings.ReplaceAll(read, `"mysql"`, `"sqlite"`) + "\n\nfunc start() error { return exec.Command(\"worker\").Start() }", -1},
		"beside MySQL":   {read + "\n\nfunc files() (*sql.DB, error) { return sql.Open(\"sqlite\", \"a\") }", 2},
		"postgres":       {strings.ReplaceAll(read, `"mysql"`, `"postgres"`), 2}, // whose reason names the driver
		"cached":         {strings.ReplaceAll(read, `"mysql"`, `"mysql+cache"`), -1},
		"computed":       {strings.ReplaceAll(read, `"mysql"`, `os.Args[1]`), -1},
		"another Open":   {"func Open(a, b string) {}\n\nfunc pool() { Open(\"mysql\", \"dsn\") }", -1},
		"only a mention": {"var engine = \"mysql\"", -1},
	}
	apps := loadEach(t, cases, func(_ string, c placeCase) map[string]string { return map[string]string{"main.go": program(c.body)} })
	for name, c := range cases {
		res, err := runOn(apps[name].dir, apps[name].pkgs, Facts{}, []*Lever{&queryCache})
		if err != nil || len(res.Problems) > 0 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		if c.want < 0 && len(res.Hits) == 0 {
			continue
		}
		if len(res.Hits) != 1 || len(res.Hits[0].Statements) != c.want || res.Hits[0].Func != "pool" || len(res.Hits[0].Variants) > 0 {
			t.Errorf("%s: %+v", name, res.Hits)
			continue
		}
		if told := strings.Contains(res.Hits[0].Reason.Text, "driver postgres"); told != (name == "postgres") {
			t.Errorf("%s: the reason %+v", name, res.Hits[0].Reason)
		}
	}
}
