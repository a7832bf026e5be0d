package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
)

// halfDone returns the changes whose application or reversal was interrupted.
// Until they are recovered, the state of the site is not known.
func halfDone(h *history.History) ([]*iikanji.Change, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	var half []*iikanji.Change
	for _, c := range all {
		if c.Stage == iikanji.Applying || c.Stage == iikanji.Reverting {
			half = append(half, c)
		}
	}
	return half, nil
}

// interruptedChanges returns the half-done changes and the stuck ones.
func interruptedChanges(h *history.History) ([]*iikanji.Change, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c *iikanji.Change) bool { return !change.Interrupted(c.Stage) }), nil
}

// refuseHalfDone returns an error if a change of the history is half done, or if
// the journal does not account for a change.
func refuseHalfDone(h *history.History, a *namedTarget, f placeFlags) error {
	if err := refuseDamaged(h, a, f); err != nil {
		return err
	}
	half, err := halfDone(h)
	if err != nil || len(half) == 0 {
		return err
	}
	var names []string
	for _, c := range half {
		names = append(names, fmt.Sprintf("change %d (%s) is half done: it was %s", c.ID, report.Clean(c.Says), c.Stage))
	}
	return hinted(errors.New(strings.Join(names, "; ")), fmt.Sprintf("iikanji recover %s%s brings the site to a known state first", a.Name, f.flags()))
}

// refuseHalfDoneOrAway returns an error if a change of the history is half done,
// or if an interrupted comparison left a kept change reverted: until that change is
// applied again, the changes in force are not the kept ones.
func refuseHalfDoneOrAway(h *history.History, a *namedTarget, f placeFlags) error {
	if err := refuseHalfDone(h, a, f); err != nil {
		return err
	}
	away, err := tune.Away(h)
	if err != nil || len(away) == 0 {
		return err
	}
	var names []string
	for _, c := range away {
		names = append(names, fmt.Sprintf("change %d (%s)", c.ID, report.Clean(c.Says)))
	}
	return hinted(fmt.Errorf("a search was killed in a comparison that had reverted %s", strings.Join(names, ", ")),
		fmt.Sprintf("iikanji recover %s%s applies it again first", a.Name, f.flags()))
}

// refuseStuck returns an error that lists the changes that could not be undone.
// They need a manual repair.
func refuseStuck(h *history.History, a *namedTarget, f placeFlags) error {
	all, err := h.Changes()
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range all {
		if c.Stage == iikanji.Stuck {
			errs = append(errs, fmt.Errorf("change %d (%s) is stuck: it could not be undone", c.ID, report.Clean(c.Says)))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return hinted(errors.Join(errs...), fmt.Sprintf("iikanji history %s%s N shows the reason; then iikanji revert %s%s N tries again", a.Name, f.flags(), a.Name, f.flags()))
}
