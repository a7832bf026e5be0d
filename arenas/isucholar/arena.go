package isucholar

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
// is synced at each commit. Binary logs are kept for an hour instead of 30 days, so that
// hundreds of runs do not fill the disk. The buffer pool keeps its default of 128 MiB. The
// collation is the one that the contest's database was created with.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_bin
log_bin = binlog
sync_binlog = 1
binlog_format = ROW
binlog_expire_logs_seconds = 3600
max_binlog_size = 64M
`

// allowed lists the promises that the rules do not require. Data must survive a restart of
// the services, but not a power cut (durability). What a client wrote must be there for its
// next dependent read, and the checks find what is not (no freshness). Lists are sorted by
// code, identifier or part, and the order of the others is free (row order). The logs are
// used by the contestant only (observability). Contestants rewrite the app as they like, as
// long as the benchmarker's checks pass (tested-only).
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.RowOrder, iikanji.Observability, iikanji.TestedOnly}

// services are those of the contest on one host.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isucholar", User: "isucon", Password: "isucon", Conf: conf},
		Loads:    []string{"sql"},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: "sql/load.sh", Programs: []string{"mariadb", "zip", "cp", "mkdir", "rm"},
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
		Name:    "isucholar",
		Title:   "ISUCHOLAR (ISUCON 11 final)",
		Summary: "a university's courses, submissions and grades",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),
		Small:            &arena.Data{Generate: smallSize.generate, Version: "small " + smallSize.version()},

		Services: services,

		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		HostsLadder:       files.LadderIn(hostsLadder, "ladder-hosts"),
		Allow:             allowed,
		InitializeTimeout: initializeTimeout,
	})
}

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database := p.Service("database")
	return []string{
		"MYSQL_HOSTNAME=127.0.0.1",
		fmt.Sprintf("MYSQL_PORT=%d", database.Port),
		"MYSQL_USER=" + database.User,
		"MYSQL_PASS=" + database.Password,
		"MYSQL_DATABASE=" + database.Schema,
		"HOST=127.0.0.1",
		fmt.Sprintf("PORT=%d", p.Service("app").Port),
	}
}
