package arenasite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// Of is the site of a running stack. The function that it returns closes the
// site's connections to the databases.
func Of(ctx context.Context, s *stack.Stack) (_ *change.Site, closeAll func() error, err error) {
	var pools []*sql.DB
	closeAll = func() error {
		var errs []error
		for _, db := range pools {
			errs = append(errs, db.Close())
		}
		return errors.Join(errs...)
	}
	p := s.Places()
	site := Files(s.Target(), s.Arena(), p.Conf, p.Webapp)
	for name, svc := range site.Services {
		declared := s.Arena().Service(name)
		svc.Engine, svc.Address, svc.Memory = declared.Engine, p.Service(name).Address, declared.Memory
		is := running{stack: s, service: name}
		if declared.Role == iikanji.RoleApp {
			svc.EnvFile, svc.Env = s.EnvFile(name), s.Env(name)
		}
		if declared.OnDemand {
			svc.EnableFile = s.EnableFile(name)
		}
		if _, runs := site.Target.Service(name); runs && declared.Engine.MySQLFamily() {
			if is.db, err = openDatabase(ctx, p.Service(name)); err != nil {
				return nil, nil, errors.Join(err, closeAll())
			}
			pools = append(pools, is.db)
		}
		if declared.IsProcess() || declared.PerRun {
			svc.LimitsFile = s.LimitsFile(name)
			svc.Running, svc.Builds, svc.Checks, svc.Reloads = is, s.Builds(name), s.Checks(name), s.Reloads(name)
		}
		site.Services[name] = svc
	}
	return site, closeAll, nil
}

// running implements change.Running for a process of a stack.
type running struct {
	stack   *stack.Stack
	service string
	db      *sql.DB
}

func (r running) Restart(ctx context.Context) error { return r.stack.Refresh(ctx, r.service) }
func (r running) Reload(ctx context.Context) error  { return r.stack.Reload(ctx, r.service) }
func (r running) CheckConfig(ctx context.Context, path string) error {
	return r.stack.CheckConfig(ctx, r.service, path)
}
func (r running) Build(ctx context.Context, dir string) error {
	return r.stack.TryBuild(ctx, r.service, dir)
}

// Processes implements change.Running. A program that is started for each run has none now, and
// those of its runs are not known.
func (r running) Processes() ([]int, bool) {
	svc := r.stack.Arena().Service(r.service)
	return r.stack.Groups()[r.service], svc == nil || !svc.PerRun
}

func (r running) DB() *sql.DB { return r.db }

// openDatabase is a pool to one of the stack's databases as the user that runs
// this process: by the socket, with every right. It pings the server once. No
// connection stays idle: restarts break idle ones, and a run should find none.
func openDatabase(ctx context.Context, at arena.Place) (*sql.DB, error) {
	db, err := host.Local{}.SQL(host.Login{Socket: at.Socket, Schema: at.Schema})
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to %s: %w", at.Name, err), db.Close())
	}
	return db, nil
}
