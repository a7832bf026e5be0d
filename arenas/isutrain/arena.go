package isutrain

import (
	_ "embed"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

//go:embed answers.txt
var answers string

// conf holds what a MySQL 8.0 has by default and a MariaDB 10.11 has not: a binary log that
// is synced at each commit. Binary logs are kept for an hour, so that hundreds of runs do
// not fill the disk. Collation and time zone are the contest's.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_unicode_ci
default_time_zone = '+09:00'
log_bin = binlog
sync_binlog = 1
binlog_format = ROW
binlog_expire_logs_seconds = 3600
max_binlog_size = 64M
`

// allowed lists the promises that the rules do not require. Data must survive a restart of
// the services, but not a power cut (durability). The logs are used by the contestant only
// (observability). Contestants rewrite the app as they like, as long as the benchmarker's
// checks pass (tested-only), and the app itself chooses how many days it opens for booking
// (behaviour). Row order is not among them: the search answers with the first trains in the
// order of a table.
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.Observability, iikanji.TestedOnly, iikanji.Behaviour}

// services are those of the contest on one host.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isutrain", User: "isutrain", Password: "isutrain", Conf: conf},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "payment", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "payment", Env: paymentEnv,
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: "sql/load.sh", Programs: []string{"mariadb"},
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Logs:    []arena.Log{{Kind: "access", File: "access.log"}, {Kind: "error", File: "error.log"}},
		Public:  publicFolder,
	},
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "isutrain",
		Title:   "ISUTRAIN (ISUCON 9 final)",
		Summary: "seats of a bullet-train line, with a payment service",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: contestSize.version(),
		Small:            &arena.Data{Generate: smallSize.generate, Version: "small " + smallSize.version()},

		Services: services,

		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		Allow:             allowed,
		InitializeTimeout: initializeTimeout,
	})
}

// paymentEnv returns all environment variables that the payment service reads.
func paymentEnv(p arena.Places) []string {
	return []string{"SERVER_APP_HOST=127.0.0.1", fmt.Sprintf("SERVER_APP_PORT=%d", p.Service("payment").Port)}
}

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database := p.Service("database")
	return []string{
		"SERVER_APP_HOST=127.0.0.1",
		fmt.Sprintf("SERVER_APP_PORT=%d", p.Service("app").Port),
		"MYSQL_HOSTNAME=127.0.0.1",
		fmt.Sprintf("MYSQL_PORT=%d", database.Port),
		"MYSQL_USER=" + database.User,
		"MYSQL_PASSWORD=" + database.Password,
		"MYSQL_DATABASE=" + database.Schema,
		"PAYMENT_API=http://" + p.Service("payment").Address,
	}
}
