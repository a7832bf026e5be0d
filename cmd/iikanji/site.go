package main

import (
	"context"
	"database/sql"
	"fmt"
	"os/user"
	"path/filepath"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/stack"
)

// Files that the stack's servers read and that are nobody's but ours.
const (
	databaseConfig = "my.cnf"
	databaseDropIn = "mariadb.d/iikanji.cnf"
	nginxConfig    = "nginx.conf"
)

// siteOf is a running arena as something that kinds of change read and the
// executor changes. Files may be written in its configs and its webapp only:
// not in the history, not in the database's own files. The function that comes
// with it closes the site's connections to the database.
func siteOf(ctx context.Context, s *stack.Stack, a *arena.Arena) (*change.Site, func() error, error) {
	p := s.Places()
	db, err := openSocket(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	site := filesOf(s.Target(), a, p.Conf, p.Webapp)
	restart := func(service string) func(context.Context) error {
		return func(ctx context.Context) error { return s.RestartFor(ctx, service) }
	}

	database := site.Services[stack.Database]
	database.DB, database.Check, database.Restart = db, s.CheckDatabase, restart(stack.Database)
	database.LimitsFile = s.LimitsFile(stack.Database)
	site.Services[stack.Database] = database

	app := site.Services[stack.App]
	app.Source, app.Build, app.Restart = s.Source(), s.BuildIn, restart(stack.App)
	app.EnvFile, app.Env, app.LimitsFile = s.EnvFile(), s.AppEnv(), s.LimitsFile(stack.App)
	site.Services[stack.App] = app

	nginx := site.Services[stack.Nginx]
	nginx.Check, nginx.Restart = s.CheckNginx, restart(stack.Nginx)
	nginx.Reload = func(ctx context.Context) error { return s.Reload(ctx, stack.Nginx) }
	nginx.LimitsFile = s.LimitsFile(stack.Nginx)
	site.Services[stack.Nginx] = nginx
	return site, db.Close, nil
}

// filesOf is what can be said of a site from its folders alone, while nothing
// of it runs.
func filesOf(t iikanji.Target, a *arena.Arena, conf, webapp string) *change.Site {
	t.Policy = iikanji.Policy{Allow: a.Allow}
	site := &change.Site{Target: t, Roots: []string{conf, webapp}, Services: map[string]change.Service{
		stack.Database: {Config: filepath.Join(conf, databaseConfig), DropIn: filepath.Join(conf, databaseDropIn)},
		stack.App:      {},
		stack.Nginx:    {Config: filepath.Join(conf, nginxConfig)},
	}}
	if a.App.Public != "" {
		nginx := site.Services[stack.Nginx]
		nginx.Public = filepath.Join(webapp, a.App.Public)
		site.Services[stack.Nginx] = nginx
	}
	if a.App.Load != "" {
		database := site.Services[stack.Database]
		database.Loads = []string{filepath.Join(webapp, filepath.Dir(a.App.Load))}
		site.Services[stack.Database] = database
	}
	return site
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
		db.Close()
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	return db, nil
}
