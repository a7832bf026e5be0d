package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/user"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/stack"
)

// Of is a running stack as something that kinds of change read and the
// executor changes. The function that comes with it closes the site's
// connections to the database.
func Of(ctx context.Context, s *stack.Stack, a *arena.Arena) (*change.Site, func() error, error) {
	p := s.Places()
	db, err := openSocket(ctx, p)
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

// openSocket is a pool to the stack's database as the person who runs us: by
// the socket, with every right. It asks the server once.
func openSocket(ctx context.Context, p arena.Places) (*sql.DB, error) {
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("asking who we are: %w", err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = me.Username, "unix", p.DBSocket, p.DBName
	c.InterpolateParams = true
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(0) // restarts break idle ones, and a run should not find any
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to the database: %w", err), db.Close())
	}
	return db, nil
}
