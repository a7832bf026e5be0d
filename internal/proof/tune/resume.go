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
	"github.com/iikanji/iikanji/internal/change/history"
)

// resume brings the site into the state that the ledger has: a search that was
// killed during a comparison left it without some changes in force. A place that
// was edited since ends the search here, and not after hours of trials.
func (s *restorer) resume(ctx context.Context) error {
	changes, err := s.store.Changes()
	if err != nil {
		return err
	}
	if err := s.unstick(ctx, changes); err != nil {
		return err
	}
	if err := s.acts.CheckUndoable(ctx, s.appliedNow(changes)...); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	had := len(s.ledger.InForce)
	s.ledger.forgetUndone(changes)
	for _, c := range slices.Backward(changes) { // an interrupted trial
		if c.Stage == iikanji.Applied && !slices.Contains(s.ledger.InForce, c.ID) {
			if err := s.acts.Revert(ctx, c.ID, "its trial was cut off"); err != nil {
				return err
			}
			c.Stage = iikanji.Reverted
		}
	}
	if _, err := s.restore(ctx, changes); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	s.begunAnew(had)
	for _, id := range s.appliedNow(changes) { // applied by a user, or kept right before the search was killed
		if !slices.Contains(s.ledger.InForce, id) {
			s.ledger.InForce = append(s.ledger.InForce, id)
		}
	}
	now, err := s.fingerprint(ctx)
	if err != nil {
		return err
	}
	s.incumbent = slices.DeleteFunc(s.incumbent, func(r *iikanji.Run) bool { return r.State != now })
	for _, r := range slices.Concat(s.untouched, s.incumbent) {
		s.remember(r)
	}
	return s.save()
}

// unstick tries again to undo stuck changes: a service that was down may be up
// now.
func (s *restorer) unstick(ctx context.Context, changes []*iikanji.Change) error {
	for _, c := range slices.Backward(changes) {
		if c.Stage != iikanji.Stuck {
			continue
		}
		if err := s.acts.Revert(ctx, c.ID, "it was stuck: tried again"); err != nil {
			return fmt.Errorf("change %d (%s) is stuck: what the site is, is not known until it is undone: %w", c.ID, c.Says, err)
		}
		c.Stage = iikanji.Reverted
	}
	return nil
}

// appliedNow are the applied changes, in the order of application.
func (s *restorer) appliedNow(changes []*iikanji.Change) []iikanji.ChangeID {
	var inForce []iikanji.ChangeID
	for _, c := range changes {
		if c.Stage == iikanji.Applied || c.Stage == iikanji.Kept {
			inForce = append(inForce, c.ID)
		}
	}
	at := map[iikanji.ChangeID]int64{} // for the last time
	for _, e := range s.store.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applying {
			at[e.Change] = e.Seq
		}
	}
	slices.SortStableFunc(inForce, func(a, b iikanji.ChangeID) int { return cmp.Compare(at[a], at[b]) })
	return inForce
}

// PutBack applies the changes again that a search had undone for a comparison in
// which it was killed, and updates the ledger. It returns those changes, and a
// sentence about each change that stays undone because its place was edited
// since. Interrupted changes must be recovered before.
func PutBack(ctx context.Context, h Store, acts *change.Executor) (back []iikanji.ChangeID, notes []string, err error) {
	rec := &records{store: h, evidence: &evidence{}}
	s := &restorer{shared: shared{records: rec, display: &display{}}, acts: acts}
	if _, err := Away(h); err != nil {
		return nil, nil, err
	}
	if err := h.ReadLedger(ledgerVersion, &rec.ledger); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	changes, err := h.Changes()
	if err != nil {
		return nil, nil, err
	}
	had := len(rec.ledger.InForce)
	rec.ledger.forgetUndone(changes)
	back, err = s.restore(ctx, changes)
	s.begunAnew(had)
	return back, s.notes, errors.Join(err, h.SaveLedger(&rec.ledger))
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
func (s *restorer) restore(ctx context.Context, changes []*iikanji.Change) (back []iikanji.ChangeID, err error) {
	for _, id := range slices.Clone(s.ledger.InForce) {
		i := slices.IndexFunc(changes, func(c *iikanji.Change) bool { return c.ID == id })
		err := s.putBack(ctx, id, changes[i].Stage)
		var moved *change.MovedError
		switch {
		case changes[i].Stage == iikanji.Reverted && errors.As(err, &moved):
			s.note("change %d (%s) stays reverted: it was reverted for a comparison, and %s was edited since", id, changes[i].Says, moved.Place)
			s.ledger.InForce = slices.DeleteFunc(s.ledger.InForce, func(x iikanji.ChangeID) bool { return x == id })
		case err != nil:
			return back, err
		case changes[i].Stage == iikanji.Reverted:
			back, changes[i].Stage = append(back, id), iikanji.Applied
		}
	}
	s.ledger.Away = nil
	return back, nil
}

// putBack applies a change again that the ledger has in force.
func (s *restorer) putBack(ctx context.Context, id iikanji.ChangeID, at iikanji.Stage) error {
	if at == iikanji.Stuck { // the cause may be gone
		if err := s.acts.Revert(ctx, id, "it was stuck: tried again"); err != nil {
			return err
		}
		at = iikanji.Reverted
	}
	if at == iikanji.Reverted { // undone for a comparison
		if err := s.acts.Apply(ctx, id); err != nil {
			return err
		}
		at = iikanji.Applied
	}
	switch {
	case at == iikanji.Applied && !s.ledger.isOpen(id):
		return s.acts.Keep(id, "put back after a comparison")
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
func (s *restorer) begunAnew(had int) {
	b := &s.ledger
	if b.Open != nil && len(s.ledger.inForceOf(&b.Attempts[b.Open.Attempt])) == 0 {
		b.Open = nil
	}
	if had > 0 && len(b.InForce) == 0 {
		s.note("every kept change was reverted since: the search begins again")
		b.Attempts, s.first = nil, 0
	}
	for i := range b.Attempts {
		if a := &b.Attempts[i]; a.Verdict.Call == iikanji.Keep && !a.Dropped && len(s.ledger.inForceOf(a)) == 0 {
			a.Undone = true
		}
	}
}

// inForceOf are the changes of an attempt that are in force.
func (b *ledger) inForceOf(a *Attempt) []iikanji.ChangeID {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(id iikanji.ChangeID) bool { return !slices.Contains(b.InForce, id) })
}

// isOpen reports whether a change waits for its confirmation.
func (b *ledger) isOpen(id iikanji.ChangeID) bool {
	return b.Open != nil && slices.Contains(b.Attempts[b.Open.Attempt].Changes, id)
}
