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
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Run runs a scenario against a target and returns the measured run. It returns
// an error only when the run could not start (bad options, a core that does not
// exist, samples that cannot be written); failed checks are in the Run. When ctx
// is done the run ends at once and keeps what was measured: Outcome Interrupted,
// Partial true.
func Run(ctx context.Context, sc scenario.Scenario, o Options) (*iikanji.Run, error) {
	s, run, err := measure(ctx, sc, o, nil)
	if err != nil {
		return nil, err
	}
	s.finish(ctx, run)
	return run, nil
}

// measure runs the phases of a run, or of a part of one: l is nil for a whole run.
func measure(ctx context.Context, sc scenario.Scenario, o Options, l *linked) (*session, *iikanji.Run, error) {
	s, err := newSession(sc, o)
	if err != nil {
		return nil, nil, err
	}
	s.linked = l
	defer s.close()
	samples, err := s.openSamples()
	if err != nil {
		return nil, nil, err
	}
	restore, err := prepareRuntime(o.CPUs)
	if err != nil {
		samples.close(s.shards)
		return nil, nil, err
	}
	defer restore()
	defer s.showProgress()()

	run := s.newRun()
	s.prepare(ctx)
	s.load(ctx, run)
	s.validate(ctx)
	if w := samples.close(s.shards); w != "" {
		s.warn("%s", w)
	}
	if err := s.heads.close(); err != nil {
		s.warn("%s", err)
	}
	return s, run, nil
}

// openSamples creates the file of samples if Options.SamplesDir is set.
func (s *session) openSamples() (*sampleWriter, error) {
	if s.o.SamplesDir != "" {
		if err := os.MkdirAll(s.o.SamplesDir, 0o755); err != nil {
			return nil, fmt.Errorf("creating the folder of samples: %w", err)
		}
	}
	if s.o.KeepHeads {
		s.heads = newHeadSampler(s.o.SamplesDir)
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
	s.now.Store(p)
	prepare := s.preparing()
	if prepare == nil || !s.awaitPrepared(ctx) {
		return
	}
	limit := firstOf(s.o.PrepareTimeout, DefaultPhaseTimeout)
	s.notify(scenario.Prepare, true)
	s.runPhase(p, limit, false, func(ctx context.Context) error { return prepare(ctx, s) }, nil)
	s.notify(scenario.Prepare, false)
	s.checkOutside(ctx, p)
}

// notify calls OnPhase.
func (s *session) notify(p scenario.Phase, begins bool) {
	if s.o.OnPhase != nil {
		s.o.OnPhase(p, begins)
	}
}

// checkOutside fails the run if errors were reported outside of the load phase.
func (s *session) checkOutside(ctx context.Context, p *phase) {
	if n := s.outside.Load(); n > 0 && ctx.Err() == nil && !s.failed() {
		s.fail(fmt.Sprintf("%d errors in %s", n, p.name))
	}
}

// load runs the scenario's Load and measures it.
func (s *session) load(ctx context.Context, run *iikanji.Run) {
	sc, ok := s.sc.(scenario.Loader)
	if !ok || s.o.NoLoad || s.failed() || ctx.Err() != nil || !s.awaitBegin(ctx) {
		return
	}
	takeTallies(s.shards, len(s.info.Steps)) // requests of Prepare count in the samples only
	p := newPhase(ctx, numLoad, scenario.Load)
	s.notify(scenario.Load, true)
	s.beginSeconds()
	w := s.startWatch()
	s.scoring.Store(true)
	exchanged := s.exchange(ctx)
	s.runPhase(p, s.LoadTime(), true, func(ctx context.Context) error { return sc.Load(ctx, s) }, func() {
		s.scoring.Store(false)
		w.stop(s)
		s.notify(scenario.Load, false)
		alive := p.actors()
		delete(alive, "(load)")
		s.gaugeAll("actors at the end: ", alive)
	})
	exchanged()
	s.sumLoad(run, w)
}

// sumLoad copies the measurements of the load phase into the run.
func (s *session) sumLoad(run *iikanji.Run, w *watch) {
	run.Took = w.took()
	s.endSeconds()
	s.tallies = takeTallies(s.shards, len(s.info.Steps))
	run.Steps = s.stepStats(s.tallies)
	var u iikanji.Usage
	run.Load, u = w.result(s, run.Steps)
	run.Usage = append(run.Usage, u)
	s.mu.Lock()
	dropped := maps.Clone(s.dropped)
	s.mu.Unlock()
	s.gaugeAll("due times dropped: ", dropped)
	if n := s.repeated.Load(); n > 0 {
		s.Gauge("requests sent again, not processed before", "", float64(n))
	}
}

// gaugeAll sets one gauge per kind, sorted by kind.
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

// validate runs the scenario's Validate, if it has one and the run has not failed.
func (s *session) validate(ctx context.Context) {
	sc, ok := s.sc.(scenario.Validator)
	if !ok || s.failed() || ctx.Err() != nil {
		return
	}
	p := newPhase(ctx, numValidate, scenario.Validate)
	limit := firstOf(s.o.ValidateTimeout, DefaultPhaseTimeout)
	s.notify(scenario.Validate, true)
	s.runPhase(p, limit, false, func(ctx context.Context) error { return sc.Validate(ctx, s) }, nil)
	s.notify(scenario.Validate, false)
	s.checkOutside(ctx, p)
}

// finish computes the score and the outcome.
func (s *session) finish(ctx context.Context, run *iikanji.Run) {
	if run.Steps == nil { // without load: the requests of the checks
		run.Steps = s.stepStats(takeTallies(s.shards, len(s.info.Steps)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	run.Faults = s.faults.list()
	run.Phases, run.Gauges, run.Notes, run.Warnings = s.phases, s.gauges, s.notes, s.warnings
	run.Outcome, run.Reasons = judge(ending{
		fatal: s.fatal, interrupted: ctx.Err() != nil,
		loaded: run.Took > 0, took: run.Took, loadTime: s.LoadTime(), why: run.Load.Why,
		score: s.score(), failAtZero: s.info.Table.FailAtZero, errors: s.errors.Load(), timeouts: s.timeouts.Load(),
	})
	run.Partial = ctx.Err() != nil
	s.writeScore(run)
}

// writeScore sets the run's score. A failed run has score 0.
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

// progressEvery is how often Options.Progress is called.
const progressEvery = 250 * time.Millisecond

// showProgress calls Options.Progress until stop is called. stop waits for the
// last call to return.
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
	if s.timed.name == "" {
		return p
	}
	p.Phase, p.Elapsed = string(s.timed.name), time.Duration(s.clock.now()-s.timed.began)
	if s.timed.name == scenario.Load {
		p.Left = max(s.LoadTime()-p.Elapsed, 0)
	}
	return p
}
