package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/scenario"
)

// Run runs a scenario against a target and says how it went. The error is not
// nil only when the run could not take place (bad options, no such core,
// samples that cannot be written); failed checks are in the Run. When ctx is
// done the run ends at once and what was measured is kept: Outcome
// Interrupted, Partial true.
func Run(ctx context.Context, sc scenario.Scenario, o Options) (*iikanji.Run, error) {
	s, err := newSession(sc, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	samples, err := s.openSamples()
	if err != nil {
		return nil, err
	}
	untune, err := tune(o.CPUs)
	if err != nil {
		samples.close(s.shards)
		return nil, err
	}
	defer untune()
	defer s.showProgress()()

	run := s.newRun()
	s.prepare(ctx)
	s.load(ctx, run)
	s.validate(ctx)
	if w := samples.close(s.shards); w != "" {
		s.warn("%s", w)
	}
	s.finish(ctx, run)
	return run, nil
}

// openSamples creates the file of samples where one is wanted.
func (s *session) openSamples() (*sampleWriter, error) {
	if s.o.SamplesDir != "" {
		if err := os.MkdirAll(s.o.SamplesDir, 0o755); err != nil {
			return nil, fmt.Errorf("creating the folder of samples: %w", err)
		}
	}
	w, err := newSampleWriter(s.o.SamplesDir, SampleHead{Scenario: s.info.Name, Began: s.clock.base, Steps: s.info.Steps})
	if err == nil {
		s.shards = newShards(len(s.shards), len(s.info.Steps), w)
	}
	return w, err
}

func (s *session) newRun() *iikanji.Run {
	run := &iikanji.Run{Version: iikanji.RunVersion, Scenario: s.info.Name, Seed: s.o.Seed, Began: s.clock.base}
	run.Place = iikanji.Placement{Cores: runtime.NumCPU(), Generator: "all"}
	if set, err := allowed(); err == nil && (len(s.o.CPUs) > 0 || set.Count() < runtime.NumCPU()) {
		run.Place.Generator = cpuList(set)
	}
	return run
}

// prepare runs the scenario's Prepare, if it has one.
func (s *session) prepare(ctx context.Context) {
	p := newPhase(ctx, numPrepare, scenario.Prepare)
	sc, ok := s.sc.(scenario.Preparer)
	if !ok {
		s.now.Store(p)
		return
	}
	limit := firstOf(s.o.PrepareTimeout, DefaultPhaseTimeout)
	s.tell(scenario.Prepare, true)
	s.runPhase(p, limit, false, func(ctx context.Context) error { return sc.Prepare(ctx, s) }, nil)
	s.tell(scenario.Prepare, false)
	s.checkOutside(ctx, p)
}

// tell calls OnPhase.
func (s *session) tell(p scenario.Phase, begins bool) {
	if s.o.OnPhase != nil {
		s.o.OnPhase(p, begins)
	}
}

// checkOutside fails the run for errors that were reported where there is no load.
func (s *session) checkOutside(ctx context.Context, p *phase) {
	if n := s.outside.Load(); n > 0 && ctx.Err() == nil && !s.failed() {
		s.fail(fmt.Sprintf("%d errors in %s", n, p.name))
	}
}

// load runs the scenario's Load and measures it.
func (s *session) load(ctx context.Context, run *iikanji.Run) {
	sc, ok := s.sc.(scenario.Loader)
	if !ok || s.o.NoLoad || s.failed() || ctx.Err() != nil {
		return
	}
	take(s.shards, len(s.info.Steps)) // what Prepare sent is in its samples only
	p := newPhase(ctx, numLoad, scenario.Load)
	s.tell(scenario.Load, true)
	w := s.startWatch()
	s.scoring.Store(true)
	s.runPhase(p, s.LoadTime(), true, func(ctx context.Context) error { return sc.Load(ctx, s) }, func() {
		s.scoring.Store(false)
		w.stop(s)
		s.tell(scenario.Load, false)
		alive := p.census()
		delete(alive, "(load)")
		s.gaugeAll("actors at the end: ", alive)
	})
	s.sumLoad(run, w)
}

// sumLoad puts what the load phase measured into the run.
func (s *session) sumLoad(run *iikanji.Run, w *watch) {
	run.Took = w.took()
	run.Steps = s.stepStats(take(s.shards, len(s.info.Steps)))
	var u iikanji.Usage
	run.Load, u = w.result(s, run.Steps)
	run.Usage = append(run.Usage, u)
	s.mu.Lock()
	dropped := maps.Clone(s.dropped)
	s.mu.Unlock()
	s.gaugeAll("due times dropped: ", dropped)
}

// gaugeAll sets a gauge for each kind, in their order.
func (s *session) gaugeAll(what string, byKind map[string]int64) {
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		s.Gauge(what+kind, "", float64(byKind[kind]))
	}
}

func (s *session) stepStats(sum []stepTally) []iikanji.StepStat {
	stats := make([]iikanji.StepStat, len(sum))
	for i := range sum {
		stats[i] = sum[i].stat(s.info.Steps[i])
	}
	return stats
}

// validate runs the scenario's Validate, if it has one and there was no
// failure before.
func (s *session) validate(ctx context.Context) {
	sc, ok := s.sc.(scenario.Validator)
	if !ok || s.failed() || ctx.Err() != nil {
		return
	}
	p := newPhase(ctx, numValidate, scenario.Validate)
	limit := firstOf(s.o.ValidateTimeout, DefaultPhaseTimeout)
	s.tell(scenario.Validate, true)
	s.runPhase(p, limit, false, func(ctx context.Context) error { return sc.Validate(ctx, s) }, nil)
	s.tell(scenario.Validate, false)
	s.checkOutside(ctx, p)
}

// finish computes the score and judges the outcome.
func (s *session) finish(ctx context.Context, run *iikanji.Run) {
	if run.Steps == nil { // there was no load: show the checks' requests
		run.Steps = s.stepStats(take(s.shards, len(s.info.Steps)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run.Faults = s.faults.list()
	run.Phases, run.Gauges, run.Notes, run.Warnings = s.phases, s.gauges, s.notes, s.warnings
	run.Outcome, run.Reasons = judge(ending{
		fatal: s.fatal, interrupted: ctx.Err() != nil,
		loaded: run.Took > 0, took: run.Took, planned: s.LoadTime(), why: run.Load.Why,
		score: s.score(), failAtZero: s.info.Table.FailAtZero, errors: s.errors.Load(), timeouts: s.timeouts.Load(),
	})
	run.Partial = ctx.Err() != nil
	s.writeScore(run)
}

// writeScore puts the score into the run; a failed one has 0.
func (s *session) writeScore(run *iikanji.Run) {
	counts := s.events.all()
	sc := s.score()
	for i, e := range s.info.Table.Events {
		run.Points = append(run.Points, iikanji.PointStat{Event: e.Name, Count: counts[i], Points: sc.ByEvent[i]})
	}
	if run.Took == 0 {
		return
	}
	run.Raw, run.Deducted = sc.Raw, sc.Deducted
	if run.Outcome != iikanji.Failed {
		run.Score = sc.Final
	}
}

// progressEvery is how often the progress display is fed.
const progressEvery = 250 * time.Millisecond

// showProgress feeds Options.Progress until stop is called, which waits for
// the last call to return.
func (s *session) showProgress() (stop func()) {
	if s.o.Progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				s.o.Progress(s.progress())
			}
		}
	}()
	return func() { close(quit); <-done }
}

func (s *session) progress() Progress {
	p := Progress{Score: s.score().Final, Requests: requests(s.shards),
		Errors: s.errors.Load() + s.outside.Load(), Timeouts: s.timeouts.Load()}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Note, s.note = s.note, ""
	if s.naming.name == "" {
		return p
	}
	p.Phase, p.Elapsed = string(s.naming.name), time.Duration(s.clock.now()-s.naming.began)
	if s.naming.name == scenario.Load {
		p.Left = max(s.LoadTime()-p.Elapsed, 0)
	}
	return p
}
