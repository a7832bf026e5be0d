package main

import (
	_ "embed"
	"fmt"
	"testing/fstest" // for its in-memory file system
	"time"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/scenario"
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
		Database: arena.Database{Name: "tickets", User: "tickets", Password: "tickets",
			Conf: "max_connections = 300\ninnodb_buffer_pool_size = 128M\ninnodb_flush_log_at_trx_commit = 2\n"},
		App: arena.App{Source: "go", Dir: "go", Ready: "/", Env: func(p arena.Places) []string {
			return []string{fmt.Sprintf("PORT=%d", p.AppPort), fmt.Sprintf("DB_PORT=%d", p.DBPort),
				"DB_USER=" + p.DBUser, "DB_PASSWORD=" + p.DBPassword, "DB_NAME=" + p.DBName}
		}},
		NginxConf:         "nginx.conf",
		Scenario:          func(o arena.Options) (scenario.Scenario, error) { return &sale{noLoad: o.NoLoad}, nil },
		InitializeTimeout: 30 * time.Second,
	}
}
