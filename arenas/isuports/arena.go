package isuports

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

// conf holds what a MySQL 8.0 has by default and a MariaDB 10.11 has not: a binary
// log that is synced at each commit. Binary logs are kept for an hour instead of 30
// days, so that hundreds of runs do not fill the disk. The buffer pool keeps its
// default of 128 MiB.
const conf = `character-set-server = utf8mb4
collation-server = utf8mb4_general_ci
log_bin = binlog
sync_binlog = 1
binlog_format = ROW
binlog_expire_logs_seconds = 3600
max_binlog_size = 64M
`

// allowed lists the promises that the rules do not require. Billing may appear 3 s
// after the end of a competition, and a disqualification 3 s after it was made
// (freshness). Data must survive a restart of the services but not a power cut
// (durability). Every list that a client sees is sorted by fields of its rows, and
// the order of equal ones is free (row order). The logs are used by the contestant
// only (observability). Contestants rewrite the app as they like, as long as the
// benchmarker's checks pass (tested-only), and may answer 429 to the creation of
// tenants and competitions (behaviour).
var allowed = []iikanji.Promise{iikanji.Durability, iikanji.Freshness, iikanji.RowOrder, iikanji.Observability,
	iikanji.TestedOnly, iikanji.Behaviour}

// Hosts of the tenants.
const (
	baseHost  = "." + defaultDomain
	adminHost = adminTenant + baseHost
)

// services are those of the contest. The SQLite files are a service that is no
// process.
var services = []arena.Service{
	{
		Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
		Database: arena.Database{Name: "isuports", User: "isucon", Password: "isucon", Conf: conf},
		Configs:  []arena.Config{{File: "my.cnf"}},
		DropIns:  "mariadb.d",
		Data:     "mariadb",
		Socket:   "db.sock",
		Output:   "mariadb.log",
		Logs:     []arena.Log{{Kind: "error", File: "mariadb.log"}, {Kind: "slow", File: "slow.log"}},
	},
	{
		Name: "tenants", Role: iikanji.RoleDatabase, Engine: iikanji.EngineSQLite,
		Data:      "tenant_db",
		Originals: pristineDir,
		Loads:     []string{"sql/tenant"},
		Logs:      []arena.Log{{Kind: "slow", File: "sqlite-trace.log"}},
	},
	{
		Name: "blackauth", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "blackauth", Env: blackauthEnv,
	},
	{
		Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo,
		Source: "go", Env: appEnv, Load: "sql/load.sh", Programs: []string{"mariadb", "sqlite3"},
	},
	{
		Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx,
		Configs: []arena.Config{{Template: "nginx.conf"}},
		Logs:    []arena.Log{{Kind: "access", File: "access.log"}, {Kind: "error", File: "error.log"}},
		Public:  "public",
	},
}

// rubyApp is the app in Ruby: Sinatra in Puma, with Debian's packages. The number of
// its processes and threads is in its environment.
var rubyApp = arena.Service{
	Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineRuby,
	Source: "ruby",
	Build:  []string{"ruby", "-wc", "app.rb", "database.rb", "config.ru", "puma.rb"},
	Start:  []string{"puma", "-C", "puma.rb", "config.ru"},
	Env: func(p arena.Places) []string {
		return append(appEnv(p), "RACK_ENV=production", "PUMA_WORKERS=0", "PUMA_THREADS=5")
	},
	Load: "sql/load.sh", Programs: []string{"mariadb", "sqlite3"},
}

func init() {
	arena.Register(&arena.Arena{
		Name:    "isuports",
		Title:   "ISUPORTS (ISUCON 12 qualifier)",
		Summary: "rankings for many tenants, each with a database of its own",

		Files:            webapp,
		Generate:         Generate,
		GeneratedVersion: generatedVersion(),
		Small:            &arena.Data{Generate: smallSize.generate, Version: "small " + smallSize.version()},

		Services: services,
		Variants: []arena.Variant{{Name: "ruby", Summary: "rankings for many tenants, with the app in Ruby", Services: []arena.Service{rubyApp}}},

		Scenario:          newScenario,
		Settings:          settings,
		Answers:           answers,
		Ladder:            files.Ladder(ladder),
		Allow:             allowed,
		InitializeTimeout: 30 * time.Second,
	})
}

// appEnv returns all environment variables that the app reads.
func appEnv(p arena.Places) []string {
	database, tenants := p.Service("database"), p.Service("tenants")
	return []string{
		"ISUCON_DB_HOST=127.0.0.1",
		fmt.Sprintf("ISUCON_DB_PORT=%d", database.Port),
		"ISUCON_DB_USER=" + database.User,
		"ISUCON_DB_PASSWORD=" + database.Password,
		"ISUCON_DB_NAME=" + database.Schema,
		"ISUCON_TENANT_DB_DIR=" + tenants.Data,
		"ISUCON_SQLITE_TRACE_FILE=" + tenants.Log("slow"),
		"ISUCON_JWT_KEY_FILE=" + p.Webapp + "/public.pem",
		"ISUCON_BASE_HOSTNAME=" + baseHost,
		"ISUCON_ADMIN_HOSTNAME=" + adminHost,
		"SERVER_APP_HOST=127.0.0.1",
		fmt.Sprintf("SERVER_APP_PORT=%d", p.Service("app").Port),
	}
}

// blackauthEnv returns the environment of the login service.
func blackauthEnv(p arena.Places) []string {
	return []string{
		"ISUCON_BASE_HOSTNAME=" + baseHost,
		"SERVER_APP_HOST=127.0.0.1",
		fmt.Sprintf("SERVER_APP_PORT=%d", p.Service("blackauth").Port),
	}
}
