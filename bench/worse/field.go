package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/observe"
	"github.com/iikanji/iikanji/internal/tune"
)

// A field is a place in which trials are held.
type field struct {
	*place
	history *history.History
	cpus    []int // of the load generator; nil for all
	seed    uint64
	dir     string
	noisy   bool               // runs count that were disturbed from outside
	ran     func(*iikanji.Run) // told of each run
}

var _ tune.Field = (*field)(nil)

// Bench implements tune.Field.
func (f *field) Bench(ctx context.Context, spec tune.BenchSpec) (*iikanji.Run, string, error) {
	sc, err := f.arena.Scenario(arena.Options{Data: f.stack.Data()})
	if err != nil {
		return nil, "", fmt.Errorf("making the benchmarker of %s: %w", f.arena.Name, err)
	}
	id, _, err := f.history.NewRun()
	if err != nil {
		return nil, "", err
	}
	g := &observe.Guard{Now: time.Now, Groups: f.stack.Groups, Dir: f.dir}
	run, err := bench.Run(ctx, sc, bench.Options{URL: f.stack.Places().URL(), Seed: f.seed, Load: spec.Load, CPUs: f.cpus, OnPhase: g.Phase})
	if err != nil {
		return nil, "", err
	}
	run.ID, run.State = id, spec.State
	run.Place = iikanji.Placement{Cores: runtime.NumCPU(), Generator: bench.CPUList(f.cpus)}
	g.Mark(run)
	if f.noisy {
		g.Void = ""
	}
	f.ran(run)
	return run, g.Void, f.history.SaveRun(run)
}

// Observe implements tune.Field: nothing is looked for here, since what is
// tried comes from the proposer alone.
func (f *field) Observe(context.Context, tune.BenchSpec) (*observe.Diagnosis, []iikanji.Fact, error) {
	return &observe.Diagnosis{Run: &iikanji.Run{}}, nil, nil
}

// Rehearse implements tune.Field: a restart proves nothing about a gain.
func (f *field) Rehearse(context.Context) (tune.Rehearsal, error) {
	return tune.Rehearsal{Says: "left out: the trials are all that is wanted"}, nil
}
