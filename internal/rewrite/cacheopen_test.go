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
	"gorm.io/driver/sqlite":           {"d.go": "package sqlite\n\ntype Config struct{ DriverName, DSN string; Conn any }\n\nfunc Open(dsn string) any { return nil }\n\nfunc New(c Config) any { return nil }\n"},
	"github.com/jinzhu/gorm":          {"d.go": "package gorm\n\nfunc Open(dialect string, args ...any) (any, error) { return nil, nil }\n", "dialects/mysql/d.go": "package mysql\n"},
	"entgo.io/ent":                    {"dialect/sql/d.go": "package sql\n\ntype Driver struct{}\n\nfunc Open(dialect, source string) (*Driver, error) { return nil, nil }\n"},
	"xorm.io/xorm": {"d.go": "package xorm\n\nimport \"xorm.io/xorm/dialects\"\n\ntype Engine struct{}\n\nfunc (*Engine) Dialect() dialects.Dialect { return nil }\n\nfunc (*Engine) DriverName() string { return \"\" }\n\n" +
		"func NewEngine(name, dsn string) (*Engine, error) { return nil, nil }\n\nfunc NewEngineWithParams(name, dsn string, params map[string]string) (*Engine, error) { return nil, nil }\n\n" +
		"func NewEngineGroup(first, second any, policies ...any) (*Engine, error) { return nil, nil }\n",
		"dialects/d.go": "package dialects\n\ntype Dialect interface{}\n\nfunc RegisterDriver(name string, d any) {}\n\nfunc QueryDriver(name string) any { return nil }\n"},
	"github.com/go-xorm/xorm":              {"d.go": "package xorm\n\nimport \"github.com/go-xorm/core\"\n\ntype Engine struct{}\n\nfunc (*Engine) Dialect() core.Dialect { return nil }\n\nfunc NewEngine(name, dsn string) (*Engine, error) { return nil, nil }\n"},
	"github.com/go-xorm/core":              {"d.go": "package core\n\ntype Dialect interface{}\n\nfunc RegisterDriver(name string, d any) bool { return true }\n\nfunc QueryDriver(name string) any { return nil }\n"},
	"github.com/go-ozzo/ozzo-dbx":          {"d.go": "package dbx\n\ntype DB struct{}\n\nfunc Open(name, dsn string) (*DB, error) { return nil, nil }\n\nvar BuilderFuncMap = map[string]func(){}\n"},
	"github.com/beego/beego/v2":            {"client/orm/d.go": "package orm\n\ntype DriverType int\n\nconst (\n\tDRMySQL DriverType = iota\n\tDRSqlite\n)\n\nfunc RegisterDriver(name string, t DriverType) error { return nil }\n\nfunc RegisterDataBase(alias, name, dsn string, params ...int) error { return nil }\n"},
	"github.com/glebarez/sqlite":           {"d.go": "package sqlite\n\nfunc Open(dsn string) any { return nil }\n"},
	"github.com/golang-migrate/migrate/v4": {"d.go": "package migrate\n\nfunc New(from, to string) (*int, error) { return nil, nil }\n"},
}

// entClient is a client as ent generates it, with its Open.
const entClient = `package ent

import (
	"fmt"

	"entgo.io/ent/dialect/sql"
)

type Client struct{}

type Option func(*Client)

func NewClient(options ...Option) *Client { return &Client{} }

func Driver(d *sql.Driver) Option { return nil }

func Open(driverName, source string, options ...Option) (*Client, error) {
	switch driverName {
	case "mysql":
		drv, err := sql.Open(driverName, source)
		if err != nil {
			return nil, err
		}
		return NewClient(append(options, Driver(drv))...), nil
	}
	return nil, fmt.Errorf("unsupported driver: %q", driverName)
}
`

// opening is source with the packages that it names imported under their names.
func opening(body string) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for name, p := range map[string]string{"sql": "database/sql", "os": "os", "driver": "database/sql/driver", "sqlite3": "github.com/mattn/go-sqlite3", "proxy": "example.org/proxy",
		"otelsql": "github.com/XSAM/otelsql", "apmsql": "go.elastic.co/apm/module/apmsql", "xorm": "xorm.io/xorm", "oldgorm": "github.com/jinzhu/gorm",
		"mysql": "github.com/go-sql-driver/mysql", "gormmysql": "gorm.io/driver/mysql", "gormsqlite": "gorm.io/driver/sqlite", "puresqlite": "github.com/glebarez/sqlite", "entsql": "entgo.io/ent/dialect/sql",
		"oldxorm": "github.com/go-xorm/xorm", "dbx": "github.com/go-ozzo/ozzo-dbx", "orm": "github.com/beego/beego/v2/client/orm", "migrate": "github.com/golang-migrate/migrate/v4",
		"ent": caseModule + "/ent"} {
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
		"gorm by a variable":           {body: "func orm(c gormmysql.Config) any { return gormmysql.New(c) }", want: `gormmysql.New(cachedGorm(c))`},
		"gorm by fields without names": {body: "func orm() any { return gormmysql.New(gormmysql.Config{\"\", \"dsn\", nil}) }", want: `gormmysql.New(cachedGorm(gormmysql.Config{"", "dsn", nil}))`},
		"gorm, a file":                 {body: "func orm(name string) any { return gormsqlite.Open(name) }", want: `gormsqlite.New(gormsqlite.Config{DriverName: "sqlite3+cache", DSN: name})`, files: true},
		"gorm, a file beside MySQL":    {body: poolSource + "\n\nfunc orm(name string) any { return puresqlite.Open(name) }", want: `sql.Open("mysql+cache", "dsn")`},
		"gorm, a file's configuration": {body: "func orm(name string) any { return gormsqlite.New(gormsqlite.Config{DSN: name}) }", want: `DriverName: "sqlite3+cache", DSN: name`, files: true},
		"the first gorm, a file":       {body: "func pool() (any, error) { return oldgorm.Open(\"sqlite3\", \"a.db\") }", want: `oldgorm.Open("sqlite3", sqlcache.Default.Driver("sqlite3"), "a.db")`, files: true},
		"a parameter":                  {body: "func open(name, dsn string) (*sql.DB, error) { return sql.Open(name, dsn) }\n\nfunc pool() (*sql.DB, error) { return open(\"mysql\", \"dsn\") }", want: `sql.Open(sqlcache.Default.Driver(name), dsn)`},
		"a field of a literal":         {body: "type config struct{ driver, dsn string }\n\nfunc (c config) open() (*sql.DB, error) { return sql.Open(c.driver, c.dsn) }\n\nvar of = config{driver: \"mysql\"}", want: `sql.Open(sqlcache.Default.Driver(c.driver), c.dsn)`},
		"a field that is set":          {body: "type config struct{ driver, dsn string }\n\nfunc (c *config) open() (*sql.DB, error) {\n\tc.driver = \"mysql\"\n\treturn sql.Open(c.driver, c.dsn)\n}", want: `sql.Open(sqlcache.Default.Driver(c.driver), c.dsn)`},
		"a name in use":                {body: "func sqlcache() {}\n\nfunc pool() (*sql.DB, error) { return sql.Open(os.Getenv(\"DRIVER\"), \"dsn\") }" + onlyMySQL, want: `sql.Open(sqlcache2.Default.Driver(os.Getenv("DRIVER")), "dsn")`},
		"the first gorm":               {body: "func pool(dsn string) (any, error) { return oldgorm.Open(\"mysql\", dsn) }", want: `oldgorm.Open("mysql", sqlcache.Default.Driver("mysql"), dsn)`},
		"the first gorm, by settings":  {body: "func pool(dsn string) (any, error) { return oldgorm.Open(os.Getenv(\"DB\"), dsn) }" + onlyMySQL + "\n\nvar _ sqlite3.SQLiteDriver", want: `oldgorm.Open(os.Getenv("DB"), sqlcache.Default.Driver(os.Getenv("DB")), dsn)`},
		"the first gorm on a pool":     {body: poolSource + "\n\nfunc orm(db *sql.DB) (any, error) { return oldgorm.Open(\"mysql\", db) }", want: `sql.Open("mysql+cache", "dsn")`},
		"a name of two drivers":        {body: "func pool() (*sql.DB, error) { return sql.Open(os.Getenv(\"DRIVER\"), \"dsn\") }" + onlyMySQL + "\n\nvar _ sqlite3.SQLiteDriver", want: `sql.Open(sqlcache.Default.Driver(os.Getenv("DRIVER")), "dsn")`},
		"ent":                          {body: "func pool() (any, error) { return entsql.Open(\"mysql\", \"dsn\") }", want: `entsql.Open("mysql+cache", "dsn")`},
		"xorm":                         {body: "func pool() (*xorm.Engine, error) { return xorm.NewEngine(\"mysql\", \"dsn\") }", want: `xorm.NewEngine(cachedXorm("mysql"), "dsn")`},
		"xorm with parameters":         {body: "func pool() (*xorm.Engine, error) { return xorm.NewEngineWithParams(\"mysql\", \"dsn\", nil) }", want: "\tif dialects.QueryDriver(cached) == nil {\n\t\tdialects.RegisterDriver(cached, dialects.QueryDriver(name))"},
		"xorm, a group":                {body: "func pool() (*xorm.Engine, error) { return xorm.NewEngineGroup(\"mysql\", []string{\"a\", \"b\"}) }", want: `xorm.NewEngineGroup(cachedXorm("mysql"), []string{"a", "b"})`},
		"xorm, a group of engines":     {body: "func pool() (*xorm.Engine, error) {\n\te, err := xorm.NewEngine(\"mysql\", \"dsn\")\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn xorm.NewEngineGroup(e, nil)\n}", want: `xorm.NewEngineGroup(e, nil)`},
		"xorm, by settings":            {body: "func pool() (*xorm.Engine, error) { return xorm.NewEngine(os.Getenv(\"DB\"), \"dsn\") }" + onlyMySQL, want: `xorm.NewEngine(cachedXorm(os.Getenv("DB")), "dsn")`},
		"xorm, a file":                 {body: "func pool() (*xorm.Engine, error) { return xorm.NewEngine(\"sqlite3\", \"a.db\") }", want: `xorm.NewEngine(cachedXorm("sqlite3"), "a.db")`, files: true},
		"xorm, its name":               {body: "func pool() (string, error) {\n\te, err := xorm.NewEngine(\"mysql\", \"dsn\")\n\treturn e.DriverName(), err\n}", want: `strings.TrimSuffix(e.DriverName(), "+cache")`},
		"the first xorm":               {body: "func pool() (*oldxorm.Engine, error) { return oldxorm.NewEngine(\"mysql\", \"dsn\") }", want: `dialects.RegisterDriver(cached, dialects.QueryDriver(name))`},
		"dbx":                          {body: "func pool() (*dbx.DB, error) { return dbx.Open(\"mysql\", \"dsn\") }", want: `dbx.BuilderFuncMap[cached] = build`},
		"beego":                        {body: "func pool() error { return orm.RegisterDataBase(\"default\", \"mysql\", \"dsn\") }", want: `orm.RegisterDriver(cached, orm.DRMySQL)`},
		"beego, a file":                {body: "func pool() error { return orm.RegisterDataBase(\"default\", \"sqlite3\", \"a.db\") }", want: `orm.RegisterDriver(cached, orm.DRSqlite)`, files: true},
		"ent's client":                 {body: "func pool() (*ent.Client, error) { return ent.Open(\"mysql\", \"dsn\") }", want: `entsql.Open(sqlcache.Default.Driver(driver), source)`},
		"ent's client with options":    {body: "func pool(o ...ent.Option) (*ent.Client, error) { return ent.Open(\"mysql\", \"dsn\", o...) }", want: `cachedEnt("mysql", "dsn", o...)`},
		"migrations":                   {body: poolSource + "\n\nfunc up() error {\n\t_, err := migrate.New(\"file://m\", \"mysql://dsn\")\n\treturn err\n}", want: "defer sqlcache.Default.Outside()() // a program may write"},
		"migrations by main":           {body: poolSource + "\n\nvar _, err = migrate.New(\"file://m\", \"mysql://dsn\")", blocked: "migrations are run through a connection of their own"},
		"a function value":             {body: poolSource + "\n\nvar open = sql.Open", blocked: "used as a value"},
		"an unknown driver":            {body: poolSource + "\n\nfunc other() (*sql.DB, error) { return sql.Open(\"proprietary\", \"dsn\") }", blocked: `what the driver "proprietary" reaches`},
		"text like a DSN":              {body: poolSource + "\n\nvar format = \"%v:%v@tcp(%v:%v)/%v\"", want: `sql.Open("mysql+cache", "dsn")`},
	}
	sources := map[string]map[string]string{}
	for name, c := range cases {
		sources[name] = map[string]string{"main.go": opening(c.body)}
		if strings.Contains(c.body, "ent.Open(") {
			sources[name]["ent/client.go"] = entClient
		}
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
		`exec.Command("xdg-open", x)`:                                                                           nothing,
		`exec.Command("exiftool", "-stay_open", x)`:                                                             onlyFiles,
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
