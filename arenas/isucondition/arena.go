package isucondition

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

// conf holds the settings in which the contest's server differed from the
// defaults, as MariaDB 10.11 spells them: a query cache of 16 MiB, which a size
// above 0 turns on, and one time zone and one character set everywhere. The buffer
// pool keeps its default of 128 MiB.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
default-time-zone = '+09:00'
query_cache_size = 16M
`

// allowed lists the promises that the rules do not require. Posted conditions may
// appear late or never, and data must survive a restart of the services but not a
// power cut (durability, freshness). Every list that a client sees is sorted by
// fields that it shows, or its order is free, as with the trend's characters (row
// order). The logs are used by the contestant only (observability). Contestants
// rewrite the app as they like, as long as the benchmarker's checks pass
// (tested-only), and choose the share of posted conditions that it drops
// (behaviour).
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.Freshness, iikanji.RowOrder, iikanji.Observability,
	iikanji.TestedOnly, iikanji.Behaviour}

// services are the three of the contest, with the file names of its servers.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isucondition", User: "isucon", Password: "isucon", Conf: conf},
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
		Source: "go", Env: appEnv, Load: "sql/init.sh", Programs: []string{"mariadb"},
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Logs:    []arena.Log{{Kind: "access", File: "access.log"}, {Kind: "error", File: "error.log"}},
		Public:  "public",
	},
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "isucondition",
		Title:   "ISUCONDITION (ISUCON 11 qualifier)",
		Summary: "chairs report, owners read",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),

		Services: services,
		Variants: []arena.Variant{{Name: "node", Summary: "chairs report, owners read, with the app in Node.js",
			Services: nodeServices, Ladder: files.LadderIn(nodeLadder, "ladder-node")}},

		TLS:               true,
		Scenario:          newScenario,
		Settings:          settings,
		Commands:          []arena.Command{mock},
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		HostsLadder:       files.LadderIn(hostsLadder, "ladder-hosts"),
		Allow:             allowed,
		InitializeTimeout: 20 * time.Second,
		Pace:              pace,
	})
}

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database := p.Service("database")
	return []string{
		"MYSQL_HOST=127.0.0.1",
		fmt.Sprintf("MYSQL_PORT=%d", database.Port),
		"MYSQL_USER=" + database.User,
		"MYSQL_DBNAME=" + database.Schema,
		"MYSQL_PASS=" + database.Password,
		"SERVER_APP_HOST=127.0.0.1",
		fmt.Sprintf("SERVER_APP_PORT=%d", p.Service("app").Port),
		"SESSION_KEY=isucondition",
		"POST_ISUCONDITION_TARGET_BASE_URL=" + p.URL(),
	}
}
