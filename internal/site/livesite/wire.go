package livesite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/site/target"
)

// wire makes the site that kinds of change read and the executor changes.
func (s *Subject) wire(ctx context.Context) error {
	if err := os.MkdirAll(s.envFolder(), 0o700); err != nil {
		return fmt.Errorf("making the work folder: %w", err)
	}
	f := s.File()
	s.site = &change.Site{Target: s.Target(), Hosts: s.hosts, Services: map[string]change.Service{},
		Roots: roots(s.envFolder(), f)}
	for _, name := range s.names {
		r := s.running()[name]
		svc, err := s.wireOne(ctx, r)
		if err != nil && s.options.Partly {
			s.options.Progress(fmt.Sprintf("service %s: %v", name, err))
		} else if err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
		s.site.Services[name] = svc
	}
	s.wirePlacement()
	s.wireSystemd()
	return nil
}

func (s *Subject) wireOne(ctx context.Context, r *running) (change.Service, error) {
	is := wired{s: s, r: r}
	svc := change.Service{Host: r.Host, Config: r.Config, DropIn: r.DropIn, Public: r.Public, Loads: r.Database.Loads, LoadsOn: s.home(r.Name)}
	switch {
	case r.Engine.MySQLFamily():
		login, err := s.login(r.Service)
		if err != nil {
			return svc, err
		}
		if is.db, err = r.host.SQL(login); err != nil {
			return svc, err
		}
		s.dbs = append(s.dbs, is.db)
		if err := is.db.PingContext(ctx); err != nil && r.process() != nil {
			return svc, fmt.Errorf("connecting to the database: %w", err)
		}
		svc.Checks = true
	case r.InFiles():
		svc.Files, svc.Originals = r.Database.Files, r.Database.Originals
	case r.Role == iikanji.RoleWeb:
		svc.Checks, svc.Reloads = true, true
	case r.Role == iikanji.RoleApp:
		svc.EnvFile, svc.ArgsFile, svc.Env = s.envFile(r), s.argsFile(r), r.env()
		if err := s.wireSource(ctx, r, &svc); err != nil {
			return svc, err
		}
	}
	svc.Running = is
	return svc, nil
}

// wireSource gives an app its source, if its program can be built from it. A source of another
// machine that cannot be read is reported, and no change edits it.
func (s *Subject) wireSource(ctx context.Context, r *running, svc *change.Service) error {
	svc.SourceThere = r.App.Source
	if !s.buildable(r) {
		return nil
	}
	if err := s.builds.start(ctx, r); err != nil {
		if r.far() {
			s.options.Progress(fmt.Sprintf("the source of %s on %s is not edited: %v", r.Name, r.Host, err))
			return nil
		}
		return err
	}
	svc.Builds, svc.Source, svc.Package, svc.SourceThere = true, r.App.Source, r.App.Package, ""
	if r.far() {
		svc.Mirror = func(ctx context.Context) (string, error) {
			dir, _, err := s.mirror(ctx, r)
			return dir, err
		}
	}
	return nil
}

// roots are the folders in which changes may write files: that of environments, that of the
// parameters' values, and those of the policy.
func roots(env string, f *target.File) []string {
	all := []string{env}
	if path := f.ParameterPath(); path != "" {
		all = append(all, filepath.Dir(path))
	}
	return append(all, f.Policy.Folders...)
}

// wired implements change.Running for a service of a site.
type wired struct {
	s  *Subject
	r  *running
	db *sql.DB
}

func (w wired) Restart(ctx context.Context) error { return w.s.Refresh(ctx, w.r.Name) }
func (w wired) Reload(ctx context.Context) error  { return w.s.Reload(ctx, w.r.Name) }
func (w wired) CheckConfig(ctx context.Context, path string) error {
	return w.s.CheckConfig(ctx, w.r.Name, path)
}
func (w wired) Build(ctx context.Context, dir string) error { return w.s.compile(ctx, w.r, dir) }
func (w wired) Processes() ([]int, bool)                    { return w.s.Groups()[w.r.Name], true }
func (w wired) DB() *sql.DB                                 { return w.db }
