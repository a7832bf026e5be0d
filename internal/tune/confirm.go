package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
)

// judged saves the verdict of an attempt with each of its changes.
func (t *Tuner) judged(a Attempt) error {
	if a.Verdict.Call == iikanji.CallUnknown || a.Fast && len(a.Verdict.Base) == 0 { // none yet
		return nil
	}
	for i, id := range a.Changes {
		v := a.Verdict
		v.Change, v.Why = id, a.verdictText()
		if v.Call == iikanji.Keep && i < len(a.Alone) && a.Alone[i] != nil {
			v = *a.Alone[i]
			v.Change = id
		}
		if err := t.History.SaveVerdict(id, &v); err != nil {
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

// callOf is the result of an attempt in a word.
func callOf(a Attempt) string {
	switch {
	case a.Skipped != "":
		return "not tried"
	case a.Dropped:
		return "dropped"
	case a.Undone:
		return "undone"
	case a.Verdict.Call == iikanji.Keep && a.Fast && len(a.Verdict.Base) == 0:
		return "provisional"
	case a.Parked:
		return "parked"
	}
	return a.Verdict.Call.String()
}

// confirm decides on the unconfirmed change once there are enough runs with it.
func (t *Tuner) confirm(ctx context.Context, least int) error {
	o := t.ledger.Open
	if o == nil || len(o.Since) < least {
		return nil
	}
	before, err := t.load(o.Before)
	if err != nil {
		return err
	}
	since, err := t.load(o.Since)
	if err != nil {
		return err
	}
	a := &t.ledger.Attempts[o.Attempt]
	stand := t.ledger.standing(a)
	changes, err := t.changes(stand)
	if err != nil {
		return err
	}
	v := t.judge.Confirm(changes[0].ID, worthOf(changes), judge.Provisional{OK: true, Bound: o.Bound}, before, since)
	a.Verdict = v
	if err := t.judged(*a); err != nil {
		return err
	}
	t.say("%s: %s: %s", strings.ToUpper(callOf(*a)), a.Says, v.Why)
	if v.Call != iikanji.Keep {
		// One run was lucky, or the gain is smaller than it: pairs decide, at once.
		a.Parked, a.Binding, t.stale = true, "of another state", true
		return t.takeBack(ctx, stand, v.Why)
	}
	for _, id := range stand {
		if err := t.Acts.Keep(id, v.Why); err != nil {
			return err
		}
	}
	t.ledger.Open = nil
	return t.save()
}

// changes loads changes by number.
func (t *Tuner) changes(ids []iikanji.ChangeID) ([]*iikanji.Change, error) {
	var out []*iikanji.Change
	for _, id := range ids {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// takeBack undoes changes that are in force. Later changes of the same places are
// undone with them, and tried again.
func (t *Tuner) takeBack(ctx context.Context, gone []iikanji.ChangeID, why string) error {
	above, err := t.above(gone)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(t.ledger.InForce) {
		says := why
		switch {
		case slices.Contains(above, id):
			says = "it was built on a change that was undone: " + why
		case !slices.Contains(gone, id):
			continue
		}
		if err := t.Acts.Revert(ctx, id, says); err != nil {
			return err
		}
	}
	all := slices.Concat(gone, above)
	t.ledger.InForce = slices.DeleteFunc(t.ledger.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(all, id) })
	for i := range t.ledger.Attempts {
		a := &t.ledger.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && slices.ContainsFunc(a.Changes, func(id iikanji.ChangeID) bool { return slices.Contains(above, id) }) {
			t.say("to be tried again: %s: the change it was built on was undone", a.Says)
			a.again("the change it was built on was undone: to be tried again")
		}
	}
	t.ledger.Open, t.incumbent, t.fresh = nil, nil, nil
	return t.save()
}

// above are the changes in force that were applied later than those of below and
// alter one of their places, directly or by way of another change above.
func (t *Tuner) above(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	var above []iikanji.ChangeID
	places := map[string]bool{}
	for _, id := range t.ledger.InForce {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return nil, err
		}
		on := slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return op.Expect != "" && places[op.Location()] })
		if on && !slices.Contains(below, id) {
			above = append(above, id)
		}
		if on || slices.Contains(below, id) {
			for _, op := range c.Do {
				places[op.Location()] = places[op.Location()] || op.Expect != ""
			}
		}
	}
	return above, nil
}
