package trial

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A Final is the last comparison: the untouched site against the final one, in interleaved
// full runs.
type Final struct {
	Site Site
	Seed uint64
	Load time.Duration
	// Wanted is how many pairs there shall be.
	Wanted int
	// Away undoes every change for a while, and Back applies them again.
	Away, Back func(ctx context.Context) error
	// Before is a run of the untouched site that was made right before the comparison,
	// or nil. The first pair may use it as its A.
	Before *iikanji.Run
	// Tell is told of each run before it is made.
	Tell func(final bool)

	On    bool // all changes in force are applied
	Pairs []judge.Pair
	used  bool // the first pair used Before
}

// RunPair runs the next pair; the first one starts in the final state.
func (f *Final) RunPair(ctx context.Context) (p judge.Pair, err error) {
	n := len(f.Pairs)
	for _, final := range f.orderOf(n) {
		if !final && f.used && n == 0 {
			p.A = f.Before
			continue
		}
		f.Tell(final)
		if err := f.turn(ctx, final); err != nil {
			return p, err
		}
		run, void, err := f.Site.Bench(ctx, load.Spec{Load: f.Load})
		if err != nil {
			return p, err
		}
		if p.Put(final, run, void); p.Void != "" {
			break
		}
	}
	return p, nil
}

// orderOf is the order of the n-th pair. The pair after one whose first run was made
// before has the other order.
func (f *Final) orderOf(n int) []bool {
	switch {
	case n == 0 && f.Before != nil && !f.used:
		f.used = true
		return judge.AB.Arms()
	case n == 0: // the pair with that run does not count
		f.used, f.Before = false, nil
	case n == 1 && f.used:
		return judge.BA.Arms()
	}
	return judge.FinalOrder(f.Seed, f.Wanted, n).Arms()
}

// turn brings the site into its final or its untouched state.
func (f *Final) turn(ctx context.Context, final bool) error {
	if f.On == final {
		return nil
	}
	f.On = false // until it is certain
	if !final {
		return f.Away(ctx)
	}
	err := f.Back(ctx)
	f.On = err == nil
	return err
}
