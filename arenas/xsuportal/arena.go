package xsuportal

import (
	_ "embed"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

//go:embed answers.txt
var answers string

// conf holds what a MySQL 8.0 has by default and a MariaDB 10.11 has not: a binary log that
// is synced at each commit. Binary logs are kept for an hour, so that hundreds of runs do
// not fill the disk. Times are in UTC.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
default_time_zone = '+00:00'
log_bin = binlog
sync_binlog = 1
binlog_format = ROW
binlog_expire_logs_seconds = 3600
max_binlog_size = 64M
`

// allowed lists the promises that the rules do not require. Data must survive a restart of
// the services, but not a power cut (durability). The audience's dashboard may be a second
// old; how old each board may be is checked (freshness). The logs are used by the contestant
// only (observability). Contestants rewrite the app as they like, as long as the
// benchmarker's checks pass (tested-only), and the app may admit any number of teams
// (behaviour). The order of all lists is part of the rules.
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.Freshness, iikanji.Observability, iikanji.TestedOnly,
	iikanji.Behaviour}

// services are those of the contest on one host, with nginx in place of Envoy.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "xsuportal", User: "isucon", Password: "isucon", Conf: conf},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "queue", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Build: build("benchmark_server"), Env: queueEnv, Load: "sql/load.sh", Programs: []string{"mariadb"},
		// What a server of HTTP/2 sends first: its settings, beginning with their length.
		Ready: arena.Ready{Send: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", Expect: "\x00\x00"},
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Build: build("xsuportal"), Env: appEnv, Ready: arena.Ready{Path: "/"},
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Ports:   []string{grpcPort},
		Logs:    []arena.Log{{Kind: "access", File: "access.log"}, {Kind: "error", File: "error.log"}},
		Public:  publicFolder,
	},
}

// grpcPort is the name of the web server's port for the benchmark server.
const grpcPort = "grpc"

// build compiles one of the commands of the source folder.
func build(command string) []string {
	return []string{"go", "build", "-mod=readonly", "-buildvcs=false", "-o", "{{.Out}}", "./cmd/" + command}
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "xsuportal",
		Title:   "XSUCON PORTAL (ISUCON 10 final)",
		Summary: "a contest's portal: boards, a gRPC queue, notifications",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),

		Services: services,

		TLS:               true,
		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		Allow:             allowed,
		MaxAge:            time.Second, // of the public board: "at most one second old"
		Fixed:             []string{"/packs/"},
		InitializeTimeout: initializeTimeout,
	})
}

// databaseEnv are the variables by which both programs find the database.
func databaseEnv(p arena.Places, service string) []string {
	database := p.Service("database")
	return []string{
		"MYSQL_HOSTNAME=127.0.0.1",
		fmt.Sprintf("MYSQL_PORT=%d", database.Port),
		"MYSQL_USER=" + database.User,
		"MYSQL_PASS=" + database.Password,
		"MYSQL_DATABASE=" + database.Schema,
		"HOST=127.0.0.1",
		fmt.Sprintf("PORT=%d", p.Service(service).Port),
	}
}

// queueEnv returns all environment variables that the benchmark server reads.
func queueEnv(p arena.Places) []string { return databaseEnv(p, "queue") }

// appEnv returns all environment variables that the app reads. Clients reach the benchmark
// server through the web server.
func appEnv(p arena.Places) []string {
	return append(databaseEnv(p, "app"), "BENCHMARK_SERVER_HOST=127.0.0.1",
		fmt.Sprintf("BENCHMARK_SERVER_PORT=%d", p.Service("nginx").Ports[grpcPort]))
}
