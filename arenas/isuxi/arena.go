package isuxi

import (
	_ "embed"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/files"
)

//go:embed answers.txt
var answers string

// conf is MariaDB's configuration, as in the contest: its defaults with larger packets. The
// buffer pool has 128 MiB. The time zone decides by which day footprints are grouped.
const conf = `character-set-server = utf8mb4
default-time-zone = '+09:00'
max_allowed_packet = 300M
`

// allowed lists the promises that the rules do not require. Data must survive a restart of
// the services, but not a power cut (durability). Every list but that of friends has an
// order by time, which the checks compare, and rows of one second may have any (row order).
// The logs are used by the contestant only (observability). Contestants rewrite the app as
// they like, as long as the benchmarker's checks pass (tested-only). Freshness is not in it:
// friendships and comments must be visible after a second.
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.RowOrder, iikanji.Observability, iikanji.TestedOnly}

// services are those of the contest.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isucon5q", User: "isucon", Password: "isucon", Conf: conf},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: "sql/init.sh", Programs: []string{"mariadb"},
		Ready: arena.Ready{Path: "/login"},
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Logs:    []arena.Log{{Kind: "access", File: "access.log"}, {Kind: "error", File: "error.log"}},
		Public:  staticFolder,
	},
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "isuxi",
		Title:   "ISUxi (ISUCON 5 qualifier)",
		Summary: "a small social network, rendered as pages, with 2 GB of diaries",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: contestSize.version(),
		Small:            &arena.Data{Generate: smallSize.generate, Version: "small " + smallSize.version()},

		Services: services,

		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		HostsLadder:       files.LadderIn(hostsLadder, "ladder-hosts"),
		Allow:             allowed,
		InitializeTimeout: initializeTimeout,
		Shards:            threads,
	})
}

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database := p.Service("database")
	return []string{
		"TZ=Asia/Tokyo",
		"ISUCON5_DB_HOST=127.0.0.1",
		fmt.Sprintf("ISUCON5_DB_PORT=%d", database.Port),
		"ISUCON5_DB_USER=" + database.User,
		"ISUCON5_DB_PASSWORD=" + database.Password,
		"ISUCON5_DB_NAME=" + database.Schema,
		"APP_HOST=127.0.0.1",
		fmt.Sprintf("APP_PORT=%d", p.Service("app").Port),
	}
}
