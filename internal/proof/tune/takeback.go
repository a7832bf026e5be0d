package tune

import (
	"context"
	"errors"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// undo undoes changes, the latest first, even when ctx is done. The executor bounds
// each operation.
func (s *restorer) undo(ctx context.Context, changes []*iikanji.Change, why string) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, c := range slices.Backward(changes) {
		now, err := s.store.LoadChange(c.ID)
		if err == nil && now.Stage.May(iikanji.Reverting) {
			err = s.acts.Revert(ctx, c.ID, why)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// wiped reports whether initialize undid one of the changes. A table that a
// later change of the bundle altered, too, is in a state foreign to the earlier.
func (s *restorer) wiped(ctx context.Context, changes []*iikanji.Change) (bool, error) {
	for _, c := range changes {
		wiped, err := change.Wiped(ctx, s.site, c)
		if err != nil && !errors.Is(err, change.ErrForeignState) {
			return false, err
		}
		if wiped {
			return true, nil
		}
	}
	return false, nil
}

// takeBack undoes changes that are in force. Later changes of the same places, and the
// bundles that have such a change, are undone with them and tried again.
func (s *restorer) takeBack(ctx context.Context, gone []iikanji.ChangeID, why string) error {
	above, err := s.above(gone)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(s.ledger.InForce) {
		says := why
		switch {
		case slices.Contains(above, id):
			says = "it was built on a change that was undone: " + why
		case !slices.Contains(gone, id):
			continue
		}
		if err := s.acts.Revert(ctx, id, says); err != nil {
			return err
		}
	}
	all := slices.Concat(gone, above)
	s.ledger.InForce = slices.DeleteFunc(s.ledger.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(all, id) })
	for i := range s.ledger.Attempts {
		a := &s.ledger.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && slices.ContainsFunc(a.Changes, func(id iikanji.ChangeID) bool { return slices.Contains(above, id) }) {
			s.say("to be tried again: %s: the change it was built on was undone", a.Says)
			a.again("the change it was built on was undone: to be tried again")
		}
	}
	s.ledger.Open, s.incumbent, s.fresh = nil, nil, nil
	return s.save()
}

// above are the changes in force that must be undone with those of below: those that
// were applied later and alter one of their places, directly or by way of another change
// above, and the other changes of a bundle that loses one in this way. A bundle was
// proven as a whole. The rest of it would stay without a proof, and its findings would
// count as cured.
func (s *restorer) above(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	gone := slices.Clone(below)
	for {
		on, err := s.builtOn(gone)
		if err != nil {
			return nil, err
		}
		lost := slices.Concat(gone[len(below):], on)
		for i := range s.ledger.Attempts {
			if ids := s.ledger.inForceOf(&s.ledger.Attempts[i]); haveCommon(ids, lost) {
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
// one of them and alter one of its places, directly or by way of another such change.
func (s *restorer) builtOn(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	var above []iikanji.ChangeID
	places := map[string]bool{}
	for _, id := range s.ledger.InForce {
		c, err := s.store.LoadChange(id)
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

// haveCommon reports whether two lists of changes have one in common.
func haveCommon(a, b []iikanji.ChangeID) bool {
	return slices.ContainsFunc(a, func(id iikanji.ChangeID) bool { return slices.Contains(b, id) })
}
