package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/history"
)

// resume brings the site into the state that the ledger has: a search that was
// killed during a comparison left it without some changes in force. A place that
// was edited since ends the search here, and not after hours of trials.
func (t *Tuner) resume(ctx context.Context) error {
	changes, err := t.History.Changes()
	if err != nil {
		return err
	}
	if err := t.unstick(ctx, changes); err != nil {
		return err
	}
	if err := t.Acts.Stand(ctx, t.appliedNow(changes)...); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	had := len(t.ledger.InForce)
	t.ledger.forgetUndone(changes)
	for _, c := range slices.Backward(changes) { // an interrupted trial
		if c.Stage == iikanji.Applied && !slices.Contains(t.ledger.InForce, c.ID) {
			if err := t.Acts.Revert(ctx, c.ID, "its trial was cut off"); err != nil {
				return err
			}
			c.Stage = iikanji.Reverted
		}
	}
	if _, err := t.restore(ctx, changes); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	t.begunAnew(had)
	for _, id := range t.appliedNow(changes) { // applied by a user, or kept right before the search was killed
		if !slices.Contains(t.ledger.InForce, id) {
			t.ledger.InForce = append(t.ledger.InForce, id)
		}
	}
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

// unstick tries again to undo stuck changes: a service that was down may be up
// now.
func (t *Tuner) unstick(ctx context.Context, changes []*iikanji.Change) error {
	for _, c := range slices.Backward(changes) {
		if c.Stage != iikanji.Stuck {
			continue
		}
		if err := t.Acts.Revert(ctx, c.ID, "it was stuck: tried again"); err != nil {
			return fmt.Errorf("change %d (%s) is stuck: what the site is, is not known until it is undone: %w", c.ID, c.Says, err)
		}
		c.Stage = iikanji.Reverted
	}
	return nil
}

// appliedNow are the applied changes, in the order of application.
func (t *Tuner) appliedNow(changes []*iikanji.Change) []iikanji.ChangeID {
	var stand []iikanji.ChangeID
	for _, c := range changes {
		if c.Stage == iikanji.Applied || c.Stage == iikanji.Kept {
			stand = append(stand, c.ID)
		}
	}
	at := map[iikanji.ChangeID]int64{} // for the last time
	for _, e := range t.History.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applying {
			at[e.Change] = e.Seq
		}
	}
	slices.SortStableFunc(stand, func(a, b iikanji.ChangeID) int { return cmp.Compare(at[a], at[b]) })
	return stand
}

// PutBack applies the changes again that a search had undone for a comparison in
// which it was killed, and updates the ledger. It returns those changes, and a
// sentence about each change that stays undone because its place was edited
// since. Interrupted changes must be recovered before.
func PutBack(ctx context.Context, h Store, acts *change.Executor) (back []iikanji.ChangeID, notes []string, err error) {
	t := &Tuner{History: h, Acts: acts}
	if _, err := Away(h); err != nil {
		return nil, nil, err
	}
	if err := h.ReadLedger(ledgerVersion, &t.ledger); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	changes, err := h.Changes()
	if err != nil {
		return nil, nil, err
	}
	had := len(t.ledger.InForce)
	t.ledger.forgetUndone(changes)
	back, err = t.restore(ctx, changes)
	t.begunAnew(had)
	return back, t.notes, errors.Join(err, h.SaveLedger(&t.ledger))
}

// Away are the changes in force that a search had undone for a comparison in
// which it was killed. PutBack applies them again.
func Away(h Store) ([]*iikanji.Change, error) {
	var b ledger
	if err := h.ReadLedger(ledgerVersion, &b); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	changes, err := h.Changes()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(changes, func(c *iikanji.Change) bool {
		return c.Stage != iikanji.Reverted || !slices.Contains(b.InForce, c.ID) || !slices.Contains(b.Away, c.ID)
	}), nil
}

// restore applies the changes again that are away, in the order of application,
// and returns them. A change whose file was edited since is dropped, with every
// change built on it.
func (t *Tuner) restore(ctx context.Context, changes []*iikanji.Change) (back []iikanji.ChangeID, err error) {
	for _, id := range slices.Clone(t.ledger.InForce) {
		i := slices.IndexFunc(changes, func(c *iikanji.Change) bool { return c.ID == id })
		err := t.putBack(ctx, id, changes[i].Stage)
		var moved *change.MovedError
		switch {
		case changes[i].Stage == iikanji.Reverted && errors.As(err, &moved):
			t.note("change %d (%s) stays reverted: it was reverted for a comparison, and %s was edited since", id, changes[i].Says, moved.Place)
			t.ledger.InForce = slices.DeleteFunc(t.ledger.InForce, func(x iikanji.ChangeID) bool { return x == id })
		case err != nil:
			return back, err
		case changes[i].Stage == iikanji.Reverted:
			back, changes[i].Stage = append(back, id), iikanji.Applied
		}
	}
	t.ledger.Away = nil
	return back, nil
}

// putBack applies a change again that the ledger has in force.
func (t *Tuner) putBack(ctx context.Context, id iikanji.ChangeID, at iikanji.Stage) error {
	if at == iikanji.Stuck { // the cause may be gone
		if err := t.Acts.Revert(ctx, id, "it was stuck: tried again"); err != nil {
			return err
		}
		at = iikanji.Reverted
	}
	if at == iikanji.Reverted { // undone for a comparison
		if err := t.Acts.Apply(ctx, id); err != nil {
			return err
		}
		at = iikanji.Applied
	}
	switch {
	case at == iikanji.Applied && !t.ledger.isOpen(id):
		return t.Acts.Keep(id, "put back after a comparison")
	case at == iikanji.Applied, at == iikanji.Kept:
		return nil
	}
	return fmt.Errorf("change %d cannot be put back: it is %s", id, at)
}

// forgetUndone removes changes that a user has undone since. The others keep the
// ledger's order, in which they must be applied again; the journal's order shows
// the state of an interrupted comparison.
func (b *ledger) forgetUndone(changes []*iikanji.Change) {
	at := map[iikanji.ChangeID]iikanji.Stage{}
	for _, c := range changes {
		at[c.ID] = c.Stage
	}
	b.InForce = slices.DeleteFunc(b.InForce, func(id iikanji.ChangeID) bool {
		stage := at[id]
		return stage != iikanji.Applied && stage != iikanji.Kept && !(stage == iikanji.Reverted && slices.Contains(b.Away, id))
	})
}

// begunAnew updates the attempts to the changes in force; had is how many were in
// force before. A change that a user has undone is not tried again; if all of
// them were undone, the search starts over.
func (t *Tuner) begunAnew(had int) {
	b := &t.ledger
	if b.Open != nil && len(t.ledger.standing(&b.Attempts[b.Open.Attempt])) == 0 {
		b.Open = nil
	}
	if had > 0 && len(b.InForce) == 0 {
		t.note("every kept change was reverted since: the search begins again")
		b.Attempts = nil
	}
	for i := range b.Attempts {
		if a := &b.Attempts[i]; a.Verdict.Call == iikanji.Keep && !a.Dropped && len(t.ledger.standing(a)) == 0 {
			a.Undone = true
		}
	}
}

// standing are the changes of an attempt that are in force.
func (b *ledger) standing(a *Attempt) []iikanji.ChangeID {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(id iikanji.ChangeID) bool { return !slices.Contains(b.InForce, id) })
}

// isOpen reports whether a change waits for its confirmation.
func (b *ledger) isOpen(id iikanji.ChangeID) bool {
	return b.Open != nil && slices.Contains(b.Attempts[b.Open.Attempt].Changes, id)
}
