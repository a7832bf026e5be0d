package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/boot"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A finalSite is a site on this machine that is finalized. It is opened anew for each step:
// services end and start between the steps.
type finalSite struct {
	cmd      *finalizeCmd
	e        *env
	target   *namedTarget
	dir      string
	history  *history.History
	progress *report.Progress
	units    *finalize.Units // nil where not every service is a unit of systemd
}

// do carries the plan out.
func (f *finalSite) do(ctx context.Context) (finalize.Result, error) {
	f.units = f.unitsOf(f.target.file)
	rules := &f.target.file.Contest
	before, err := f.before()
	if err != nil {
		return finalize.Result{}, err
	}
	p := finalize.Plan{Hosts: []finalize.Host{f}, Site: f, Now: f.e.Now, End: time.Time(rules.End), Run: runLength(f.target.file), Before: before, Floor: rules.Least(),
		Check: f.cmd.Check, NoRun: !f.cmd.LastRun, Reboot: f.cmd.Reboot, Orders: finalize.OrdersOf(hasServers(f.target.file)), Show: f.show}
	if f.units == nil {
		p.Orders = p.Orders[:1]
	}
	if f.cmd.Within > 0 {
		p.End = f.e.Now().Add(f.cmd.Within)
	}
	if !p.End.IsZero() && !p.Check {
		f.progress.Say("%s, end %s, needs %s", f.e.Now().Local().Format("15:04"), p.End.Local().Format("15:04"), report.Duration(p.Needs().Round(time.Minute)))
	}
	return p.Do(ctx)
}

func (f *finalSite) show(s finalize.Step) { f.progress.Say("%s: %s", s.Name, s.Says) }

// hasServers reports whether a site has a database, a cache or a queue in a process.
func hasServers(f *target.File) bool {
	for i := range f.Services {
		if s := &f.Services[i]; finalize.IsServer(s.Role) && !s.InFiles() {
			return true
		}
	}
	return false
}

// unitsOf are the site's units; nil if a service is not one.
func (f *finalSite) unitsOf(file *target.File) *finalize.Units {
	u := &finalize.Units{Host: host.Local{}, Now: f.e.Now}
	for i := range file.Services {
		s := &file.Services[i]
		if s.InFiles() {
			continue
		}
		if s.Method() != target.ByUnit || s.Unit == "" {
			return nil
		}
		one := finalize.UnitService{Name: s.Name, Unit: strings.TrimSuffix(s.Unit, ".service") + ".service", Server: finalize.IsServer(s.Role), Network: "tcp", Listen: s.Listen}
		if s.Listen == "" && s.Socket != "" {
			one.Network, one.Listen = "unix", s.Socket
		} else if _, _, err := net.SplitHostPort(s.Listen); err != nil {
			one.Listen = ""
		}
		u.Services = append(u.Services, one)
	}
	if len(u.Services) == 0 || !boot.Systemd(u.Host) {
		return nil
	}
	return u
}

// before is the score with which the last run is compared: the median of the state of the
// latest run that passed.
func (f *finalSite) before() (float64, error) {
	runs, err := past.Runs(f.history, stateByHand(f.history, f.dir))
	if err != nil {
		return 0, err
	}
	c := choose.Among(runs, choose.Rules{Final: choose.Last, Floor: f.target.file.Contest.Least()})
	for i := len(runs) - 1; i >= 0; i-- {
		if !runs[i].Passed {
			continue
		}
		for _, row := range c.Rows {
			if row.Key == runs[i].State.Key {
				return row.Median, nil
			}
		}
	}
	return 0, nil
}

// with opens the site for one step.
func (f *finalSite) with(ctx context.Context, do func(ctx context.Context, l *finalize.Local) error) error {
	return f.subject(ctx, func(ctx context.Context, s *livesite.Subject) error { return do(ctx, f.local(s)) })
}

func (f *finalSite) subject(ctx context.Context, do func(ctx context.Context, s *livesite.Subject) error) error {
	return useTarget(ctx, f.target, f.stackFolder(), false, func(ctx context.Context, s field.Subject) error {
		live, ok := s.(*livesite.Subject)
		if !ok {
			return fmt.Errorf("%s is no site that runs already", f.target.Name)
		}
		return do(ctx, live)
	})
}

func (f *finalSite) local(s *livesite.Subject) *finalize.Local {
	sources := map[string]string{}
	for i := range f.target.file.Services {
		if one := &f.target.file.Services[i]; one.Role == iikanji.RoleApp {
			sources[one.Name] = one.App.Source
		}
	}
	x := &change.Executor{Hands: s.Site(), Journal: f.history, Policy: s.Site().Target.Policy}
	return &finalize.Local{Units: f.units, Site: s.Site(), Acts: x, History: f.history, Refresh: s.Refresh, Sensors: f.sensors, Tidy: f.tidy,
		Asker: &boot.Asker{Host: host.Local{}, Target: s.Target(), Sources: sources, DB: func(name string) *sql.DB { return s.Site().Services[name].DB() }}}
}

// sensors are the changes of sensors in force.
func (f *finalSite) sensors() (ids []iikanji.ChangeID, err error) {
	changes, err := f.history.Changes()
	for _, c := range changes {
		if c.Kind == livesite.SensorKind && c.Stage.May(iikanji.Reverting) {
			ids = append(ids, c.ID)
		}
	}
	return ids, err
}

// tidy packs the raw files of the history.
func (f *finalSite) tidy(check bool) ([]string, error) {
	if check {
		return nil, nil
	}
	p, err := f.history.Pack(history.PackAfter, history.MaxRaw)
	if err != nil || p.Pruned == 0 {
		return nil, err
	}
	return []string{fmt.Sprintf("removed %s of the oldest runs", report.Number(p.Pruned, "raw file"))}, nil
}

// Name implements finalize.Host.
func (*finalSite) Name() string { return "" }

// Up implements finalize.Host: services that an interrupted step left down are started, and
// changes that it left half done are undone.
func (f *finalSite) Up(ctx context.Context) (started []string, err error) {
	if f.units != nil {
		if started, err = f.units.Up(ctx); err != nil {
			return started, err
		}
	}
	return started, f.with(ctx, func(ctx context.Context, l *finalize.Local) error {
		_, err := l.Acts.Recover(ctx)
		return err
	})
}

// LogsOff implements finalize.Host.
func (f *finalSite) LogsOff(ctx context.Context, check bool) (says []string, err error) {
	err = f.with(ctx, func(ctx context.Context, l *finalize.Local) (err error) {
		says, err = l.LogsOff(ctx, check)
		return err
	})
	return says, err
}

// Losses implements finalize.Host.
func (f *finalSite) Losses(ctx context.Context) (found []iikanji.Finding, err error) {
	err = f.with(ctx, func(ctx context.Context, l *finalize.Local) (err error) {
		found, err = l.Losses(ctx)
		return err
	})
	return found, err
}

// Mend implements finalize.Host.
func (f *finalSite) Mend(ctx context.Context, loss iikanji.Finding) (says string, err error) {
	err = f.with(ctx, func(ctx context.Context, l *finalize.Local) (err error) {
		says, err = l.Mend(ctx, loss)
		return err
	})
	return says, err
}

// LeftBehind implements finalize.Host.
func (f *finalSite) LeftBehind(ctx context.Context, check bool) (says []string, err error) {
	err = f.with(ctx, func(ctx context.Context, l *finalize.Local) (err error) {
		says, err = l.LeftBehind(ctx, check)
		return err
	})
	return says, err
}

// run is the bench command of the site's runs.
func (f *finalSite) run() (*benchRun, error) {
	c := &benchCmd{Target: f.cmd.Target, Pin: "auto", Seed: 1, Dir: f.dir, History: f.history.Dir()}
	return c.prepare(f.e, f.target)
}

// field is the site under load, for one step.
func (f *finalSite) field(ctx context.Context, do func(ctx context.Context, r *benchRun, s *livesite.Subject, fd *field.Field) error) error {
	r, err := f.run()
	if err != nil {
		return err
	}
	defer r.progress.Done()
	return f.subject(ctx, func(ctx context.Context, s *livesite.Subject) error {
		return do(ctx, r, s, r.field(f.history, s, r.loaderOf(s, f.history)))
	})
}

// Restart implements finalize.Site.
func (f *finalSite) Restart(ctx context.Context, o finalize.Order) (says string, err error) {
	if f.units == nil {
		return f.rehearsed(ctx)
	}
	var before field.Contents
	err = f.field(ctx, func(ctx context.Context, _ *benchRun, _ *livesite.Subject, fd *field.Field) (err error) {
		before, err = fd.ContentsAtRest(ctx)
		return err
	})
	if err != nil {
		return "", err
	}
	if says, err = f.units.Restart(ctx, o); err != nil {
		return says, err
	}
	return says + fmt.Sprintf("; %s as before", report.Number(before.Tables(), "table")), f.asBefore(ctx, before)
}

// asBefore proves that the site has its data, that the kept changes are in force, and that
// the checks pass.
func (f *finalSite) asBefore(ctx context.Context, before field.Contents) error {
	return f.field(ctx, func(ctx context.Context, _ *benchRun, s *livesite.Subject, fd *field.Field) error {
		remarks, same, err := fd.SameContents(ctx, before)
		if err != nil {
			return err
		}
		if !same {
			return errors.New(strings.Join(remarks, "; "))
		}
		if err := f.readBack(ctx, s); err != nil {
			return err
		}
		fails, err := fd.Check(ctx)
		if err == nil && fails != nil {
			err = fmt.Errorf("the checks fail: %s", strings.Join(fails, "; "))
		}
		return err
	})
}

// readBack proves that the kept changes are in force.
func (f *finalSite) readBack(ctx context.Context, s *livesite.Subject) error {
	changes, err := f.history.ChangesAt(func(s iikanji.Stage) bool { return s == iikanji.Kept })
	if err != nil {
		return err
	}
	var ids []iikanji.ChangeID
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	return f.local(s).Acts.ReadBack(ctx, ids...)
}

// rehearsed kills and starts services that are not units, once, as the end of a search does.
func (f *finalSite) rehearsed(ctx context.Context) (says string, err error) {
	err = f.field(ctx, func(ctx context.Context, _ *benchRun, _ *livesite.Subject, fd *field.Field) error {
		r, err := fd.Rehearse(ctx)
		if says = r.Says; err == nil && (!r.Done || !r.OK) {
			err = errors.New(r.Says)
		}
		return err
	})
	return says, err
}

// LastRun implements finalize.Site.
func (f *finalSite) LastRun(ctx context.Context) (id iikanji.RunID, score float64, err error) {
	err = f.field(ctx, func(ctx context.Context, r *benchRun, _ *livesite.Subject, fd *field.Field) error {
		w := r.beginWork(ctx, fd)
		m, err := fd.Run(ctx, field.Spec{State: w.fingerprint(), HostEvery: hostEvery})
		if err != nil {
			return err
		}
		m.Complete()
		w.loaded(ctx, m.Run)
		if err := f.history.SaveRun(m.Run); err != nil {
			return err
		}
		w.saved(r, m.Run)
		id, score = m.Run.ID, m.Run.Score
		if !m.Run.Clean() {
			return fmt.Errorf("run %d %s: %s", id, m.Run.Outcome, strings.Join(m.Run.Reasons, "; "))
		}
		return nil
	})
	return id, score, err
}
