package loader

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Watch is a Loader that sends nothing: its load is the traffic that the site
// has anyway.
type Watch struct {
	Site string
	Now  func() time.Time
}

var _ field.Loader = (*Watch)(nil)

// Load implements field.Loader. It returns after l.Time.
func (w *Watch) Load(ctx context.Context, l field.Load) (*iikanji.Run, error) {
	if l.CheckOnly || l.Time <= 0 {
		return nil, fmt.Errorf("watching %s: a watch has a length and checks nothing", w.Site)
	}
	run := newRun(w.Site)
	run.Watched = true
	phase := func(begins bool) {
		if l.OnPhase != nil {
			l.OnPhase(scenario.Load, begins)
		}
	}
	phase(true)
	run.Began = w.Now()
	w.wait(ctx, l)
	run.Took = w.Now().Sub(run.Began)
	phase(false)
	run.Phases = append(run.Phases, iikanji.PhaseStat{Phase: string(scenario.Load), Took: run.Took})
	if run.Outcome = iikanji.Passed; ctx.Err() != nil {
		run.Outcome, run.Partial = iikanji.Interrupted, true
	}
	return run, nil
}

func (w *Watch) wait(ctx context.Context, l field.Load) {
	end := time.NewTimer(l.Time)
	defer end.Stop()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	began := w.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-tick.C:
		}
		if l.Progress != nil {
			gone := w.Now().Sub(began)
			l.Progress(bench.Progress{Unseen: true, Phase: string(scenario.Load), Elapsed: gone, Left: max(0, l.Time-gone)})
		}
	}
}
