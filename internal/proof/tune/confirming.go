package tune

import (
	"context"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// confirmRun runs the site once for the change that the fast lane let in.
func (t *Tuner) confirmRun(ctx context.Context) error {
	t.display.show(func(v *View) { v.Phase, v.Doing = "trial", "confirming changes kept by the fast lane" })
	run, void, err := t.runner.Bench(ctx, load.Spec{Load: t.Options.Short})
	if err == nil && void == "" {
		t.book.IncumbentRan(run)
	}
	return err
}

// confirmOpen decides on the unconfirmed change.
func (t *Tuner) confirmOpen(ctx context.Context) error {
	b := t.book
	l := b.ledger()
	before, err := b.load(l.Open.Before)
	if err != nil {
		return err
	}
	since, err := b.load(l.Open.Since)
	if err != nil {
		return err
	}
	a := &l.Attempts[l.Open.Attempt]
	inForce := l.InForceOf(a)
	changes, err := b.changes(inForce)
	if err != nil {
		return err
	}
	v := b.state.Judge.Confirm(changes[0].ID, trial.WorthOf(changes), judge.Provisional{OK: true, Bound: l.Open.Bound}, before, since)
	if why := judge.VoidsMore(l.Open.With, l.Open.Without); why != "" && v.Call == iikanji.Keep {
		v.Call, v.Reason, v.Why = iikanji.Revert, iikanji.NoGain, why
		if l.Void == nil {
			l.Void = map[string]judge.Record{}
		}
		l.Void[a.Key] = l.Open.With
	}
	v.Answered = a.Verdict.Answered // compared before the run that the fast lane accepted
	a.Verdict = v
	if err := b.judged(a); err != nil {
		return err
	}
	t.display.say("%s: %s: %s%s", strings.ToUpper(a.Result()), a.Says, v.Why, predictedOf(a))
	if v.Call != iikanji.Keep {
		// One run was lucky, or the gain is smaller than it: pairs decide, at once.
		a.Parked, a.Binding, b.state.Stale = true, "of another state", true
		return t.hands.takeBack(ctx, inForce, v.Why)
	}
	for _, id := range inForce {
		if err := t.Acts.Keep(id, v.Why); err != nil {
			return err
		}
	}
	b.keptNow(l.Open.Attempt, l.Open.Without, l.Open.With)
	l.Open = nil
	if !b.state.Known && len(b.aa) == 0 { // the runs that confirmed it tell the noise, too
		b.aa = slices.Clone(since)
	}
	b.learn()
	return b.save()
}

// doubt takes a kept change back whose runs are void more often. Its trial in pairs begins with
// that evidence.
func (t *Tuner) doubt(ctx context.Context, step search.Step) error {
	b, k := t.book, step.Keeps[0]
	l := b.ledger()
	a := &l.Attempts[k.Attempt]
	for _, kept := range b.state.Kept {
		if kept.Attempt == k.Attempt {
			if l.Void == nil {
				l.Void = map[string]judge.Record{}
			}
			l.Void[a.Key], b.earlier = kept.Since, kept.Before
		}
	}
	t.display.note("taken back: %s: %s; pairs decide anew", a.Says, step.Why)
	if err := t.hands.takeBack(ctx, k.Changes, step.Why); err != nil {
		return err
	}
	a.TryAgain(step.Why)
	a.Fast, b.state.Stale = true, true // the fast lane is closed for it
	b.state.StillKept()
	return b.save()
}

// confirmNow runs the site as often as the unconfirmed change needs, and decides on it.
func (t *Tuner) confirmNow(ctx context.Context) error {
	for l := t.book.ledger(); l.Open != nil; {
		if len(l.Open.Since) >= int(search.ConfirmRuns.Value()) {
			return t.confirmOpen(ctx)
		}
		if err := t.confirmRun(ctx); err != nil {
			return err
		}
	}
	return nil
}
