package field

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/hoststat"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/show/timeline"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A Field is a site with its load and its history.
type Field struct {
	// Subject is nil for a site that runs elsewhere: no service of it is started or
	// restarted, and its processes are unknown.
	Subject Subject
	Loader  Loader
	History *history.History
	Now     func() time.Time
	// Dir is a folder on the disk of the data: the free space there is checked, as on the disks
	// of the services' logs. "" checks those alone.
	Dir string
	// Unseen: the site runs on this machine, and Subject is nil.
	Unseen bool
	// Progress is called during a run; nil discards it.
	Progress func(bench.Progress)
	// Say receives the steps of an observation after its load, one line each; nil discards them.
	Say func(line string)
	// Noisy makes disturbed runs count; they carry a warning.
	Noisy bool
	// Rest is the least time between two runs of a search: an answer that a cache keeps
	// for a second must not survive initialize and appear in the next run. 0 means
	// DefaultRest.
	Rest time.Duration
	// Settle is the time between two readings of the tables before a rehearsal; 0 means
	// settledGap.
	Settle time.Duration
	// Before is called before each run of a search; it may end the context of the search,
	// which then ends without another run. nil is for nothing.
	Before func()
	// Boot is how long the start of the site took, for single runs; 0 if it is unknown.
	Boot time.Duration
	// Who makes the runs, for sites that several people work on; "" writes no one.
	Who string
	// Machine is written on each run; nil writes none.
	Machine *iikanji.Machine

	// NoRestart leaves the apps alone around an observed run: statements of connections that
	// were open before it are then not seen.
	NoRestart bool
	// Profile adds a CPU profiler to the Go apps for observed runs; see profilersOn.
	Profile bool

	// Host is the machine that the guard watches; nil for this one.
	Host host.Host

	ended time.Time   // of the latest run
	usual judge.Usual // of the runs of this search

	logs []grownLog // the access logs, with their sizes before the latest run of Bench

	profiles []*profiler // of the observed run under way
	reopened bool        // the apps have connections that log every statement

	sourceRoutes map[string]sourceRoutes // by folder of source
}

// DefaultRest is the time between two runs of a search.
const DefaultRest = 2500 * time.Millisecond

// A Spec describes a run to make.
type Spec struct {
	Load
	State iikanji.Fingerprint
	// HostEvery is the interval between samples of the host; 0 takes none.
	HostEvery time.Duration
	// KeepSamples keeps the samples of every request in the folder of the run.
	KeepSamples bool
	// KeepSeconds counts answers by second; see Measured.Seconds.
	KeepSeconds bool
	// Counts reads the databases' counters before and after the load.
	Counts bool
	// Ready is called after initialize, right before the load. false ends the run there;
	// nil is the same as always true.
	Ready func(ctx context.Context) bool
	// Around is called at the begin and end of each phase, outside of the guard's
	// measurement.
	Around func(p scenario.Phase, begins bool)
}

// Measured is a run with the measurements of its surroundings. The run is not saved yet.
type Measured struct {
	Run   *iikanji.Run
	Dir   string // the run's folder in the history
	Guard *observe.Guard
	// Seconds are the answers by second; nil without Spec.KeepSeconds.
	Seconds *bench.Seconds

	boot time.Duration
}

// Samples returns the samples of the host.
func (m *Measured) Samples() []hoststat.Sample { return m.Guard.Samples }

// Run makes one run with the guard around its load. If the context ends, the run is
// partial; see Loader.
func (f *Field) Run(ctx context.Context, spec Spec) (*Measured, error) {
	id, dir, err := f.History.NewRun()
	if err != nil {
		return nil, err
	}
	g := &observe.Guard{Now: f.Now, Host: f.Host, Disks: f.disks(), Every: spec.HostEvery, Unseen: f.Unseen}
	var cs counters
	if f.Subject != nil {
		g.Groups = f.Subject.Groups
		g.Others, g.HostOf = f.others()
		if s, ok := f.Subject.(spread); ok {
			g.GroupsOn = s.GroupsOn
		}
		if spec.Counts {
			cs = countersOf(f.Subject)
		}
	}
	defer g.Stop()
	l := spec.Load
	l.Run = id
	if spec.KeepSamples {
		l.Samples = dir
	}
	if spec.KeepSeconds {
		l.Seconds = new(bench.Seconds)
	}
	if l.Progress == nil {
		l.Progress = f.Progress
	}
	runCtx, cut := context.WithCancel(ctx)
	defer cut()
	l.OnPhase = f.phases(runCtx, cut, spec, g, cs)
	run, err := f.Loader.Load(runCtx, l)
	if err != nil {
		return nil, err
	}
	g.Stop()
	run.ID, run.State, run.Machine, run.Who = id, spec.State, f.Machine, f.Who
	if f.Subject != nil {
		shareMachine(run, g.Environment)
	}
	cs.mark(run)
	return &Measured{Run: run, Dir: dir, Guard: g, Seconds: l.Seconds, boot: f.Boot}, nil
}

// others are the other machines that services of the site run on, and the machine of each
// service. A machine that the site does not know has no place in a run.
func (f *Field) others() (others []host.Host, hostOf func(service string) string) {
	site, on, t := f.Subject.Site(), map[string]string{}, f.Subject.Target()
	add := func(name string) {
		if name == "" || slices.ContainsFunc(others, func(h host.Host) bool { return h.Name() == name }) {
			return
		}
		if h, err := site.On(name); err == nil {
			others = append(others, h)
		}
	}
	for _, s := range t.Services {
		on[s.Name] = s.Host
		add(s.Host)
	}
	for _, h := range t.Hosts {
		add(h.Name)
	}
	return others, func(service string) string { return on[service] }
}

// A spread subject knows the processes of one machine, also of instances and spares.
type spread interface {
	GroupsOn(host string) map[string][]int
}

// phases orders the work around a phase: quick work is nearest to the load.
func (f *Field) phases(ctx context.Context, cut func(), spec Spec, g *observe.Guard, cs counters) func(scenario.Phase, bool) {
	around := spec.Around
	if around == nil {
		around = func(scenario.Phase, bool) {}
	}
	return func(p scenario.Phase, begins bool) {
		if begins && p == scenario.Load && spec.Ready != nil && !spec.Ready(ctx) {
			cut()
			return
		}
		if begins {
			around(p, begins)
			cs.phase(p, begins)
			g.Phase(p, begins)
			return
		}
		g.Phase(p, begins)
		cs.phase(p, begins)
		around(p, begins)
	}
}

// Bench implements the Field of a search.
func (f *Field) Bench(ctx context.Context, spec load.Spec) (*iikanji.Run, string, error) {
	f.before()
	if err := f.revive(ctx); err != nil {
		return nil, "", err
	}
	f.Subject.Deaths().setTrial(spec.Trial)
	if err := f.pause(ctx, spec.Rest); err != nil {
		return nil, "", err
	}
	defer f.over()
	f.logs = f.accessLogs()
	stale := f.stalePages()
	m, err := f.Run(ctx, Spec{Load: Load{Time: spec.Load}, State: spec.State, Ready: spec.Ready, Counts: true, KeepSeconds: true, HostEvery: time.Second})
	if err != nil {
		return nil, "", err
	}
	m.Guard.Mark(m.Run)
	void := f.void(m.Run, spec.Accept)
	failByPages(m.Run, stale, f.stalePages())
	if dead := f.Subject.Deaths().Waiting(); len(dead) > 0 {
		failBy(m.Run, dead)
		_ = f.revive(ctx) // the undoing may need it; if a service dies again, the next run tries once more
	}
	return m.Run, void, errors.Join(f.History.SaveRun(m.Run), timeline.SaveSeconds(f.History, m.Run.ID, m.Seconds, m.Samples(), m.Guard.Far()))
}

func (f *Field) before() {
	if f.Before != nil {
		f.Before()
	}
}

// failBy makes a run fail because of services that died during the run.
func failBy(run *iikanji.Run, dead []Death) {
	run.Outcome, run.Score = iikanji.Failed, 0
	for _, d := range dead {
		run.Reasons = append([]string{"while it ran: " + d.Err.Error()}, run.Reasons...)
	}
}

// pause waits until the latest run is far enough in the past, and more.
func (f *Field) pause(ctx context.Context, more time.Duration) error {
	rest := f.Rest
	if rest == 0 {
		rest = DefaultRest
	}
	now := f.Now()
	timer := time.NewTimer(max(rest+more-now.Sub(f.ended), f.keptUntil().Sub(now)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// keptUntil is the time from which the site sends no answer of the latest run that a cache
// keeps: initialize does not drop it, and the next run would check it.
func (f *Field) keptUntil() (until time.Time) {
	if f.Subject == nil || f.ended.IsZero() {
		return until
	}
	return change.KeptUntil(f.Subject.Site(), f.ended)
}

// over records the end of a run, for pause.
func (f *Field) over() { f.ended = f.Now() }

// Check initializes the site and runs every check without load. fails has
// the reasons of failed checks; nil if all pass.
func (f *Field) Check(ctx context.Context) (fails []string, err error) {
	run, err := f.Loader.Load(ctx, Load{CheckOnly: true})
	if err != nil || run.Outcome == iikanji.Passed {
		return nil, err
	}
	return append([]string{}, run.Reasons...), nil
}

// Initialize restores the site's initial data. Failed checks are an error.
func (f *Field) Initialize(ctx context.Context) error {
	fails, err := f.Check(ctx)
	if err == nil && fails != nil {
		err = errors.New(checksFail(fails))
	}
	return err
}
