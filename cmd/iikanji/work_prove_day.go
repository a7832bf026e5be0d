package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/show/report"
)

// day proves each step of the history: the state of a run against that of the run before
// it. A step that cannot be brought up is told, and the others go on.
func (p *prover) day(ctx context.Context) (proofs []proof, err error) {
	steps, err := p.steps()
	if err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, hinted(errors.New("no run differs from the one before by an edit: there is nothing to prove"), "states are taken by iikanji bench")
	}
	for _, s := range steps {
		if !p.r.e.Now().Before(p.until) {
			return append(proofs, proof{Edits: s.name(), Skipped: "the time is up"}), nil
		}
		one, err := p.step(ctx, s)
		var stays *work.StaysError
		if errors.As(err, &stays) {
			one, err = proof{Edits: s.name(), Skipped: stays.Error()}, nil
		}
		if err != nil {
			return proofs, err
		}
		proofs = append(proofs, one)
	}
	return proofs, nil
}

// A dayStep is two states that followed each other.
type dayStep struct {
	before, after *state.State
	edits         int
}

func (s *dayStep) name() string {
	return fmt.Sprintf("run %d: %s", s.after.Run, report.Number(s.edits, "edit"))
}

// steps are the pairs of runs between which something was edited.
func (p *prover) steps() (steps []dayStep, err error) {
	runs, err := p.d.Store.Runs()
	if err != nil {
		return nil, err
	}
	var before *state.State
	for _, id := range runs {
		s, err := p.d.Store.LoadState(id)
		if err != nil {
			return nil, err
		}
		if before != nil && before.Fingerprint != s.Fingerprint {
			n := len(difference.Between(difference.Input{Base: before, Now: s, Text: p.d.Store.Get, Keyed: p.d.Store.Keyed}))
			if n > 0 {
				steps = append(steps, dayStep{before, s, n})
			}
		}
		before = s
	}
	return steps, nil
}

// step brings the later state of a step up, proves it against the earlier one, and brings
// the present state back.
func (p *prover) step(ctx context.Context, s dayStep) (out proof, err error) {
	present, err := p.d.Look(ctx)
	if err != nil {
		return out, err
	}
	plan, err := p.d.PlanBack(ctx, present, s.after, nil)
	if err != nil {
		return out, err
	}
	if matter := slices.DeleteFunc(slices.Clone(plan.Stays), func(s work.Stay) bool { return !s.Matters }); len(matter) > 0 {
		return out, &work.StaysError{Stays: matter}
	}
	if plan.Change != nil {
		if err := p.bringUp(ctx, plan.Change, s.after.Run); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, p.takeDown(context.WithoutCancel(ctx))) }()
	}
	if p.base, err = p.d.StateOf(s.before.Run); err != nil {
		return out, err
	}
	if p.now, err = p.d.Look(ctx); err != nil {
		return out, err
	}
	return p.one(ctx, s.name(), nil)
}

// bringUp applies the change that leads to the state of a run.
func (p *prover) bringUp(ctx context.Context, c *iikanji.Change, run iikanji.RunID) error {
	c.Says = fmt.Sprintf("the state of run %d, to prove it", run)
	if err := p.d.History.AddChange(c, change.Diff(c)); err != nil {
		return err
	}
	if err := work.Proves(p.d.Store.Dir(), c.ID); err != nil {
		return err
	}
	p.outer = []iikanji.ChangeID{c.ID}
	return p.x.Apply(ctx, c.ID)
}

// takeDown brings the present state back.
func (p *prover) takeDown(ctx context.Context) error {
	for _, id := range slices.Backward(p.outer) {
		c, err := p.d.History.LoadChange(id)
		if err != nil {
			return err
		}
		if c.Stage.May(iikanji.Reverting) {
			if err := p.x.Revert(ctx, id, "work prove: the present state again"); err != nil {
				return err
			}
		}
	}
	p.outer = nil
	return work.Settled(p.d.Store.Dir())
}
