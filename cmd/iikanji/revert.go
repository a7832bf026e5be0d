package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/stack"
)

type revertCmd struct {
	Target string `arg:"" help:"Target to change back: the name of an arena, as in isucondition."`
	ID     int    `arg:"" optional:"" help:"Number of the change to undo, see iikanji history."`

	All  bool `help:"Undo every change that is in force, the latest first: the original is back."`
	JSON bool `help:"Print one JSON document: the changes that were undone."`
	placeFlags
}

// Help is the long help of the command.
func (revertCmd) Help() string {
	return `Undoes one change, or all of them. Files get the bytes back that they had, tables
the definition; then services reload or restart. A place that somebody else has
edited since is not touched: the command shows the difference and ends.

Examples:
  iikanji revert isucondition 3
  iikanji revert isucondition --all

Exit status: 0 undone, 1 failed to run (also: somebody edited a place), 2 usage.`
}

// Run is the command.
func (c *revertCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	if (c.ID == 0) == !c.All || c.ID < 0 {
		return usageError("want either the number of a change or --all")
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	h, err := openExisting(hist)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, a, c.placeFlags); err != nil {
		return err
	}
	inForce, err := c.chosen(h)
	if err != nil {
		return err
	}
	var done []*iikanji.Change
	if len(inForce) > 0 {
		err = withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
			done, err = revertInOrder(ctx, w, h, inForce)
			return err
		})
	}
	return errors.Join(c.print(e, done), err)
}

// openExisting opens a history that must be there.
func openExisting(dir string) (*history.History, error) {
	v, err := history.View(dir)
	if err != nil {
		return nil, err
	}
	if err := v.Close(); err != nil {
		return nil, err
	}
	return history.Open(dir)
}

// chosen are the changes to undo, the latest first.
func (c *revertCmd) chosen(h *history.History) ([]*iikanji.Change, error) {
	all, err := inForce(h)
	if err != nil || c.All {
		return all, err
	}
	for _, x := range all {
		if x.ID == iikanji.ChangeID(c.ID) {
			return []*iikanji.Change{x}, nil
		}
	}
	x, err := h.LoadChange(iikanji.ChangeID(c.ID))
	if err != nil {
		return nil, err
	}
	return nil, hinted(fmt.Errorf("change %d is %s: there is nothing to undo", x.ID, x.Stage), fmt.Sprintf("iikanji history %s%s lists them", c.Target, c.flags()))
}

// inForce are the changes that could be undone, in the order in which that
// must be done: the one that was applied last comes first.
func inForce(h *history.History) ([]*iikanji.Change, error) {
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c *iikanji.Change) bool { return !c.Stage.May(iikanji.Reverting) })
	at := map[iikanji.ChangeID]int64{}
	for _, e := range h.Events() {
		if e.What == history.Staged && e.Stage == iikanji.Applying {
			at[e.Change] = e.Seq
		}
	}
	slices.SortStableFunc(all, func(x, y *iikanji.Change) int { return int(at[y.ID] - at[x.ID]) })
	return all, nil
}

// revertThese undoes changes in order, and stops at the first that it cannot.
func revertInOrder(ctx context.Context, w *liveTarget, h *history.History, changes []*iikanji.Change) (done []*iikanji.Change, err error) {
	x := w.executor(h)
	for _, c := range changes {
		w.progress.Say("undoing change %d: %s", c.ID, report.Clean(c.Says))
		if err := x.Revert(ctx, c.ID, "taken back by hand"); err != nil {
			return done, withLaterChange(h, c, err)
		}
		now, err := h.LoadChange(c.ID)
		if err != nil {
			return done, err
		}
		done = append(done, now)
	}
	return done, nil
}

// laterOn names changes on the same place that came later: ground that was
// moved by ourselves is to be moved back in order.
func withLaterChange(h *history.History, c *iikanji.Change, err error) error {
	var moved *change.MovedError
	if !errors.As(err, &moved) {
		return err
	}
	all, e := inForce(h)
	if e != nil {
		return errors.Join(err, e)
	}
	for _, later := range all { // the latest first
		if later.ID == c.ID {
			break
		}
		if slices.ContainsFunc(later.Do, func(op iikanji.Op) bool { return op.Place == moved.Place }) {
			return hinted(err, fmt.Sprintf("change %d changed it too, and later: undo that first", later.ID))
		}
	}
	return err
}

// print says what was undone, also where not all could be.
func (c *revertCmd) print(e *env, done []*iikanji.Change) error {
	if c.JSON {
		return writeReverted(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	for _, x := range done {
		out.line("change %d is undone: %s", x.ID, report.Clean(x.Says))
	}
	if c.All && len(done) == 0 {
		out.line("no change is undone")
	}
	return out.err
}

// writeReverted is the --json of what was undone: a list, also of nothing.
func writeReverted(w io.Writer, done []*iikanji.Change) error {
	if done == nil {
		done = []*iikanji.Change{}
	}
	return writeJSON(w, struct {
		Reverted []*iikanji.Change `json:"reverted"`
	}{done})
}
