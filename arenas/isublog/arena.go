package isublog

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

// conf holds the contest's settings: the smallest sample configuration of the time,
// in which all settings of InnoDB were commented out, so that the buffer pool had
// the 8 MiB that were its default then. MariaDB's own lower limit of the table
// cache is 10. The text of the articles is in one character set and one time zone.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
default-time-zone = '+09:00'
key_buffer_size = 16K
max_allowed_packet = 1M
table_open_cache = 10
sort_buffer_size = 64K
read_buffer_size = 256K
read_rnd_buffer_size = 256K
net_buffer_length = 2K
innodb_buffer_pool_size = 8M
`

// allowed lists the promises that the rules do not require. Data must be stored, and
// survive a restart of the services but not a power cut (durability). Every list is
// sorted by fields that it shows, but for comments of one second in the sidebar,
// whose order is free (row order). The logs are used by the contestant only
// (observability). Contestants rewrite the app as they like, as long as the
// benchmarker's checks pass (tested-only). Pages may be put together from fragments
// on the way to the client, as teams did: the app escapes the texts of users, and the
// checks read the pages (behaviour).
//
// Freshness is not in it, although answers may be one second old: a policy has no
// bound for the age, and nginx's shortest validity of 1 s lets an answer live for up
// to 2 s. README.md describes it.
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.RowOrder, iikanji.Observability, iikanji.TestedOnly, iikanji.Behaviour}

// services are the three of the contest, and two caches of pages.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isublog", User: "isuconapp", Password: "isublog", Conf: conf},
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: "sql/init.sh", Programs: []string{"mariadb"},
	},
	{
		Name: "pages", Role: iikanji.RoleCache, Engine: iikanji.EngineVarnish, Backend: "app",
		OnDemand: true, // a cache of pages that a change may start
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Public:  "public",
	},
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "isublog",
		Title:   "ISUblog (the first ISUCON, 2011)",
		Summary: "a blog that everybody reads alike",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),

		Services: services,

		Scenario:          newScenario,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		Allow:             allowed,
		InitializeTimeout: initializeTimeout,
	})
}

// initializeTimeout is this arena's own: the contest had no initialize.
const initializeTimeout = 20 * time.Second

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database := p.Service("database")
	return []string{
		"DB_HOST=127.0.0.1",
		fmt.Sprintf("DB_PORT=%d", database.Port),
		"DB_USER=" + database.User,
		"DB_NAME=" + database.Schema,
		"DB_PASS=" + database.Password,
		"APP_HOST=127.0.0.1",
		fmt.Sprintf("APP_PORT=%d", p.Service("app").Port),
	}
}
