package main

import (
	_ "embed"
	"fmt"
	"testing/fstest" // for its in-memory file system
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// The files of the app that is limited by row locks. The app is a module of its own:
// the go command ignores folders that begin with "_". Its go.mod and go.sum end
// in .txt, because go:embed refuses a folder with a go.mod.
var (
	//go:embed _tickets/main.go
	ticketsMain []byte
	//go:embed _tickets/go.mod.txt
	ticketsMod []byte
	//go:embed _tickets/go.sum.txt
	ticketsSum []byte
	//go:embed _tickets/nginx.conf
	ticketsNginx []byte
)

// ticketsArena is the app in the folder _tickets with its own load. Its database
// allows as many connections as the largest pool needs, and does not wait for the
// disk, so only row locks are slow.
func ticketsArena() *arena.Arena {
	return &arena.Arena{
		Name:    "tickets",
		Title:   "tickets",
		Summary: "Orders that all lock the same rows.",
		Files: fstest.MapFS{
			"go/main.go": {Data: ticketsMain},
			"go/go.mod":  {Data: ticketsMod},
			"go/go.sum":  {Data: ticketsSum},
			"nginx.conf": {Data: ticketsNginx},
		},
		Services: []arena.Service{
			{Name: "database", Role: iikanji.RoleDatabase, Engine: iikanji.EngineMariaDB,
				Database: arena.Database{Name: "tickets", User: "tickets", Password: "tickets",
					Conf: "max_connections = 300\ninnodb_buffer_pool_size = 128M\ninnodb_flush_log_at_trx_commit = 2\n"}},
			{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineGo, Source: "go", Env: func(p arena.Places) []string {
				db := p.Service("database")
				return []string{fmt.Sprintf("PORT=%d", p.Service("app").Port), fmt.Sprintf("DB_PORT=%d", db.Port),
					"DB_USER=" + db.User, "DB_PASSWORD=" + db.Password, "DB_NAME=" + db.Schema}
			}},
			{Name: "nginx", Role: iikanji.RoleWeb, Engine: iikanji.EngineNginx, Configs: []arena.Config{{Template: "nginx.conf"}}},
		},
		Scenario:          func(o arena.Options) (scenario.Scenario, error) { return &sale{noLoad: o.NoLoad}, nil },
		InitializeTimeout: 30 * time.Second,
	}
}
