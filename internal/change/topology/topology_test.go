package topology

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/lang/settings"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// TestRefused: what cannot be moved is refused with the reason, before any host is asked.
func TestRefused(t *testing.T) {
	site := func() *change.Site {
		return &change.Site{Hosts: map[string]host.Host{"web": &host.Fake{Root: t.TempDir(), Host: "web"}, "db": &host.Fake{Root: t.TempDir(), Host: "db"}},
			Target: iikanji.Target{Roles: map[string][]iikanji.Role{"app2": {iikanji.RoleApp}}, Services: []iikanji.Service{
				{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Host: "web", Unit: "nginx.service"},
				{Name: "db", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web", Unit: "mariadb.service"},
				{Name: "nounit", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB, Host: "web"},
				{Name: "pg", Role: iikanji.RoleDatabase, Engine: "postgresql", Host: "web", Unit: "postgresql.service"},
				{Name: "jobs", Role: iikanji.RoleQueue, Engine: "beanstalkd", Host: "web", Unit: "beanstalkd.service"}}}}
	}
	for want, args := range map[string][]string{
		"they know its address":             {"service", "nginx", "to", "db"},
		"there is no such service":          {"service", "none", "to", "db"},
		"has no systemd unit":               {"service", "nounit", "to", "db"},
		"is PostgreSQL, which is not moved": {"service", "pg", "to", "db"},
		"is neither MariaDB nor MySQL":      {"service", "jobs", "to", "db"},
		"do not have database":              {"service", "db", "to", "app2"},
		`no host "nowhere"`:                 {"service", "db", "to", "nowhere"},
		"fill in private of its [[host]]":   {"service", "db", "to", "db"},
		"the site has this effect already":  {"service", "db", "to", "web"},
		`method "rsync"`:                    {"service", "db", "to", "db", "method", "rsync"},
		`unknown argument "host"`:           {"service", "db", "to", "db", "host", "x"},
		"argument service is missing":       {"to", "db"},
	} {
		_, err := change.Plan(t.Context(), site(), iikanji.Remedy{Kind: "topology", Target: "db", Args: changetest.Args(append([]string{"act", "move"}, args...)...)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
}

// TestAddress: the variable that has the host of the database alone is found in any language,
// also where its default is in the source; other forms are refused with their place.
func TestAddress(t *testing.T) {
	goConfig := `package main
import ("os"; "github.com/go-sql-driver/mysql"; "database/sql")
func env(k, d string) string { if v := os.Getenv(k); v != "" { return v }; return d }
func main() { c := mysql.NewConfig(); c.Net = "tcp"; c.Addr = env("ISU_DB_HOST", "127.0.0.1")+":"+env("ISU_DB_PORT", "3306"); c.User = env("ISU_DB_USER", "isucon"); c.DBName = "isu"
	sql.Open("mysql", c.FormatDSN()) }
`
	goLiteral := `package main
import ("database/sql"; _ "github.com/go-sql-driver/mysql")
func main() { sql.Open("mysql", "isu:x@tcp(127.0.0.1:3306)/isu") }
`
	goURL := `package main
import ("os"; "database/sql"; _ "github.com/go-sql-driver/mysql")
func main() { sql.Open("mysql", os.Getenv("MYSQL_DSN")) }
`
	for name, c := range map[string]struct {
		file, text string
		env        map[string]string
		want, err  string
	}{
		"Go with a default":   {"main.go", goConfig, nil, "ISU_DB_HOST", ""},
		"Go with a value":     {"main.go", goConfig, map[string]string{"ISU_DB_HOST": "localhost"}, "ISU_DB_HOST", ""},
		"another server":      {"main.go", goConfig, map[string]string{"ISU_DB_HOST": "10.9.9.9"}, "", ""},
		"a constant":          {"main.go", goLiteral, nil, "", "main.go:3 has the host 127.0.0.1"},
		"a DSN in a variable": {"main.go", goURL, map[string]string{"MYSQL_DSN": "isu:x@tcp(127.0.0.1:3306)/isu"}, "", "main.go:3 has the host 127.0.0.1"},
		"Ruby":                {"app.rb", "require 'mysql2'\ndb = Mysql2::Client.new(host: ENV.fetch('DB_HOST', '127.0.0.1'), port: ENV.fetch('DB_PORT', '3306'), username: 'isu', password: 'x', database: 'isu')\n", nil, "DB_HOST", ""},
		"Node":                {"app.js", "const mysql = require('mysql2/promise');\nconst pool = mysql.createPool({host: process.env.MYSQL_HOST || '127.0.0.1', port: 3306, user: 'isu', password: 'x', database: 'isu'});\n", nil, "MYSQL_HOST", ""},
		"Python":              {"app.py", "import os, pymysql\nconn = pymysql.connect(host=os.environ.get('ISUX_DB_HOST', 'localhost'), port=3306, user='isu', password='x', database='isu')\n", nil, "ISUX_DB_HOST", ""},
		"no database":         {"main.go", "package main\nfunc main() {}\n", nil, "", ""},
	} {
		env := c.env
		if env == nil {
			env = map[string]string{}
		}
		a := &addressing{files: []settings.File{{Path: c.file, Text: c.text}}, env: env, ours: func(c settings.Connection) bool {
			return c.Port.Value == "3306" && slices.Contains([]string{"127.0.0.1", "localhost"}, c.Host.Value)
		}}
		got, err := a.find()
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
		case err != nil || (got == nil) != (c.want == "") || got != nil && got.variable != c.want:
			t.Errorf("%s: %+v, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestKeptSettings: settings that the service has follow it, and its pool fits the memory of
// the new host.
func TestKeptSettings(t *testing.T) {
	text := "# iikanji\n[mysqld]\ninnodb_flush_log_at_trx_commit = 2\nbind-address = 127.0.0.1\ninnodb_buffer_pool_size = 8G\n"
	if got := keptSettings(text, 1<<30); got != "innodb_flush_log_at_trx_commit = 2\ninnodb_buffer_pool_size = 750780416\n" {
		t.Errorf("%q", got)
	}
	if got := keptSettings(text, 64<<30); !strings.Contains(got, "innodb_buffer_pool_size = 8G") {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]int64{"128M": 128 << 20, "2G": 2 << 30, "1024": 1024, "16K": 16 << 10} {
		if n, ok := sizeOf(text); !ok || n != want {
			t.Errorf("%s: %d %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "M", "x"} {
		if n, ok := sizeOf(text); ok && text != "M" || n != 0 && text == "" {
			t.Errorf("%q: %d %v", text, n, ok)
		}
	}
}

// TestNetwork: accounts are for the network of the clients.
func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{"10.0.0.11": "10.0.0.%", "2001:db8::1": "2001:db8::1"} {
		if got, err := network(address); err != nil || got != want {
			t.Errorf("%s: %q %v", address, got, err)
		}
	}
	if _, err := network("db.local"); err == nil {
		t.Error("a name is taken for an address")
	}
}

// TestOfData: only settings that decide how the files of the data look are compared.
func TestOfData(t *testing.T) {
	a := ofData("--user=mysql\n--datadir=/var/lib/mysql\n--character-set-server=utf8\n--character_set_server=utf8mb4\n--bind-address=127.0.0.1\n")
	if a != "datadir=/var/lib/mysql character-set-server=utf8mb4" || settingOf(a, "datadir") != "/var/lib/mysql" {
		t.Errorf("%q", a)
	}
}
