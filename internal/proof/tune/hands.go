package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// A hands changes the site by the executor, and keeps the ledger true to it.
type hands struct {
	book    *book
	display *display
	acts    *change.Executor
	site    *change.Site
}

// ops perform the ops of changes and read the state of places.
func (h *hands) ops() change.Hands {
	if h.acts != nil && h.acts.Hands != nil {
		return h.acts.Hands
	}
	return h.site
}

// undo undoes changes, the latest first, even when ctx is done. The executor bounds
// each operation.
func (h *hands) undo(ctx context.Context, changes []*iikanji.Change, why string) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, c := range slices.Backward(changes) {
		now, err := h.book.store.LoadChange(c.ID)
		if err == nil && now.Stage.May(iikanji.Reverting) {
			err = h.acts.Revert(ctx, c.ID, why)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// undone reports whether the executor has undone a change that it could not apply. A place
// that was edited since is an error of its own.
func (h *hands) undone(c *iikanji.Change, err error) (bool, error) {
	var moved *change.MovedError
	if errors.As(err, &moved) {
		return false, nil
	}
	now, e := h.book.store.LoadChange(c.ID)
	return e == nil && now.Stage == iikanji.Reverted, e
}

// wiped reports whether initialize undid one of the changes. A table that a
// later change of the bundle altered, too, is in a state foreign to the earlier.
func (h *hands) wiped(ctx context.Context, changes []*iikanji.Change) (bool, error) {
	for _, c := range changes {
		wiped, err := change.Wiped(ctx, h.site, c)
		if err != nil && !errors.Is(err, change.ErrForeignState) {
			return false, err
		}
		if wiped {
			return true, nil
		}
	}
	return false, nil
}

// keep marks applied changes as kept.
func (h *hands) keep(changes []*iikanji.Change, why string) error {
	for _, c := range changes {
		if err := h.acts.Keep(c.ID, why); err != nil {
			return err
		}
		l := h.book.ledger()
		l.InForce = append(l.InForce, c.ID)
	}
	return nil
}

// fingerprint is the fingerprint of all places that changes in force, and more,
// alter. What only prepares others has no effect on the site, and its places may not be
// there: an account of a database that has ended since its clients went to another host.
func (h *hands) fingerprint(ctx context.Context, more ...*iikanji.Change) (iikanji.Fingerprint, error) {
	places := map[string]iikanji.Op{}
	collect := func(c *iikanji.Change) {
		if c.Prepares {
			return
		}
		for _, op := range c.Do {
			if op.Expect != "" {
				places[op.Location()] = op
			}
		}
	}
	for _, id := range h.book.ledger().InForce {
		c, err := h.book.store.LoadChange(id)
		if err != nil {
			return "", err
		}
		collect(c)
	}
	for _, c := range more {
		collect(c)
	}
	sum := sha256.New()
	for _, place := range slices.Sorted(maps.Keys(places)) {
		now, err := h.ops().State(ctx, places[place])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %s\n", place, now)
	}
	return iikanji.Fingerprint(hex.EncodeToString(sum.Sum(nil))), nil
}

// untouchedOf selects the runs of the site without any change in force.
func untouchedOf(runs []*iikanji.Run) []*iikanji.Run {
	sum := sha256.Sum256(nil) // the fingerprint of no places
	untouched := iikanji.Fingerprint(hex.EncodeToString(sum[:]))
	return slices.DeleteFunc(slices.Clone(runs), func(r *iikanji.Run) bool { return r.State != untouched })
}
