package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/day/finalize"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/load/field"

	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/site/boot"
	"github.com/iikanji/iikanji/internal/site/livesite"
	"github.com/iikanji/iikanji/internal/site/target"
)

// A finalSite is a site that is finalized. It is opened anew for each step: services end and
// start between the steps. The connections to its other machines last for all steps.
type finalSite struct {
	cmd      *finalizeCmd
	e        *env
	target   *namedTarget
	dir      string
	history  *history.History
	progress *report.Progress
	file     *target.File      // with the placement of services
	machines finalize.Machines // nil where not every service is a unit of systemd
	stay     []string          // machines that may not be rebooted
	rebooter *finalize.Rebooter
}

// do carries the plan out.
func (f *finalSite) do(ctx context.Context) (res finalize.Result, err error) {
	if f.file, err = livesite.Placed(f.target.file, f.dir); err != nil {
		return res, err
	}
	err = withMachines(ctx, f.target, true, func(line string) { f.progress.Say("%s", line) }, func() error {
		p, err := f.plan()
		if err != nil {
			return err
		}
		res, err = p.Do(ctx)
		if err == nil && res.Ready && !f.cmd.rehearse {
			f.leaveMachines(ctx)
		}
		return err
	})
	if res.Rebooted {
		res.Stayed = f.stay
	}
	return res, err
}

// plan is what to do.
func (f *finalSite) plan() (*finalize.Plan, error) {
	f.machines = f.unitsOf()
	rules := &f.file.Contest
	before, err := f.before()
	if err != nil {
		return nil, err
	}
	p := &finalize.Plan{Site: f, Now: f.e.Now, End: time.Time(rules.End), Run: runLength(f.file), Before: before, Floor: rules.Least(),
		Check: f.cmd.Check, Rehearse: f.cmd.rehearse, NoRun: !f.cmd.LastRun, Orders: finalize.OrdersOf(hasServers(f.file), f.cmd.Gaps), Show: f.show}
	for i, name := range hostsOf(f.file) {
		p.Hosts = append(p.Hosts, &finalHost{f, name, i == 0})
	}
	if f.machines == nil {
		p.Orders = p.Orders[:1]
	}
	if f.cmd.Reboot {
		if err := f.rounds(p); err != nil {
			return nil, err
		}
	}
	if f.cmd.Within > 0 {
		p.End = f.e.Now().Add(f.cmd.Within)
	}
	if !p.End.IsZero() && !p.Check {
		f.progress.Say("%s, end %s, needs %s", f.e.Now().Local().Format("15:04"), p.End.Local().Format("15:04"), report.Duration(p.Needs().Round(time.Minute)))
	}
	return p, nil
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

// hostsOf are the machines with services of a site, instances too, this one first.
func hostsOf(f *target.File) (names []string) {
	for i := range f.Services {
		names = append(names, f.Services[i].Host)
		for _, name := range f.Services[i].Instances {
			names = append(names, f.HostRef(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// label is the name of a machine for people; "" on a site with one.
func (f *finalSite) label(name string) string {
	if len(hostsOf(f.file)) == 1 {
		return ""
	}
	for i := range f.file.Hosts {
		if h := &f.file.Hosts[i]; h.Here() && name == "" {
			return h.Name
		}
	}
	if name == "" {
		return "this machine"
	}
	return name
}

// unitsOf are the site's units; nil if a service is not one.
func (f *finalSite) unitsOf() (all finalize.Machines) {
	for _, name := range hostsOf(f.file) {
		u := &finalize.Units{Host: f.target.hosts.On(name), Label: f.label(name), Now: f.e.Now}
		for i := range f.file.Services {
			s := &f.file.Services[i]
			on := s.Host == name || slices.ContainsFunc(s.Instances, func(other string) bool { return f.file.HostRef(other) == name })
			if !on || s.InFiles() {
				continue
			}
			if s.Method() != target.ByUnit || s.Unit == "" {
				return nil
			}
			u.Services = append(u.Services, unitOf(s, s.Host == name))
		}
		if len(u.Services) == 0 || name == "" && !boot.Systemd(u.Host) {
			continue
		}
		all = append(all, u)
	}
	return all
}

// unitOf is a service as its unit. Of an instance only an address of its own machine is known.
func unitOf(s *target.Service, home bool) finalize.UnitService {
	one := finalize.UnitService{Name: s.Name, Unit: strings.TrimSuffix(s.Unit, ".service") + ".service", Server: finalize.IsServer(s.Role), Network: "tcp", Listen: s.Listen}
	where, _, err := net.SplitHostPort(s.Listen)
	ip := net.ParseIP(where)
	switch {
	case s.Listen == "" && s.Socket != "":
		one.Network, one.Listen = "unix", s.Socket
	case err != nil, !home && !ip.IsLoopback() && !ip.IsUnspecified():
		one.Listen = ""
	}
	return one
}

// before is the score with which the last run is compared: the median of the state of the
// latest run that passed.
func (f *finalSite) before() (float64, error) {
	runs, err := past.Runs(f.history, stateByHand(f.history, f.dir))
	if err != nil {
		return 0, err
	}
	c := choose.Among(runs, choose.Rules{Final: choose.Last, Floor: f.file.Contest.Least()})
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

// Up implements finalize.Site: services that an interrupted step left down are started, and
// changes that it left half done are undone.
func (f *finalSite) Up(ctx context.Context) (started []string, err error) {
	if started, err = f.machines.Up(ctx); err != nil {
		return started, err
	}
	return started, f.subject(ctx, func(ctx context.Context, s *livesite.Subject) error {
		x := &change.Executor{Hands: s.Site(), Journal: f.history, Policy: s.Site().Target.Policy}
		_, err := x.Recover(ctx)
		return err
	})
}

// subject opens the site.
func (f *finalSite) subject(ctx context.Context, do func(ctx context.Context, s *livesite.Subject) error) error {
	return useTarget(ctx, f.target, f.stackFolder(), false, func(ctx context.Context, s field.Subject) error {
		live, ok := s.(*livesite.Subject)
		if !ok {
			return fmt.Errorf("%s is no site that runs already", f.target.Name)
		}
		return do(ctx, live)
	})
}

// run is the bench command of the site's runs.
func (f *finalSite) run() (*benchRun, error) {
	c := &benchCmd{Target: f.cmd.Target, Pin: "auto", Seed: 1, Dir: f.dir, History: f.history.Dir(), JSON: true} // standard output has the result alone
	r, err := c.prepare(f.e, f.target)
	if err == nil {
		r.patient = true // READY is said of a score
		r.unlogged = !f.cmd.rehearse && slices.Contains(f.file.Target().Policy.Allow, iikanji.Observability)
	}
	return r, err
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
	if f.machines == nil {
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
	if says, err = f.machines.Restart(ctx, o); err != nil {
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
	x := &change.Executor{Hands: s.Site(), Journal: f.history, Policy: s.Site().Target.Policy}
	return x.ReadBack(ctx, ids...)
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
		line, more := w.write(ctx, r, m.Run)
		for _, text := range append([]string{line}, more...) {
			if text != "" {
				f.progress.Say("%s", report.Clean(text))
			}
		}
		if err := w.pushed(r); err != nil {
			return err
		}
		id, score = m.Run.ID, m.Run.Score
		if m.Run.Load.Void {
			return &finalize.VoidError{Says: fmt.Sprintf("run %d is void: %s", id, m.Run.Load.Why)}
		}
		if !m.Run.Clean() {
			return fmt.Errorf("run %d %s: %s", id, m.Run.Outcome, strings.Join(m.Run.Reasons, "; "))
		}
		return nil
	})
	return id, score, err
}
