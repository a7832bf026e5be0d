package tune

import (
	"context"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// judged saves the verdict of an attempt with each of its changes.
func (rec *records) judged(a Attempt) error {
	if a.Verdict.Call == iikanji.CallUnknown || a.provisional() { // none yet
		return nil
	}
	for i, id := range a.Changes {
		v := a.Verdict
		v.Change, v.Why = id, a.verdictText()
		if v.Call == iikanji.Keep && i < len(a.Alone) && a.Alone[i] != nil {
			v = *a.Alone[i]
			v.Change = id
		}
		if err := rec.store.SaveVerdict(id, &v); err != nil {
			return err
		}
	}
	return nil
}

// verdictText is the verdict's sentence as saved with each change.
func (a Attempt) verdictText() string {
	if n := len(a.Changes); len(a.Parts) > 0 && n > 1 {
		if a.Verdict.Call == iikanji.Keep {
			return fmt.Sprintf("tried as one with %d others, unproven alone: %s", n-1, a.Verdict.Why)
		}
		return fmt.Sprintf("tried as one with %d others: %s", n-1, a.Verdict.Why)
	}
	return a.Verdict.Why
}

// provisional reports whether the fast lane let an attempt in that is not confirmed yet.
func (a Attempt) provisional() bool { return a.Fast && len(a.Verdict.Base) == 0 }

// callOf is the result of an attempt in a word.
func callOf(a Attempt) string {
	switch {
	case a.Skipped != "":
		return "not tried"
	case a.Dropped:
		return "dropped"
	case a.Undone:
		return "undone"
	case a.Verdict.Call == iikanji.Keep && a.provisional():
		return "provisional"
	case a.Parked:
		return "parked"
	}
	return a.Verdict.Call.String()
}

// confirm decides on the unconfirmed change once there are enough runs with it.
func (l *fastLane) confirm(ctx context.Context, least int) error {
	o := l.ledger.Open
	if o == nil || len(o.Since) < least {
		return nil
	}
	before, err := l.load(o.Before)
	if err != nil {
		return err
	}
	since, err := l.load(o.Since)
	if err != nil {
		return err
	}
	a := &l.ledger.Attempts[o.Attempt]
	inForce := l.ledger.inForceOf(a)
	changes, err := l.changes(inForce)
	if err != nil {
		return err
	}
	v := l.judge.Confirm(changes[0].ID, worthOf(changes), judge.Provisional{OK: true, Bound: o.Bound}, before, since)
	v.Answered = a.Verdict.Answered // compared before the run that the fast lane accepted
	a.Verdict = v
	if err := l.judged(*a); err != nil {
		return err
	}
	l.say("%s: %s: %s", strings.ToUpper(callOf(*a)), a.Says, v.Why)
	if v.Call != iikanji.Keep {
		// One run was lucky, or the gain is smaller than it: pairs decide, at once.
		a.Parked, a.Binding, l.stale = true, "of another state", true
		return l.takeBack(ctx, inForce, v.Why)
	}
	for _, id := range inForce {
		if err := l.acts.Keep(id, v.Why); err != nil {
			return err
		}
	}
	l.ledger.Open = nil
	return l.save()
}

// confirmNow runs the site as often as the unconfirmed change needs.
func (l *fastLane) confirmNow(ctx context.Context) error {
	for l.ledger.Open != nil && len(l.ledger.Open.Since) < 2 {
		l.show(func(v *View) { v.Phase, v.Doing = "trial", "confirming changes kept by the fast lane" })
		run, void, err := l.bench(ctx, load.Spec{Load: l.options.Short})
		if err != nil {
			return err
		}
		if void == "" {
			l.incumbentRan(run)
		}
	}
	return l.confirm(ctx, 2)
}

// changes loads changes by number.
func (rec *records) changes(ids []iikanji.ChangeID) ([]*iikanji.Change, error) {
	var out []*iikanji.Change
	for _, id := range ids {
		c, err := rec.store.LoadChange(id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
