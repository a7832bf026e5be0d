package tune

import (
	"context"
	"math"
	"slices"

	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// runLonger makes one longer run of the site as it is.
func (t *Tuner) runLonger(ctx context.Context, step search.Step) error {
	s := t.book.state
	if s.Longer == nil {
		s.Longer, t.longer = &search.Longer{Load: step.Load}, nil
		t.display.say("%s", step.Why)
	}
	t.display.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose = "calibrate", "a longer run of the site as it is", "which length teaches more?"
	})
	if err := t.runner.restartForRun(ctx); err != nil {
		return err
	}
	began := t.book.now()
	run, void, err := t.runner.Bench(ctx, load.Spec{Load: step.Load})
	if err != nil {
		return err
	}
	l := s.Longer
	l.Runs++
	if void != "" || !run.Clean() || judge.Failed(run) {
		return nil
	}
	l.Y, l.Cost, t.longer = append(l.Y, math.Log(run.Score)), max(l.Cost, t.book.now().Sub(began)), append(t.longer, run)
	return nil
}

// settleLength chooses the length of the search's runs. If it is the longer one, the longer runs
// are the calibration.
func (t *Tuner) settleLength(step search.Step) error {
	b, s := t.book, t.book.state
	s.Longer.Over = true
	t.display.note("%s: %s it is", step.Why, search.Brief(step.Load))
	if step.Load == t.Options.Short {
		return nil
	}
	t.Options.Short, s.Options.Short, s.Cost = step.Load, step.Load, s.Longer.Cost
	l := b.ledger()
	l.Short, l.Chosen, l.Pairs = step.Load, step.Load, nil
	b.past, b.aa, b.fresh = nil, slices.Clone(t.longer), nil
	b.incumbent, b.untouched = slices.Clone(t.longer), untouchedOf(t.longer)
	b.learn()
	t.display.updatePlan()
	return b.save()
}
