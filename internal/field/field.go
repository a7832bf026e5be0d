package field

import (
	"context"
	"errors"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/host"
	"github.com/iikanji/iikanji/internal/hoststat"
	"github.com/iikanji/iikanji/internal/judge"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/scenario"
	"github.com/iikanji/iikanji/internal/tune"
)

// A Field is a site with its load and its history.
type Field struct {
	// Subject is nil for a site that other people run: nothing of it is started
	// or restarted then, and its processes are not known.
	Subject Subject
	Loader  Loader
	History *history.History
	Now     func() time.Time
	// Dir is a folder on the disk of the data, whose free space is watched; "" for none.
	Dir string
	// Progress is called while a run goes on; nil for no one.
	Progress func(bench.Progress)
	// Say is called with what an observation does after its load, a line at a time; nil for no one.
	Say func(line string)
	// Noisy makes disturbed runs count; they carry a warning.
	Noisy bool
	// Rest is the least time between two runs of a search: an answer that may be
	// a second old must not reach from one run into the next, where initialize
	// has made the data anew. 0 means DefaultRest.
	Rest time.Duration
	// Boot is how long the site took to come up, for runs that stand alone; 0 where it is not known.
	Boot time.Duration

	// Machine is the machine of the runs; nil for this one.
	Machine host.Host

	ended time.Time   // of the latest run
	usual judge.Usual // of the runs of this search
}

// DefaultRest is the time between two runs of a search.
const DefaultRest = 2500 * time.Millisecond

var _ tune.Field = (*Field)(nil)

// A Spec is what a run is to be.
type Spec struct {
	Load
	State iikanji.Fingerprint
	// HostEvery is the interval between samples of the host; 0 takes none.
	HostEvery time.Duration
	// KeepSamples keeps the samples of every request in the folder of the run.
	KeepSamples bool
	// Counts reads the databases' counters before and after the load.
	Counts bool
	// Ready is called right before the load, when initialize has run; false
	// ends the run there. nil goes on.
	Ready func(ctx context.Context) bool
	// Around is called with each phase, outside of what the guard measures.
	Around func(p scenario.Phase, begins bool)
}

// Measured is a run with what was seen around it. The run is not saved yet.
type Measured struct {
	Run   *iikanji.Run
	Dir   string // the run's folder in the history
	Guard *observe.Guard

	boot time.Duration
}

// Samples are the samples of the host.
func (m *Measured) Samples() []hoststat.Sample { return m.Guard.Samples }

// Run makes one run with the guard around its load. The context's end makes it
// a partial run; see the Loader.
func (f *Field) Run(ctx context.Context, spec Spec) (*Measured, error) {
	id, dir, err := f.History.NewRun()
	if err != nil {
		return nil, err
	}
	g := &observe.Guard{Now: f.Now, Host: f.Machine, Dir: f.Dir, Every: spec.HostEvery}
	var cs counters
	if f.Subject != nil {
		g.Groups = f.Subject.Groups
		if spec.Counts {
			cs = countersOf(f.Subject)
		}
	}
	defer g.Stop()
	l := spec.Load
	if spec.KeepSamples {
		l.Samples = dir
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
	run.ID, run.State = id, spec.State
	if f.Subject != nil {
		shareMachine(run, g.Environment)
	}
	cs.mark(run)
	return &Measured{Run: run, Dir: dir, Guard: g, boot: f.Boot}, nil
}

// phases orders what happens around a phase: what takes little time is nearest
// to the load.
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

// Bench implements tune.Field.
func (f *Field) Bench(ctx context.Context, spec tune.BenchSpec) (*iikanji.Run, string, error) {
	if err := f.revive(ctx); err != nil {
		return nil, "", err
	}
	f.Subject.Deaths().setTrial(spec.Trial)
	if err := f.pause(ctx); err != nil {
		return nil, "", err
	}
	defer f.over()
	m, err := f.Run(ctx, Spec{Load: Load{Time: spec.Load}, State: spec.State, Ready: spec.Ready, Counts: true})
	if err != nil {
		return nil, "", err
	}
	m.Guard.Mark(m.Run)
	void := f.void(m.Run, spec.Accept)
	if dead := f.Subject.Deaths().Waiting(); len(dead) > 0 {
		failBy(m.Run, dead)
		_ = f.revive(ctx) // the undoing may need it; if a service dies again, the next run tries once more
	}
	return m.Run, void, f.History.SaveRun(m.Run)
}

// failBy makes a run fail by services that died while it ran.
func failBy(run *iikanji.Run, dead []Death) {
	run.Outcome, run.Score = iikanji.Failed, 0
	for _, d := range dead {
		run.Reasons = append([]string{"while it ran: " + d.Err.Error()}, run.Reasons...)
	}
}

// pause waits until the latest run is far enough in the past.
func (f *Field) pause(ctx context.Context) error {
	rest := f.Rest
	if rest == 0 {
		rest = DefaultRest
	}
	timer := time.NewTimer(rest - f.Now().Sub(f.ended))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// over notes the end of a run, for pause.
func (f *Field) over() { f.ended = f.Now() }

// Check initializes the site and runs every check without load. The text says
// why the checks fail, "" when they pass.
func (f *Field) Check(ctx context.Context) (fails []string, err error) {
	run, err := f.Loader.Load(ctx, Load{CheckOnly: true})
	if err != nil || run.Outcome == iikanji.Passed {
		return nil, err
	}
	return append([]string{}, run.Reasons...), nil
}

// Initialize makes the site's data anew and wants its checks to pass.
func (f *Field) Initialize(ctx context.Context) error {
	fails, err := f.Check(ctx)
	if err == nil && fails != nil {
		err = errors.New(checksFail(fails))
	}
	return err
}
