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

// resume brings the site to what the notes say is in force: a search that was
// killed during a comparison has left it without some of its changes. A place
// that somebody else has changed ends it here, and not after hours of trials.
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
	for _, c := range slices.Backward(changes) { // a trial that was cut off
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
	for _, id := range t.appliedNow(changes) { // applied by hand, or kept and killed before the notes knew
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

// unstick tries once more to undo what could not be undone: a service that was
// down then may be up now.
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

// appliedNow are the changes that stand, in the order of application.
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

// PutBack puts back what a search that was killed in a comparison had taken
// away for it, and notes that. It returns the changes that it put back, and a
// sentence about each that it could not, as somebody has edited its place:
// that one is taken back for good. Half a change is to be recovered before.
func PutBack(ctx context.Context, h *history.History, acts *change.Executor) (back []iikanji.ChangeID, notes []string, err error) {
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

// Away are the changes in force that a search has taken away for a comparison
// in which it was killed: PutBack puts them back.
func Away(h *history.History) ([]*iikanji.Change, error) {
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

// restore puts back what is away, in the order of application, and returns
// what it put back. What cannot be, as somebody has edited its place since, is
// his from then on: it leaves the notes, and so does what stands on it.
func (t *Tuner) restore(ctx context.Context, changes []*iikanji.Change) (back []iikanji.ChangeID, err error) {
	for _, id := range slices.Clone(t.ledger.InForce) {
		i := slices.IndexFunc(changes, func(c *iikanji.Change) bool { return c.ID == id })
		err := t.putBack(ctx, id, changes[i].Stage)
		var moved *change.MovedError
		switch {
		case changes[i].Stage == iikanji.Reverted && errors.As(err, &moved):
			t.note("change %d (%s) stays away: it was taken away for a comparison, and %s was changed by somebody else since", id, changes[i].Says, moved.Place)
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

// putBack brings a change that the notes have in force to where it was.
func (t *Tuner) putBack(ctx context.Context, id iikanji.ChangeID, at iikanji.Stage) error {
	if at == iikanji.Stuck { // it may have been the moment
		if err := t.Acts.Revert(ctx, id, "it was stuck: tried again"); err != nil {
			return err
		}
		at = iikanji.Reverted
	}
	if at == iikanji.Reverted { // taken away for a comparison
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

// forgetUndone takes out of the notes what a person has taken back since. The
// rest stays in the order of the notes: that is the order to put it back, while
// the journal's shows what a killed comparison was in the middle of.
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

// begunAnew brings the notes of attempts to what is in force now; had so many
// were before. A change that was taken back by itself is left alone from then
// on; when all of them were, the search begins anew.
func (t *Tuner) begunAnew(had int) {
	b := &t.ledger
	if b.Open != nil && len(t.ledger.standing(&b.Attempts[b.Open.Attempt])) == 0 {
		b.Open = nil
	}
	if had > 0 && len(b.InForce) == 0 {
		t.note("all that was kept has been taken back since: the search begins anew")
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

// isOpen says whether a change stands and waits for its confirmation.
func (b *ledger) isOpen(id iikanji.ChangeID) bool {
	return b.Open != nil && slices.Contains(b.Attempts[b.Open.Attempt].Changes, id)
}
