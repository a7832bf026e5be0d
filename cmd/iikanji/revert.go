package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/turn"
	"github.com/iikanji/iikanji/internal/show/report"
)

type revertCmd struct {
	Target string `arg:"" help:"Target to restore, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	ID     int    `arg:"" optional:"" help:"Number of the change to undo, see iikanji history."`

	All  bool `help:"Undo every applied change, the latest first: this restores the original state."`
	JSON bool `help:"Print one JSON document: the changes that were undone."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (revertCmd) Help() string {
	return `Undoes one change, or all changes. It restores the bytes of files and the
definitions of tables, then reloads or restarts the services. It does not touch a
place that was edited since: it shows the difference and ends.

Examples:
  iikanji revert isucondition 3
  iikanji revert isucondition --all

Exit status: 0 undone, 1 failed to run (also: a place was edited since), 2 usage.`
}

// Run runs the command.
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
	h, err := openExisting(ctx, e, a, dir, hist, acting{what: "revert", changes: true, clockFlag: c.clockFlag})
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
		err = withWhatRuns(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
			done, err = revertInOrder(ctx, w, h, inForce)
			return err
		})
	}
	return errors.Join(c.print(e, done), err)
}

// openExisting opens a history; it does not create one.
func openExisting(ctx context.Context, e *env, t *namedTarget, dir, hist string, act acting) (*history.History, error) {
	h, _, err := openExistingToAct(ctx, e, t, dir, hist, act)
	return h, err
}

// openExistingToAct is openExisting, with the turn of the command.
func openExistingToAct(ctx context.Context, e *env, t *namedTarget, dir, hist string, act acting) (*history.History, *turn.Hold, error) {
	v, err := history.View(hist)
	if err != nil {
		return nil, nil, err
	}
	if err := v.Close(); err != nil {
		return nil, nil, err
	}
	return openToAct(ctx, e, t, dir, hist, act)
}

// chosen returns the changes to undo, the latest first.
func (c *revertCmd) chosen(h *history.History) ([]*iikanji.Change, error) {
	all, err := inForce(h)
	if err != nil || c.All {
		return all, err
	}
	for i, x := range all {
		if x.ID == iikanji.ChangeID(c.ID) {
			return []*iikanji.Change{x}, notMovedSince(x, all[:i])
		}
	}
	x, err := h.LoadChange(iikanji.ChangeID(c.ID))
	if err != nil {
		return nil, err
	}
	return nil, hinted(fmt.Errorf("change %d is %s: there is nothing to undo", x.ID, x.Stage), fmt.Sprintf("iikanji history %s%s lists them", c.Target, c.flags()))
}

// notMovedSince refuses the undo of a change whose service was moved since, or of a move since
// which its service was changed: it would be undone where it was not made. Later changes of the
// same files are found by their contents.
func notMovedSince(x *iikanji.Change, later []*iikanji.Change) error {
	for _, l := range later {
		if l.Target == x.Target && (change.Moves(l) || change.Moves(x)) {
			return hinted(fmt.Errorf("change %d was made since, on the host where %s is now: %s", l.ID, x.Target, report.Clean(l.Says)), fmt.Sprintf("undo change %d first", l.ID))
		}
	}
	return nil
}

// inForce returns the changes that can be undone, in the order in which they must
// be undone: the one applied last comes first.
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

// revertInOrder undoes changes in order, and stops at the first failure.
func revertInOrder(ctx context.Context, w *liveTarget, h *history.History, changes []*iikanji.Change) (done []*iikanji.Change, err error) {
	x := w.executor(h)
	for _, c := range changes {
		w.progress.Say("undoing change %d: %s", c.ID, report.Clean(c.Says))
		if err := x.Revert(ctx, c.ID, "reverted by hand"); err != nil {
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

// withLaterChange adds a hint to a MovedError if a later change of the history edited
// the same place: changes of one place must be undone in order.
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
			return hinted(err, fmt.Sprintf("change %d edited it later: undo that change first", later.ID))
		}
	}
	return err
}

// print lists the changes that were undone, also after a failure.
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

// writeReverted writes the --json document: a list of changes, which may be empty.
func writeReverted(w io.Writer, done []*iikanji.Change) error {
	if done == nil {
		done = []*iikanji.Change{}
	}
	return writeJSON(w, struct {
		Reverted []*iikanji.Change `json:"reverted"`
	}{done})
}
