package goapp

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/settings"
)

// A form is one way in which an app spells its connection.
type form struct {
	name, path, text string
	env, file        map[string]string // of the process, and of a file with variables
	more             []settings.File
	want             string // user:password@host:port/schema or user:password@socket/schema
	line             int    // of the connection; 0 is not compared
	from             string // where user, password and host come from: P process, F file, S source, - nothing
}

type vars = map[string]string

func describe(c settings.Connection) string {
	address := c.Host.Value + ":" + c.Port.Value
	if c.Socket.Value != "" {
		address = c.Socket.Value
	}
	return c.User.Value + ":" + c.Password.Value + "@" + address + "/" + c.Schema.Value
}

// origins names where user, password and address come from.
func origins(c settings.Connection) string {
	var b strings.Builder
	address := c.Host
	if c.Socket.Value != "" {
		address = c.Socket
	}
	for _, p := range []settings.Part{c.User, c.Password, address} {
		switch o, ok := p.Variable(); {
		case ok && o.Layer == 0:
			b.WriteString("P")
		case ok:
			b.WriteString("F")
		case p.Literal():
			b.WriteString("S")
		default:
			b.WriteString("-")
		}
	}
	return b.String()
}

const goHead = "package main\n\nimport (\n\t\"cmp\"\n\t\"database/sql\"\n\t\"fmt\"\n\t\"net\"\n\t\"os\"\n\n\t\"github.com/go-sql-driver/mysql\"\n\t\"github.com/jmoiron/sqlx\"\n)\n\n"

const goHelper = `
func getEnv(key, fallback string) string {
	if v, ok := os.LookupEnv(key); ok {
		return v
	}
	return fallback
}
`

var goForms = []form{
	{name: "helper with LookupEnv", path: "main.go", text: goHead + goHelper + `
func connect() (*sqlx.DB, error) {
	return sqlx.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?parseTime=true&loc=Asia%%2FTokyo", getEnv("DB_USER", "isucon"), getEnv("DB_PASS", "pw"), getEnv("DB_HOST", "127.0.0.1"), getEnv("DB_PORT", "3306"), getEnv("DB_NAME", "isu")))
}`, env: vars{"DB_PORT": "3307", "DB_USER": "me"}, want: "me:pw@127.0.0.1:3307/isu", line: 23, from: "PSS"},
	{name: "helper that compares with nothing, of another name", path: "main.go", text: goHead + `
func fromEnvironment(name string, otherwise string) string {
	value := os.Getenv(name)
	if value != "" {
		return value
	}
	return otherwise
}

func main() {
	host := fromEnvironment("H", "10.0.0.2")
	db, err := sql.Open("mysql", "app:s3cret@tcp("+host+":3306)/shop")
	_, _ = db, err
}`, want: "app:s3cret@10.0.0.2:3306/shop", line: 25, from: "SSS"},
	{name: "if empty, take the default", path: "app.go", text: goHead + `
func main() {
	host := os.Getenv("MYSQL_HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	port := os.Getenv("MYSQL_PORT")
	if port == "" {
		port = "3306"
	}
	user := os.Getenv("MYSQL_USER")
	if user == "" {
		user = "isucari"
	}
	dbname := os.Getenv("MYSQL_DBNAME")
	if dbname == "" {
		dbname = "isucari"
	}
	password := os.Getenv("MYSQL_PASS")
	if len(password) == 0 {
		password = "isucari"
	}
	dsn := fmt.Sprintf("%s:%s@tcp(%s:%s)/%s?charset=utf8mb4", user, password, host, port, dbname)
	dbx, err := sqlx.Open("mysql", dsn)
}`, env: vars{"MYSQL_HOST": "db1"}, file: vars{"MYSQL_PASS": "fromfile", "MYSQL_HOST": "no"}, want: "isucari:fromfile@db1:3306/isucari", from: "SFP"},
	{name: "cmp.Or", path: "main.go", text: goHead + `
func main() {
	c := mysql.Config{
		User:   cmp.Or(os.Getenv("U"), "root"),
		Passwd: cmp.Or(os.Getenv("P"), os.Getenv("P2"), "x"),
		Net:    "tcp",
		Addr:   net.JoinHostPort(cmp.Or(os.Getenv("H"), "localhost"), cmp.Or(os.Getenv("N"), "3306")),
		DBName: "shop",
	}
	db, _ := sql.Open("mysql", c.FormatDSN())
}`, env: vars{"P2": "second"}, want: "root:second@localhost:3306/shop", line: 16, from: "SPS"},
	{name: "NewConfig with assignments", path: "db.go", text: goHead + `
const hostKey = "ISUCON13_MYSQL_DIALCONFIG_ADDRESS"

func connectDB() (*sqlx.DB, error) {
	const portKey = "ISUCON13_MYSQL_DIALCONFIG_PORT"
	conf := mysql.NewConfig()
	conf.Net = "tcp"
	conf.Addr = net.JoinHostPort("127.0.0.1", "3306")
	conf.User = "isucon"
	conf.Passwd = "isucon"
	conf.DBName = "isupipe"
	if addr, ok := os.LookupEnv(hostKey); ok {
		if port, ok2 := os.LookupEnv(portKey); ok2 {
			conf.Addr = net.JoinHostPort(addr, port)
		} else {
			conf.Addr = net.JoinHostPort(addr, "3306")
		}
	}
	if v, ok := os.LookupEnv("PW"); ok {
		conf.Passwd = v
	}
	return sqlx.Open("mysql", conf.FormatDSN())
}`, env: vars{"ISUCON13_MYSQL_DIALCONFIG_ADDRESS": "192.168.0.12", "PW": "z"}, want: "isucon:z@192.168.0.12:3306/isupipe", from: "SPP"},
	{name: "socket", path: "db.go", text: goHead + `
func main() {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = "shop", os.Getenv("SHOP_WORD"), "shop"
	cfg.Net, cfg.Addr = "unix", "/run/mysqld/mysqld.sock"
	connector, err := mysql.NewConnector(cfg)
	db := sql.OpenDB(connector)
}`, env: vars{"SHOP_WORD": "w"}, want: "shop:w@/run/mysqld/mysqld.sock/shop", from: "SPS"},
	{name: "struct with a method", path: "main.go", text: goHead + goHelper + `
type MySQLConnectionEnv struct {
	Host, Port, User, DBName, Password string
}

func NewMySQLConnectionEnv() *MySQLConnectionEnv {
	return &MySQLConnectionEnv{
		Host:     getEnv("MYSQL_HOST", "127.0.0.1"),
		Port:     getEnv("MYSQL_PORT", "3306"),
		User:     getEnv("MYSQL_USER", "isucon"),
		DBName:   getEnv("MYSQL_DBNAME", "isucondition"),
		Password: getEnv("MYSQL_PASS", "isucon"),
	}
}

var mySQLConnectionData *MySQLConnectionEnv

func (mc *MySQLConnectionEnv) ConnectDB() (*sqlx.DB, error) {
	dsn := fmt.Sprintf("%v:%v@tcp(%v:%v)/%v?parseTime=true&loc=Asia%%2FTokyo", mc.User, mc.Password, mc.Host, mc.Port, mc.DBName)
	return sqlx.Open("mysql", dsn)
}

func main() {
	mySQLConnectionData = NewMySQLConnectionEnv()
	db, err := mySQLConnectionData.ConnectDB()
}`, env: vars{"MYSQL_USER": "other"}, want: "other:isucon@127.0.0.1:3306/isucondition", from: "PSS"},
	{name: "envconfig tags", path: "main.go", text: "package main\n" + `
import (
	"github.com/kelseyhightower/envconfig"
	"database/sql"
	"fmt"
)

type Config struct {
	DB struct {
		Host string ` + "`envconfig:\"DB_HOST\" default:\"127.0.0.1\"`" + `
		User string ` + "`envconfig:\"DB_USER\" default:\"shop\"`" + `
	}
	Password string ` + "`envconfig:\"DB_PASSWORD\" required:\"true\"`" + `
}

func main() {
	var cfg Config
	if err := envconfig.Process("", &cfg); err != nil {
		panic(err)
	}
	db, err := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/shop", cfg.DB.User, cfg.Password, cfg.DB.Host+":3306"))
}`, env: vars{"DB_PASSWORD": "q"}, want: "shop:q@127.0.0.1:3306/shop", from: "SPS"},
	{name: "env tags with envDefault", path: "main.go", text: "package main\n" + `
import (
	"github.com/caarlos0/env/v11"
	"github.com/go-sql-driver/mysql"
)

type DB struct {
	Addr string ` + "`env:\"ADDR\" envDefault:\"127.0.0.1:3308\"`" + `
	User string ` + "`env:\"USER\" envDefault:\"u\"`" + `
	Pass string ` + "`env:\"PASS\"`" + `
}
type Config struct {
	DB DB ` + "`envPrefix:\"DB_\"`" + `
}

func main() {
	cfg := Config{}
	if err := env.Parse(&cfg); err != nil {
		return
	}
	c := &mysql.Config{User: cfg.DB.User, Passwd: cfg.DB.Pass, Addr: cfg.DB.Addr, Net: "tcp", DBName: "x"}
}`, file: vars{"DB_PASS": "f"}, want: "u:f@127.0.0.1:3308/x", from: "SFS"},
	{name: "viper", path: "main.go", text: "package main\n" + `
import (
	"fmt"
	"database/sql"
	"github.com/spf13/viper"
)

func main() {
	viper.SetEnvPrefix("shop")
	viper.AutomaticEnv()
	viper.SetDefault("db.host", "127.0.0.1")
	viper.SetDefault("db.user", "u")
	viper.SetDefault("db.password", "p")
	db, _ := sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s:3306)/shop", viper.GetString("db.user"), viper.GetString("db.password"), viper.GetString("db.host")))
}`, env: vars{"SHOP_DB_HOST": "10.1.1.1"}, want: "u:p@10.1.1.1:3306/shop", from: "SSP"},
	{name: "a constant in another file, and a DSN in a variable with a default", path: "cmd/web/main.go", text: goHead + `
func main() {
	dsn := os.Getenv("DSN")
	if dsn == "" {
		dsn = defaultDSN
	}
	db := sqlx.MustConnect(driverName, dsn)
}`, more: []settings.File{{Path: "cmd/web/constants.go", Text: "package main\n\nconst (\n\tdriverName = \"mysql\"\n\tdefaultDSN = \"root:toor@tcp(localhost:3306)/app\"\n)\n"}}, want: "root:toor@localhost:3306/app", line: 20, from: "SSS"},
	{name: "the same with the variable set", path: "cmd/web/main.go", text: goHead + "func main() { db, _ := sql.Open(\"mysql\", os.Getenv(\"DSN\")) }", env: vars{"DSN": "a:b@unix(/s.sock)/c"}, want: "a:b@/s.sock/c", from: "PPP"},
	{name: "helper in another package", path: "main.go", text: "package main\nimport (\n\"example.com/shop/internal/conf\"\n\"database/sql\"\n\"fmt\"\n)\nfunc main() { db, _ := sql.Open(\"mysql\", fmt.Sprintf(\"%s:%s@tcp(%s)/x\", conf.Env(\"U\", \"u\"), conf.Env(\"P\", \"p\"), conf.Address)) }",
		more: []settings.File{{Path: "internal/conf/conf.go", Text: "package conf\n\nimport \"os\"\n\nvar Address = Env(\"A\", \"127.0.0.1:3310\")\n\nfunc Env(k, d string) string {\n\tif v := os.Getenv(k); len(v) > 0 {\n\t\treturn v\n\t}\n\treturn d\n}\n"}}, env: vars{"P": "pp"}, want: "u:pp@127.0.0.1:3310/x", from: "SPS"},
	{name: "env tags with a default among the options", path: "main.go", text: "package main\nimport (\n\"context\"\n\"database/sql\"\n\"github.com/sethvargo/go-envconfig\"\n)\ntype C struct {\n\tDSN string `env:\"DSN, default=o:p@tcp(h:1)/q\"`\n}\nfunc main() {\n\tvar c C\n\tif err := envconfig.Process(context.Background(), &c); err != nil {\n\t\tpanic(err)\n\t}\n\tsql.Open(\"mysql\", c.DSN)\n}\n", want: "o:p@h:1/q", line: 15, from: "SSS"},
	{name: "viper's BindEnv", path: "main.go", text: "package main\nimport (\n\"database/sql\"\n\"github.com/spf13/viper\"\n)\nfunc main() {\n\tv := viper.New()\n\tviper.BindEnv(\"dsn\", \"SHOP_DSN\")\n\tsql.Open(\"mysql\", viper.GetString(\"dsn\"))\n}\n", file: vars{"SHOP_DSN": "b:e@tcp(h:2)/v"}, want: "b:e@h:2/v", line: 9, from: "FFF"},
	{name: "gorm", path: "main.go", text: "package main\nimport (\n\"gorm.io/driver/mysql\"\n\"gorm.io/gorm\"\n)\nfunc main() { db, err := gorm.Open(mysql.Open(\"g:w@tcp(127.0.0.1:3306)/orm?parseTime=True\"), &gorm.Config{}) }", want: "g:w@127.0.0.1:3306/orm", from: "SSS"},
	{name: "ParseDSN and a change of it", path: "main.go", text: goHead + "func main() {\n\tc, err := mysql.ParseDSN(\"a:b@tcp(h:1)/d\")\n\tc.Passwd = os.Getenv(\"PW\")\n\tdb, _ := sql.Open(\"mysql\", c.FormatDSN())\n}", env: vars{"PW": "new"}, want: "a:new@h:1/d", from: "SPS"},
}

// TestConnections reads the forms in which Go apps spell their connections: with the
// process's environment before files with variables, and both before the source.
func TestConnections(t *testing.T) {
	for _, f := range goForms {
		t.Run(f.name, func(t *testing.T) {
			got := Connections(append([]settings.File{{Path: f.path, Text: f.text}}, f.more...), []settings.Layer{{Name: "process", Values: f.env}, {Name: "file", Values: f.file}})
			if len(got) == 0 {
				t.Fatal("nothing was found")
			}
			c := got[0]
			if is := describe(c); is != f.want || !c.Complete() {
				t.Errorf("%s, want %s; missing: %q", is, f.want, c.Missing())
			}
			if is := origins(c); is != f.from {
				t.Errorf("from %s, want %s", is, f.from)
			}
			if f.line > 0 && (c.Line != f.line || c.Path != f.path) {
				t.Errorf("at %s, want %s:%d", c.Where(), f.path, f.line)
			}
		})
	}
}

// TestNoConnections reads what looks like a connection: no connection of the app, or one
// to a database that is not of MySQL's family.
func TestNoConnections(t *testing.T) {
	for name, f := range map[string]settings.File{
		"go: commented out":      {Path: "main.go", Text: "package main\n\nimport \"database/sql\"\n\nfunc main() {\n\t// db, _ := sql.Open(\"mysql\", \"a:b@tcp(c:1)/d\")\n\t/* sql.Open(\"mysql\", \"a:b@tcp(c:1)/d\") */\n}\n"},
		"go: a test":             {Path: "db_test.go", Text: "package main\n\nimport \"database/sql\"\n\nfunc f() { sql.Open(\"mysql\", \"a:b@tcp(c:1)/d\") }\n"},
		"go: a folder of tests":  {Path: "internal/testdata/x.go", Text: "package main\n\nimport \"database/sql\"\n\nfunc f() { sql.Open(\"mysql\", \"a:b@tcp(c:1)/d\") }\n"},
		"go: a log message":      {Path: "main.go", Text: "package main\n\nimport \"log\"\n\nfunc main() { log.Printf(\"connecting to a:b@tcp(c:1)/d\"); log.Fatal(\"mysql://a:b@c/d\") }\n"},
		"go: an error":           {Path: "main.go", Text: "package main\n\nimport \"fmt\"\n\nfunc f() error { return fmt.Errorf(\"a:b@tcp(c:1)/d cannot be reached\") }\n"},
		"go: PostgreSQL":         {Path: "main.go", Text: "package main\n\nimport \"database/sql\"\n\nfunc main() { sql.Open(\"postgres\", \"postgres://a:b@c/d\"); sql.Open(\"pgx\", \"user=a password=b host=c\") }\n"},
		"go: Redis and a queue":  {Path: "main.go", Text: "package main\n\nfunc main() { redis.ParseURL(\"redis://a:b@c:6379/0\"); amqp.Dial(\"amqp://a:b@c/\") }\n"},
		"go: another Config":     {Path: "main.go", Text: "package main\n\nimport \"example.com/mysql\"\n\nfunc main() { c := mysql.Config{User: \"a\", Passwd: \"b\", Addr: \"c:1\"}; use(c) }\n"},
		"nested calls":           {Path: "a.go", Text: "package a\nvar x = " + strings.Repeat("f(", 100_000)},
		"a struct of itself":     {Path: "a.go", Text: "package a\ntype T struct { A, B, C, D, E, F, G, H T }\nvar x T\nvar y = T{}"},
		"functions that fan out": {Path: "a.go", Text: "package a\nfunc a() { b(); b(); b() }\nfunc b() { a(); a(); a() }"},
		"a text that doubles":    {Path: "a.go", Text: "package a\nfunc a() { x := \"ab\"\n" + strings.Repeat("x = x + x\n", 5_000) + "}"},
	} {
		for _, c := range Connections([]settings.File{f}, nil) {
			t.Errorf("%s: found %s at %s", name, describe(c), c.Where())
		}
	}
}

// TestMissingParts: what cannot be known is named with its place, and no secret is in it.
func TestMissingParts(t *testing.T) {
	const secret = "hush-7"
	for name, c := range map[string]struct {
		file settings.File
		want string
	}{
		"a variable that is not set": {settings.File{Path: "main.go", Text: goHead + "func main() { sql.Open(\"mysql\", \"u:" + secret + "@tcp(\"+os.Getenv(\"DB_HOST\")+\")/d\") }"}, "the variable DB_HOST, which is not set"},
		"a condition":                {settings.File{Path: "main.go", Text: goHead + "func main() {\n\thost := \"a\"\n\tif production() {\n\t\thost = \"b\"\n\t}\n\tsql.Open(\"mysql\", \"u:" + secret + "@tcp(\"+host+\")/d\")\n}"}, "a condition at main.go:16"},
	} {
		got := Connections([]settings.File{c.file}, []settings.Layer{{Name: "process", Values: vars{"OTHER": secret}}})
		if len(got) != 1 {
			t.Errorf("%s: %d connections", name, len(got))
			continue
		}
		if text := strings.Join(got[0].Missing(), "; "); !strings.Contains(text, c.want) || strings.Contains(text, secret) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestConnectionsOfApps reads the whole source of apps of this repository, which were not
// written for this package.
func TestConnectionsOfApps(t *testing.T) {
	dsn := vars{"LIBRARY_DSN": "library:w@tcp(127.0.0.1:3401)/library?parseTime=true"}
	tickets := vars{"DB_PORT": "3403", "DB_USER": "u", "DB_PASSWORD": "p", "DB_NAME": "n"}
	for dir, c := range map[string]struct {
		env         vars
		want, where string
	}{
		"arenas/isublog/files/_go":      {nil, "isuconapp:isublog@127.0.0.1:3306/isublog", "main.go:65"},
		"arenas/isucondition/files/_go": {nil, "isucon:isucon@127.0.0.1:3306/isucondition", "main.go:105"},
		"arenas/isuports/files/_go":     {vars{"ISUCON_DB_HOST": "10.0.0.3"}, "isucon:isucon@10.0.0.3:3306/isuports", "main.go:102"},
		"arenas/isuumo/files/_go":       {vars{"MYSQL_PASS": "p"}, "isucon:p@127.0.0.1:3306/isuumo", "main.go:88"},
		"bench/worse/_tickets":          {tickets, "u:p@127.0.0.1:3403/n", "main.go:39"},
		"fixtures/library":              {dsn, "library:w@127.0.0.1:3401/library", "catalog/main.go:74"},
	} {
		root := filepath.Join("..", "..", "..", filepath.FromSlash(dir))
		var files []settings.File
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(root, path) // both are relative to this folder
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			files = append(files, settings.File{Path: rel, Text: string(b)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := Connections(files, []settings.Layer{{Name: "process", Values: c.env}})
		if len(got) == 0 || describe(got[0]) != c.want || got[0].Where() != c.where {
			t.Errorf("%s: %+v, want %s at %s", dir, got, c.want, c.where)
		}
	}
}

// FuzzConnections expects no source to stop the evaluation, and no value of the
// environment in what is missing.
func FuzzConnections(f *testing.F) {
	for _, form := range goForms {
		f.Add(form.text)
	}
	layers := []settings.Layer{{Name: "process", Values: vars{"DB_HOST": "db", "DB_PASSWORD": "hush-7-hush", "DSN": "u:hush-7-hush@tcp(h)/d"}}}
	f.Fuzz(func(t *testing.T, source string) {
		for _, c := range Connections([]settings.File{{Path: "main.go", Text: source}}, layers) {
			if strings.Contains(strings.Join(c.Missing(), " "), "hush-7-hush") && !strings.Contains(source, "hush-7-hush") {
				t.Errorf("a secret is in %q", c.Missing())
			}
		}
	})
}
