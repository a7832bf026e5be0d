package tune

import (
	"context"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// confirmsLast reports whether the runs of the last comparison confirm the change that
// the fast lane let in: a scarce search has no time for runs of its own, the runs have
// one length, and no other change is in force.
func (t *endPhase) confirmsLast() bool {
	return t.scarce() && t.options.Full == t.options.Short && t.ledger.Open != nil && t.nothing() && t.tailLeft() < 2*t.cost
}

// proveOpen does what prove does, for a change that is not confirmed yet. If the last
// comparison does not confirm the change, it undoes it and clears the ratio of the outcome.
func (t *endPhase) proveOpen(ctx context.Context) error {
	t.note("the runs of the last comparison also confirm what was kept: there was no time for other runs")
	if err := t.prove(ctx); err != nil {
		return err
	}
	if err := t.confirm(ctx); err != nil || len(t.ledger.InForce) > 0 {
		return err
	}
	out := t.out
	out.Untouched, out.Final = []iikanji.RunID{}, []iikanji.RunID{}
	out.Ratio, out.Scores, out.Work, out.Rehearsal = iikanji.Interval{}, [2]float64{}, nil, load.Rehearsal{}
	t.note("the last comparison did not confirm what was kept: it is undone")
	return nil
}

// noteOpen adds a pair of the last comparison to the runs that decide on an unconfirmed
// change.
func (t *endPhase) noteOpen(p judge.Pair) {
	if o := t.ledger.Open; o != nil {
		o.Before, o.Since = append(o.Before, p.A.ID), append(o.Since, p.B.ID)
	}
}

// untouchedBefore is a run of the untouched site that no other run has followed, in a
// scarce search whose runs have one length. It was not chosen for its score: only one
// as high as the candidate's would have been another case (andBack).
func (t *endPhase) untouchedBefore() *iikanji.Run {
	if !t.scarce() || t.options.Full != t.options.Short || t.back == nil || t.backAt != t.ledger.Runs {
		return nil
	}
	return t.back
}

// orderOf is the order of the n-th pair. The pair after one whose first run was made
// before has the other order.
func (c *comparison) orderOf(n int) []bool {
	switch {
	case n == 0 && c.before != nil && !c.used:
		c.used = true
		return judge.AB.Arms()
	case n == 0: // the pair with that run does not count
		c.used = false
		c.before = nil
	case n == 1 && c.used:
		return judge.BA.Arms()
	}
	return judge.NextOrder(c.options.Seed, 0, n).Arms()
}
