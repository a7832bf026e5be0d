package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all" // every kind
	"github.com/iikanji/iikanji/internal/stack"
)

// A place is an arena that is up, as a site that can be changed.
type place struct {
	arena *arena.Arena
	stack *stack.Stack
	site  *change.Site
}

// downTime bounds taking a stack down.
const downTime = time.Minute

// at brings an arena up in dir, does something with it and takes it down
// again. The context of do ends also when a service dies.
func at(ctx context.Context, a *arena.Arena, o stack.Options, do func(ctx context.Context, p *place) error) (err error) {
	s, err := stack.Up(ctx, a, o)
	if err != nil {
		return fmt.Errorf("bringing %s up: %w", a.Name, err)
	}
	defer func() {
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), downTime)
		defer cancel()
		err = errors.Join(err, s.Down(down))
	}()
	db, err := openSocket(ctx, s.Places())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
		case died, ok := <-s.Died():
			if ok {
				cancel(died)
			}
		}
	}()
	err = do(ctx, &place{arena: a, stack: s, site: siteOf(s, a, db)})
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = errors.Join(cause, err) // a service died, say: that is why
	}
	return err
}

// siteOf says where kinds of change find what they read and write: in the
// stack's configs and its webapp, and nowhere else.
func siteOf(s *stack.Stack, a *arena.Arena, db *sql.DB) *change.Site {
	p := s.Places()
	t := s.Target()
	t.Policy = iikanji.Policy{Allow: a.Allow}
	restart := func(service string) func(context.Context) error {
		return func(ctx context.Context) error { return s.RestartFor(ctx, service) }
	}
	database := change.Service{Config: filepath.Join(p.Conf, "my.cnf"), DropIn: filepath.Join(p.Conf, "mariadb.d", "iikanji.cnf"),
		DB: db, Check: s.CheckDatabase, Restart: restart(stack.Database), LimitsFile: s.LimitsFile(stack.Database)}
	if a.App.Load != "" {
		database.Loads = []string{filepath.Join(p.Webapp, filepath.Dir(a.App.Load))}
	}
	app := change.Service{Source: s.Source(), Build: s.BuildIn, Restart: restart(stack.App),
		EnvFile: s.EnvFile(), Env: s.AppEnv(), LimitsFile: s.LimitsFile(stack.App)}
	nginx := change.Service{Config: filepath.Join(p.Conf, "nginx.conf"), Check: s.CheckNginx, Restart: restart(stack.Nginx),
		Reload:     func(ctx context.Context) error { return s.Reload(ctx, stack.Nginx) },
		LimitsFile: s.LimitsFile(stack.Nginx)}
	if a.App.Public != "" {
		nginx.Public = filepath.Join(p.Webapp, a.App.Public)
	}
	return &change.Site{Target: t, Roots: []string{p.Conf, p.Webapp},
		Services: map[string]change.Service{stack.Database: database, stack.App: app, stack.Nginx: nginx}}
}

// openSocket is a pool to the stack's database as who runs us, with every right.
func openSocket(ctx context.Context, p arena.Places) (*sql.DB, error) {
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("asking who we are: %w", err)
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.DBName = me.Username, "unix", p.DBSocket, p.DBName
	c.InterpolateParams, c.Logger = true, &mysql.NopLogger{}
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
