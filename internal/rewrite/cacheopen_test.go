package rewrite

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/goapp"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// openerModules are packages with the shapes of those that open pools.
var openerModules = map[string]map[string]string{
	"github.com/go-sql-driver/mysql":  {"d.go": "package mysql\n\nimport \"database/sql/driver\"\n\ntype MySQLDriver struct{ driver.Driver }\n\ntype Config struct{ User string }\n\nfunc NewConfig() *Config { return nil }\n\nfunc NewConnector(c *Config) (driver.Connector, error) { return nil, nil }\n"},
	"github.com/mattn/go-sqlite3":     {"d.go": "package sqlite3\n\nimport \"database/sql/driver\"\n\ntype SQLiteDriver struct {\n\tdriver.Driver\n\tExtensions []string\n}\n"},
	"github.com/lib/pq":               {"d.go": "package pq\n"},
	"example.org/proxy":               {"d.go": "package proxy\n\nimport \"database/sql/driver\"\n\nfunc New(d driver.Driver, log func(string)) driver.Driver { return d }\n"},
	"github.com/XSAM/otelsql":         {"d.go": "package otelsql\n\nimport \"database/sql\"\n\nfunc Open(name, dsn string, options ...any) (*sql.DB, error) { return nil, nil }\n"},
	"go.elastic.co/apm/module/apmsql": {"d.go": "package apmsql\n\nimport \"database/sql\"\n\nfunc Open(name, dsn string) (*sql.DB, error) { return nil, nil }\n"},
	"gorm.io/driver/mysql":            {"d.go": "package mysql\n\ntype Config struct{ DriverName, DSN string; Conn any }\n\nfunc Open(dsn string) any { return nil }\n\nfunc New(c Config) any { return nil }\n"},
	"github.com/jinzhu/gorm":          {"d.go": "package gorm\n\nfunc Open(dialect string, args ...any) (any, error) { return nil, nil }\n", "dialects/mysql/d.go": "package mysql\n"},
	"entgo.io/ent":                    {"dialect/sql/d.go": "package sql\n\ntype Driver struct{}\n\nfunc Open(dialect, source string) (*Driver, error) { return nil, nil }\n"},
	"xorm.io/xorm":                    {"d.go": "package xorm\n\nfunc NewEngine(name, dsn string) (any, error) { return nil, nil }\n"},
}

// opening is source with the packages that it names imported under their names.
func opening(body string) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for name, p := range map[string]string{"sql": "database/sql", "os": "os", "driver": "database/sql/driver", "sqlite3": "github.com/mattn/go-sqlite3", "proxy": "example.org/proxy",
		"otelsql": "github.com/XSAM/otelsql", "apmsql": "go.elastic.co/apm/module/apmsql", "xorm": "xorm.io/xorm", "oldgorm": "github.com/jinzhu/gorm",
		"mysql": "github.com/go-sql-driver/mysql", "gormmysql": "gorm.io/driver/mysql", "entsql": "entgo.io/ent/dialect/sql"} {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(body) {
			b.WriteString("\t" + name + " \"" + p + "\"\n")
		}
	}
	return b.String() + ")\n\n" + body + "\n\nfunc main() {}\n"
}

// TestOpeningForms: the cache is put above the driver in each form in which a pool is opened.
func TestOpeningForms(t *testing.T) {
	tier.Slow(t)
	const onlyMySQL = "\n\nvar _ = mysql.NewConfig"
	type form struct {
		body    string
		want    string // in the source after the edits
		blocked string // part of the first blocker
		files   bool   // the cache is for files
	}
	cases := map[string]form{
		"a connector":                  {body: "func pool(c *mysql.Config) *sql.DB {\n\tx, _ := mysql.NewConnector(c)\n\treturn sql.OpenDB(x)\n}", want: `sql.OpenDB(sqlcache.Default.Connector(x, "mysql"))`},
		"a connector, one driver":      {body: "func pool(c driver.Connector) *sql.DB { return sql.OpenDB(c) }" + onlyMySQL, want: `sql.OpenDB(sqlcache.Default.Connector(c, "mysql"))`},
		"a connector, two drivers":     {body: "func pool(c driver.Connector) *sql.DB { return sql.OpenDB(c) }" + onlyMySQL + "\n\nvar _ sqlite3.SQLiteDriver", blocked: "by a connector"},
		"serializable":                 {body: "func pool(addr string) (*sql.DB, error) {\n\treturn sql.Open(\"mysql\", \"app@tcp(\"+addr+\")/app?transaction_isolation=%27SERIALIZABLE%27\")\n}", blocked: "serializable transactions"},
		"a name of the environment":    {body: "func pool() (*sql.DB, error) { return sql.Open(os.Getenv(\"DRIVER\"), \"dsn\") }" + onlyMySQL, want: `sql.Open(sqlcache.Default.Driver(os.Getenv("DRIVER")), "dsn")`},
		"a name by a function":         {body: "func name() string { return \"mysql\" }\n\nfunc pool() (*sql.DB, error) { return sql.Open(name(), \"dsn\") }", want: `sql.Open(sqlcache.Default.Driver(name()), "dsn")`},
		"registered":                   {body: "func init() { sql.Register(\"logged\", proxy.New(&mysql.MySQLDriver{}, nil)) }\n\nfunc pool() (*sql.DB, error) { return sql.Open(\"logged\", \"dsn\") }", want: `sql.Open(sqlcache.Default.Driver("logged"), "dsn")`},
		"registered by a variable":     {body: "func init() {\n\tvar d driver.Driver = &mysql.MySQLDriver{}\n\tif os.Getenv(\"LOG\") != \"\" {\n\t\td = proxy.New(d, nil)\n\t}\n\tsql.Register(\"logged\", d)\n}\n\nfunc pool() (*sql.DB, error) { return sql.Open(\"logged\", \"dsn\") }", want: `sqlcache.Default.Driver("logged")`},
		"a struct of its own":          {body: "type logged struct{ *mysql.MySQLDriver }\n\nfunc init() { sql.Register(\"logged\", logged{}) }\n\nfunc pool() (*sql.DB, error) { return sql.Open(\"logged\", \"dsn\") }", want: `sqlcache.Default.Driver("logged")`},
		"files by a proxy in a branch": {body: "func name() (string, error) {\n\tif os.Getenv(\"TRACE\") == \"\" {\n\t\treturn \"sqlite3\", nil\n\t}\n\tn := \"traced\"\n\tsql.Register(n, proxy.New(&sqlite3.SQLiteDriver{}, nil))\n\treturn n, nil\n}\n\nfunc pool() (*sql.DB, error) {\n\tn, err := name()\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn sql.Open(n, \"file:a\")\n}", want: `sql.Open(sqlcache.Default.Driver(n), "file:a")`, files: true},
		"files beside MySQL":           {body: poolSource + "\nfunc init() { sql.Register(\"traced\", proxy.New(&sqlite3.SQLiteDriver{}, nil)) }\n\nfunc files() (*sql.DB, error) { return sql.Open(\"traced\", \"file:a\") }", want: `sql.Open("mysql+cache", "dsn")`},
		"files with functions of SQL":  {body: "func init() { sql.Register(\"traced\", &sqlite3.SQLiteDriver{Extensions: []string{\"a\"}}) }\n\nfunc files() (*sql.DB, error) { return sql.Open(\"traced\", \"file:a\") }", blocked: "a driver of its own"},
		"traced":                       {body: "func pool() (*sql.DB, error) { return otelsql.Open(\"mysql\", \"dsn\") }", want: `otelsql.Open("mysql+cache", "dsn")`},
		"traced by a driver of theirs": {body: "func pool() (*sql.DB, error) { return apmsql.Open(\"mysql\", \"dsn\") }", blocked: "wraps the driver"},
		"gorm":                         {body: "func pool(dsn string) any { return gormmysql.Open(dsn) }", want: `gormmysql.New(gormmysql.Config{DriverName: "mysql+cache", DSN: dsn})`},
		"gorm's configuration":         {body: "func pool(dsn string) any { return gormmysql.New(gormmysql.Config{DSN: dsn}) }", want: `gormmysql.New(gormmysql.Config{DriverName: "mysql+cache", DSN: dsn})`},
		"gorm's driver":                {body: "func pool(dsn string) any { return gormmysql.New(gormmysql.Config{DriverName: \"mysql\", DSN: dsn}) }", want: `DriverName: "mysql+cache"`},
		"gorm on a pool":               {body: poolSource + "\n\nfunc orm(db *sql.DB) any { return gormmysql.New(gormmysql.Config{Conn: db}) }", want: `sql.Open("mysql+cache", "dsn")`},
		"gorm by a variable":           {body: poolSource + "\n\nfunc orm(c gormmysql.Config) any { return gormmysql.New(c) }", blocked: "no literal"},
		"the first gorm":               {body: "func pool(dsn string) (any, error) { return oldgorm.Open(\"mysql\", dsn) }", want: `oldgorm.Open("mysql", sqlcache.Default.Driver("mysql"), dsn)`},
		"the first gorm, by settings":  {body: "func pool(dsn string) (any, error) { return oldgorm.Open(os.Getenv(\"DB\"), dsn) }" + onlyMySQL + "\n\nvar _ sqlite3.SQLiteDriver", want: `oldgorm.Open(os.Getenv("DB"), sqlcache.Default.Driver(os.Getenv("DB")), dsn)`},
		"the first gorm on a pool":     {body: poolSource + "\n\nfunc orm(db *sql.DB) (any, error) { return oldgorm.Open(\"mysql\", db) }", want: `sql.Open("mysql+cache", "dsn")`},
		"a name of two drivers":        {body: "func pool() (*sql.DB, error) { return sql.Open(os.Getenv(\"DRIVER\"), \"dsn\") }" + onlyMySQL + "\n\nvar _ sqlite3.SQLiteDriver", want: `sql.Open(sqlcache.Default.Driver(os.Getenv("DRIVER")), "dsn")`},
		"ent":                          {body: "func pool() (any, error) { return entsql.Open(\"mysql\", \"dsn\") }", want: `entsql.Open("mysql+cache", "dsn")`},
		"xorm":                         {body: poolSource + "\n\nfunc orm() (any, error) { return xorm.NewEngine(\"mysql\", \"dsn\") }", blocked: "xorm.io/xorm opens connections of its own"},
		"a function value":             {body: poolSource + "\n\nvar open = sql.Open", blocked: "used as a value"},
		"an unknown driver":            {body: poolSource + "\n\nfunc other() (*sql.DB, error) { return sql.Open(\"proprietary\", \"dsn\") }", blocked: `what the driver "proprietary" reaches`},
		"text like a DSN":              {body: poolSource + "\n\nvar format = \"%v:%v@tcp(%v:%v)/%v\"", want: `sql.Open("mysql+cache", "dsn")`},
	}
	sources := map[string]map[string]string{}
	for name, c := range cases {
		sources[name] = map[string]string{"main.go": opening(c.body)}
	}
	apps := loadCases(t, sources, openerModules)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		t.Run(name, func(t *testing.T) {
			got, err := apps[name].cache()
			if err != nil {
				t.Fatal(err)
			}
			if c.blocked != "" {
				if !strings.Contains(strings.Join(got.Blockers, "\n"), c.blocked) {
					t.Errorf("%q, want %q", got.Blockers, c.blocked)
				}
				return
			}
			if len(got.Blockers) > 0 || got.OfFiles() != c.files || got.Opens == 0 {
				t.Fatalf("%q, files %v, %d pools", got.Blockers, got.OfFiles(), got.Opens)
			}
			after, err := goapp.Apply(got.Files, got.Fixes)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range after {
				if !strings.Contains(string(text), c.want) || !strings.Contains(string(text), "/sqlcache\"") {
					t.Errorf("no %q in\n%s", c.want, text)
				}
			}
			if len(after) != 1 {
				t.Errorf("%d files are edited", len(after))
			}
		})
	}
}

// TestProgramReach: what a program that the app runs can change.
func TestProgramReach(t *testing.T) {
	tier.Slow(t)
	const quote = "func quote(s string) string { return \"'\" + strings.Replace(s, \"'\", \"'\\\\''\", -1) + \"'\" }\n\n"
	for name, want := range map[string]programReach{
		`exec.Command("openssl", "dgst", "-sha512", x)`: nothing,
		`exec.Command("openssl", "dgst", "-out", x)`:    onlyFiles,
		`exec.Command("openssl", "s_client", x)`:        anything,
		`exec.Command("/usr/bin/sha256sum", x)`:         nothing,
		`exec.Command("cp", "a", x)`:                    onlyFiles,
		`exec.Command("mysql", "-e", x)`:                anything,
		`exec.Command(x)`:                               anything,
		"exec.Command(\"bash\", \"-c\", `printf \"%s\" `+quote(x)+` | openssl dgst -sha512 | sed 's/^.*= //'`)": nothing,
		"exec.Command(\"sh\", \"-c\", `echo -n `+quote(x)+` | md5sum | cut -d ' ' -f 1`)":                       nothing,
		"exec.Command(\"sh\", \"-c\", `echo -n `+x+` | md5sum`)":                                                anything,
		"exec.Command(\"sh\", \"-c\", `echo $(mysql)`)":                                                         anything,
		"exec.Command(\"sh\", \"-c\", \"echo a > b\")":                                                          anything,
		"exec.Command(\"sh\", \"-c\", `cat a | mysql`)":                                                         anything,
		"exec.Command(\"sh\", \"-c\", `cat a | sed 's/a/b/w out'`)":                                             anything,
		"exec.Command(\"sh\", \"-c\", `cat a | sed -i 's/a/b/'`)":                                               anything,
		"exec.Command(\"sh\", \"init.sh\")":                                                                     anything,
		`exec.CommandContext(nil, "cat", x)`:                                                                    nothing,
	} {
		source := "package main\n\nimport (\n\t\"database/sql\"\n\t\"os/exec\"\n\t\"strings\"\n)\n\n" + poolSource + quote + "var _ = quote\n\nfunc run(x string) error { return " + name + ".Run() }\n\nfunc main() {}\n"
		app := loadCases(t, map[string]map[string]string{"a": {"main.go": source}}, nil)["a"]
		got, err := app.cache()
		if err != nil || len(got.Blockers) > 0 {
			t.Fatalf("%s: %+v, %v", name, got.Blockers, err)
		}
		after, err := goapp.Apply(got.Files, got.Fixes)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, text := range after {
			all += string(text)
		}
		if announced := strings.Contains(all, "Outside()"); announced != (want == anything) {
			t.Errorf("%s: announced %v", name, announced)
		}
	}
}
