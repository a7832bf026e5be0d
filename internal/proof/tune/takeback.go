package tune

import (
	"context"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// takeBack undoes changes that are in force. Later changes of the same places, and the
// bundles that have such a change, are undone with them and tried again.
func (h *hands) takeBack(ctx context.Context, gone []iikanji.ChangeID, why string) error {
	l := h.book.ledger()
	above, err := h.above(gone)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(l.InForce) {
		says := why
		switch {
		case slices.Contains(above, id):
			says = "it was built on a change that was undone: " + why
		case !slices.Contains(gone, id):
			continue
		}
		if err := h.acts.Revert(ctx, id, says); err != nil {
			return err
		}
	}
	all := slices.Concat(gone, above)
	l.InForce = slices.DeleteFunc(l.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(all, id) })
	for i := range l.Attempts {
		a := &l.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && slices.ContainsFunc(a.Changes, func(id iikanji.ChangeID) bool { return slices.Contains(above, id) }) {
			h.display.say("to be tried again: %s: the change it was built on was undone", a.Says)
			a.TryAgain("the change it was built on was undone: to be tried again")
		}
	}
	l.Open = nil
	h.book.forgetIncumbent()
	return h.book.save()
}

// above are the changes in force that must be undone with those of below: those that
// were applied later and alter one of their places, directly or by way of another change
// above, and the other changes of a bundle that loses one in this way. A bundle was
// proven as a whole. The rest of it would stay without a proof, and its findings would
// count as cured.
func (h *hands) above(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	l := h.book.ledger()
	gone := slices.Clone(below)
	for {
		on, err := h.builtOn(gone)
		if err != nil {
			return nil, err
		}
		lost := slices.Concat(gone[len(below):], on)
		for i := range l.Attempts {
			if ids := l.InForceOf(&l.Attempts[i]); haveCommon(ids, lost) {
				on = append(on, ids...)
			}
		}
		before := len(gone)
		for _, id := range on {
			if !slices.Contains(gone, id) {
				gone = append(gone, id)
			}
		}
		if len(gone) == before {
			return gone[len(below):], nil
		}
	}
}

// builtOn are the changes in force besides those of below that were applied later than
// one of them and must be undone before it, directly or by way of another such change.
func (h *hands) builtOn(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	var above []iikanji.ChangeID
	var under []*iikanji.Change
	for _, id := range h.book.ledger().InForce {
		c, err := h.book.store.LoadChange(id)
		if err != nil {
			return nil, err
		}
		on := slices.ContainsFunc(under, func(o *iikanji.Change) bool { return change.BuiltOn(c, o) })
		if on && !slices.Contains(below, id) {
			above = append(above, id)
		}
		if on || slices.Contains(below, id) {
			under = append(under, c)
		}
	}
	return above, nil
}

// haveCommon reports whether two lists of changes have one in common.
func haveCommon(a, b []iikanji.ChangeID) bool {
	return slices.ContainsFunc(a, func(id iikanji.ChangeID) bool { return slices.Contains(b, id) })
}
