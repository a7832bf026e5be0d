package livesite

import (
	"context"
	"fmt"
	"os"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// wire makes the site that kinds of change read and the executor changes.
func (s *Subject) wire(ctx context.Context) error {
	if err := os.MkdirAll(s.envFolder(), 0o700); err != nil {
		return fmt.Errorf("making the work folder: %w", err)
	}
	f := s.options.File
	s.site = &change.Site{Target: s.Target(), Hosts: map[string]host.Host{"": s.host}, Services: map[string]change.Service{},
		Roots: append([]string{s.envFolder()}, f.Policy.Folders...)}
	for _, name := range s.names {
		r := s.services[name]
		svc, err := s.wireOne(ctx, r)
		if err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
		s.site.Services[name] = svc
	}
	return nil
}

func (s *Subject) wireOne(ctx context.Context, r *running) (change.Service, error) {
	svc := change.Service{Config: r.Config, DropIn: r.DropIn, Public: r.Public, Loads: r.Database.Loads,
		Restart:   func(ctx context.Context) error { return s.Refresh(ctx, r.Name) },
		Processes: func() []int { return s.Groups()[r.Name] }}
	switch {
	case r.Engine.MySQLFamily():
		login, err := s.login(r.Service)
		if err != nil {
			return svc, err
		}
		db, err := host.Local{}.SQL(login)
		if err != nil {
			return svc, err
		}
		s.dbs = append(s.dbs, db)
		if err := db.PingContext(ctx); err != nil {
			return svc, fmt.Errorf("connecting to the database: %w", err)
		}
		svc.DB = db
		svc.Check = func(ctx context.Context, path string) error { return s.CheckConfig(ctx, r.Name, path) }
	case r.InFiles():
		svc.Files, svc.Originals = r.Database.Files, r.Database.Originals
	case r.Role == iikanji.RoleWeb:
		svc.Check = func(ctx context.Context, path string) error { return s.CheckConfig(ctx, r.Name, path) }
		svc.Reload = func(ctx context.Context) error { return s.Reload(ctx, r.Name) }
	case r.Role == iikanji.RoleApp:
		svc.EnvFile, svc.ArgsFile, svc.Env = s.envFile(r), s.argsFile(r), r.env()
		if s.buildable(r.Service) {
			svc.Source, svc.Package = r.App.Source, r.App.Package
			svc.Build = func(ctx context.Context, dir string) error { return s.compile(ctx, r, dir) }
			if err := s.builds.start(r); err != nil {
				return svc, err
			}
		}
	}
	return svc, nil
}
