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
	"github.com/iikanji/iikanji/internal/proof/search"
)

// resume brings the site into the state that the ledger has: a search that was
// killed during a comparison left it without some changes in force. A place that
// was edited since ends the search here, and not after hours of trials.
func (h *hands) resume(ctx context.Context) error {
	changes, err := h.book.store.Changes()
	if err != nil {
		return err
	}
	if err := h.unstick(ctx, changes); err != nil {
		return err
	}
	if err := h.acts.CheckUndoable(ctx, h.appliedNow(changes)...); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	had := len(h.book.ledger().InForce)
	h.book.ledger().ForgetUndone(stagesOf(changes))
	for _, c := range slices.Backward(changes) { // an interrupted trial
		if c.Stage == iikanji.Applied && !slices.Contains(h.book.ledger().InForce, c.ID) {
			if err := h.acts.Revert(ctx, c.ID, "its trial was cut off"); err != nil {
				return err
			}
			c.Stage = iikanji.Reverted
		}
	}
	if _, err := h.restore(ctx, changes); err != nil {
		return fmt.Errorf("going on with an earlier search: %w", err)
	}
	h.beginAnew(had)
	for _, id := range h.appliedNow(changes) { // applied by a user, or kept right before the search was killed
		if !slices.Contains(h.book.ledger().InForce, id) {
			h.book.ledger().InForce = append(h.book.ledger().InForce, id)
		}
	}
	now, err := h.fingerprint(ctx)
	if err != nil {
		return err
	}
	h.book.incumbent = slices.DeleteFunc(h.book.incumbent, func(r *iikanji.Run) bool { return r.State != now })
	for _, r := range slices.Concat(h.book.untouched, h.book.incumbent) {
		h.book.remember(r)
	}
	return h.book.save()
}

// unstick tries again to undo stuck changes: a service that was down may be up
// now.
func (h *hands) unstick(ctx context.Context, changes []*iikanji.Change) error {
	for _, c := range slices.Backward(changes) {
		if c.Stage != iikanji.Stuck {
			continue
		}
		if err := h.acts.Revert(ctx, c.ID, "it was stuck: tried again"); err != nil {
			return fmt.Errorf("change %d (%s) is stuck: what the site is, is not known until it is undone: %w", c.ID, c.Says, err)
		}
		c.Stage = iikanji.Reverted
	}
	return nil
}

// appliedNow are the applied changes, in the order of application.
func (h *hands) appliedNow(changes []*iikanji.Change) []iikanji.ChangeID {
	var inForce []iikanji.ChangeID
	for _, c := range changes {
		if c.Stage == iikanji.Applied || c.Stage == iikanji.Kept {
			inForce = append(inForce, c.ID)
		}
	}
	at := map[iikanji.ChangeID]int64{} // for the last time
	for _, e := range h.book.store.Events() {
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
func PutBack(ctx context.Context, store Store, acts *change.Executor) (back []iikanji.ChangeID, notes []string, err error) {
	b := newBook(store, search.Options{}, nil)
	h := &hands{book: b, display: &display{book: b}, acts: acts}
	if _, err := Away(store); err != nil {
		return nil, nil, err
	}
	if err := store.ReadLedger(ledgerVersion, b.ledger()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	b.ledger().Version = ledgerVersion // as it is written
	changes, err := store.Changes()
	if err != nil {
		return nil, nil, err
	}
	had := len(b.ledger().InForce)
	b.ledger().ForgetUndone(stagesOf(changes))
	back, err = h.restore(ctx, changes)
	h.beginAnew(had)
	return back, h.display.notes, errors.Join(err, store.SaveLedger(b.ledger()))
}

// Away are the changes in force that a search had undone for a comparison in
// which it was killed. PutBack applies them again.
func Away(store Store) ([]*iikanji.Change, error) {
	var l search.Ledger
	if err := store.ReadLedger(ledgerVersion, &l); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	changes, err := store.Changes()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(changes, func(c *iikanji.Change) bool {
		return c.Stage != iikanji.Reverted || !slices.Contains(l.InForce, c.ID) || !slices.Contains(l.Away, c.ID)
	}), nil
}

// CutOff are the changes of a trial that was killed which decide where a service runs, the
// latest first. Other changes of such a trial stay until the next search: they are on the host
// that the site has anyway.
func CutOff(store Store) ([]*iikanji.Change, error) {
	var l search.Ledger
	if err := store.ReadLedger(ledgerVersion, &l); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	changes, err := store.Changes()
	if err != nil {
		return nil, err
	}
	slices.Reverse(changes)
	return slices.DeleteFunc(changes, func(c *iikanji.Change) bool {
		return c.Stage != iikanji.Applied || slices.Contains(l.InForce, c.ID) || !change.Moves(c)
	}), nil
}

// UndoCutOff undoes those changes, and returns them.
func UndoCutOff(ctx context.Context, store Store, acts *change.Executor) (done []iikanji.ChangeID, err error) {
	changes, err := CutOff(store)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if err := acts.Revert(ctx, c.ID, "its trial was cut off"); err != nil {
			return done, err
		}
		done = append(done, c.ID)
	}
	return done, nil
}

// restore applies the changes again that are away, in the order of application,
// and returns them. A change whose file was edited since is dropped, with every
// change built on it.
func (h *hands) restore(ctx context.Context, changes []*iikanji.Change) (back []iikanji.ChangeID, err error) {
	for _, id := range slices.Clone(h.book.ledger().InForce) {
		i := slices.IndexFunc(changes, func(c *iikanji.Change) bool { return c.ID == id })
		err := h.putBack(ctx, id, changes[i].Stage)
		var moved *change.MovedError
		switch {
		case changes[i].Stage == iikanji.Reverted && errors.As(err, &moved):
			h.display.note("change %d (%s) stays reverted: it was reverted for a comparison, and %s was edited since", id, changes[i].Says, moved.Place)
			h.book.ledger().InForce = slices.DeleteFunc(h.book.ledger().InForce, func(x iikanji.ChangeID) bool { return x == id })
		case err != nil:
			return back, err
		case changes[i].Stage == iikanji.Reverted:
			back, changes[i].Stage = append(back, id), iikanji.Applied
		}
	}
	h.book.ledger().Away = nil
	return back, nil
}

// putBack applies a change again that the ledger has in force.
func (h *hands) putBack(ctx context.Context, id iikanji.ChangeID, at iikanji.Stage) error {
	if at == iikanji.Stuck { // the cause may be gone
		if err := h.acts.Revert(ctx, id, "it was stuck: tried again"); err != nil {
			return err
		}
		at = iikanji.Reverted
	}
	if at == iikanji.Reverted { // undone for a comparison
		if err := h.acts.Apply(ctx, id); err != nil {
			return err
		}
		at = iikanji.Applied
	}
	switch {
	case at == iikanji.Applied && !h.book.ledger().IsOpen(id):
		return h.acts.Keep(id, "put back after a comparison")
	case at == iikanji.Applied, at == iikanji.Kept:
		return nil
	}
	return fmt.Errorf("change %d cannot be put back: it is %s", id, at)
}

// stagesOf are the stages of changes.
func stagesOf(changes []*iikanji.Change) map[iikanji.ChangeID]iikanji.Stage {
	at := map[iikanji.ChangeID]iikanji.Stage{}
	for _, c := range changes {
		at[c.ID] = c.Stage
	}
	return at
}

// beginAnew updates the attempts to the changes in force; had is how many were in force
// before.
func (h *hands) beginAnew(had int) {
	if h.book.ledger().BeginAnew(had) {
		h.display.note("every kept change was reverted since: the search begins again")
		h.book.first = 0
	}
}
