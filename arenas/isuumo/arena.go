package isuumo

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
// defaults, as MariaDB 10.11 spells them. The contest's MySQL 5.7 had a query cache
// of 16 MiB that it never used, because its query_cache_type was 0 by default.
// MariaDB turns a cache on as soon as a size is set, so that only the type is set
// here. The buffer pool keeps its default of 128 MiB.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
max_allowed_packet = 31M
query_cache_type = OFF
`

// allowed lists the promises that the rules do not require. Purchases and posted
// rows must survive a restart of the services, but not a power cut (durability).
// Only what a finished purchase or post changes must be visible at once, and the
// checks find what is not (freshness). Every list that a client sees is sorted by
// popularity or price and by id (row order). The logs are used by the contestant
// only (observability). The rules permit answering 503 to the bots, by the
// User-Agents in the README (availability); the checks find a person who is
// refused. Contestants rewrite the app as they like, as long as the benchmarker's
// checks pass (tested-only).
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.Freshness, iikanji.RowOrder, iikanji.Observability,
	iikanji.Availability, iikanji.TestedOnly}

// robots match the User-Agents that the rules permit to refuse, and no person.
var robots = []string{`ISUCONbot(-Mobile)?`, `ISUCONbot-Image/`, `Mediapartners-ISUCON`, `ISUCONCoffee`, `ISUCONFeedSeeker(Beta)?`,
	`crawler \(https://isucon\.invalid/(support/faq/|help/jp/)`, `isubot`, `Isupider`, `Isupider(-image)?\+`, `(?i)(bot|crawler|spider)(?:[-_ ./;@()]|$)`}

// services are the three of the contest.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isuumo", User: "isucon", Password: "isucon", Conf: conf},
		Loads:    []string{sqlFolder},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: sqlFolder + "/init.sh", Programs: []string{"mariadb"},
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
		Name:    "isuumo",
		Title:   "ISUUMO (ISUCON 10 qualifier)",
		Summary: "find a chair, and a door that it fits through",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),
		Small:            &arena.Data{Generate: generateSmall, Version: fmt.Sprint(generatedVersion(), " ", suiteSize)},

		Services: services,

		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		HostsLadder:       files.LadderIn(hostsLadder, "ladder-hosts"),
		Allow:             allowed,
		Robots:            robots,
		InitializeTimeout: 30 * time.Second,
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
		"SERVER_HOST=127.0.0.1",
		fmt.Sprintf("SERVER_PORT=%d", p.Service("app").Port),
	}
}
