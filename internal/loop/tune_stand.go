package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/history"
)

// stand brings the site to what the notes say is in force: a search that was
// killed during a comparison has left it without some of its changes.
func (t *Tuner) stand(ctx context.Context) error {
	changes, err := t.History.Changes()
	if err != nil {
		return err
	}
	at := map[iikanji.ChangeID]iikanji.Stage{}
	for _, c := range changes {
		if at[c.ID] = c.Stage; c.Stage == iikanji.Stuck {
			return fmt.Errorf("change %d (%s) is stuck: what the site is, is not known until it is undone", c.ID, c.Says)
		}
	}
	t.forgetUndone(at)
	t.sortInForce()
	for _, c := range slices.Backward(changes) { // a trial that was cut off
		if c.Stage == iikanji.Applied && !slices.Contains(t.book.InForce, c.ID) {
			if err := t.Acts.Revert(ctx, c.ID, "its trial was cut off"); err != nil {
				return err
			}
		}
	}
	for _, id := range t.book.InForce {
		if err := t.putBack(ctx, id, at[id]); err != nil {
			return fmt.Errorf("going on with an earlier search: %w", err)
		}
	}
	t.book.Away = nil
	for _, c := range changes { // applied by hand, or kept and killed before the notes knew
		if c.Stage == iikanji.Kept && !slices.Contains(t.book.InForce, c.ID) {
			t.book.InForce = append(t.book.InForce, c.ID)
		}
	}
	t.sortInForce()
	now, err := t.fingerprint(ctx)
	if err != nil {
		return err
	}
	t.incumbent = slices.DeleteFunc(t.incumbent, func(r *iikanji.Run) bool { return r.State != now })
	for _, r := range slices.Concat(t.untouched, t.incumbent) {
		t.remember(r)
	}
	return t.save()
}

// putBack brings a change that the notes have in force to where it was.
func (t *Tuner) putBack(ctx context.Context, id iikanji.ChangeID, at iikanji.Stage) error {
	if at == iikanji.Reverted { // taken away for a comparison
		if err := t.Acts.Apply(ctx, id); err != nil {
			return err
		}
		at = iikanji.Applied
	}
	switch {
	case at == iikanji.Applied && !t.isOpen(id):
		return t.Acts.Keep(id, "put back after a comparison")
	case at == iikanji.Applied, at == iikanji.Kept:
		return nil
	}
	return fmt.Errorf("change %d cannot be put back: it is %s", id, at)
}

// forgetUndone takes out of the notes what a person has taken back since. A
// change that was taken back by itself is left alone from then on; when all
// of them were, the search begins anew.
func (t *Tuner) forgetUndone(at map[iikanji.ChangeID]iikanji.Stage) {
	b := &t.book
	had := len(b.InForce)
	b.InForce = slices.DeleteFunc(b.InForce, func(id iikanji.ChangeID) bool {
		stage := at[id]
		return stage != iikanji.Applied && stage != iikanji.Kept && !(stage == iikanji.Reverted && slices.Contains(b.Away, id))
	})
	if b.Open != nil && len(t.standing(&b.Attempts[b.Open.Attempt])) == 0 {
		b.Open = nil
	}
	if had > 0 && len(b.InForce) == 0 {
		t.note("all that was kept has been taken back since: the search begins anew")
		b.Attempts = nil
	}
	for i := range b.Attempts {
		if a := &b.Attempts[i]; a.Verdict.Call == iikanji.Keep && !a.Dropped && len(t.standing(a)) == 0 {
			a.Undone = true
		}
	}
}

// standing are the changes of an attempt that are in force.
func (t *Tuner) standing(a *Attempt) []iikanji.ChangeID {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(id iikanji.ChangeID) bool { return !slices.Contains(t.book.InForce, id) })
}

// isOpen says whether a change stands and waits for its confirmation.
func (t *Tuner) isOpen(id iikanji.ChangeID) bool {
	return t.book.Open != nil && slices.Contains(t.book.Attempts[t.book.Open.Attempt].Changes, id)
}

// sortInForce puts what is in force into the order in which it was applied:
// that is the order to put it back, and the reverse of it to take it away.
func (t *Tuner) sortInForce() {
	at := map[iikanji.ChangeID]int64{}
	for _, e := range t.History.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applying {
			at[e.Change] = e.Seq
		}
	}
	slices.SortStableFunc(t.book.InForce, func(a, b iikanji.ChangeID) int { return cmp.Compare(at[a], at[b]) })
}
