package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/stack"
)

// Of returns the site of a running stack. The returned function closes the site's
// connections to the database.
func Of(ctx context.Context, s *stack.Stack, a *arena.Arena) (*change.Site, func() error, error) {
	p := s.Places()
	db, err := openDatabase(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	site := Files(s.Target(), a, p.Conf, p.Webapp)
	for name, svc := range site.Services {
		svc.LimitsFile = s.LimitsFile(name)
		svc.Restart = func(ctx context.Context) error { return s.RestartFor(ctx, name) }
		switch name {
		case stack.Database:
			svc.DB, svc.Check = db, s.CheckDatabase
		case stack.App:
			svc.Source, svc.Build, svc.EnvFile, svc.Env = s.Source(), s.BuildIn, s.EnvFile(), s.AppEnv()
		case stack.Nginx:
			svc.Check = s.CheckNginx
			svc.Reload = func(ctx context.Context) error { return s.Reload(ctx, stack.Nginx) }
		}
		site.Services[name] = svc
	}
	return site, db.Close, nil
}

// openDatabase opens a pool to the stack's database as the user of this process: by
// the socket, with all privileges. It pings the server once. No connection stays idle,
// because restarts break idle connections, and a run should have none.
func openDatabase(ctx context.Context, p arena.Places) (*sql.DB, error) {
	db, err := host.Local{}.SQL(host.Login{Socket: p.DBSocket, Schema: p.DBName})
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the database: %w", err), db.Close())
	}
	return db, nil
}
