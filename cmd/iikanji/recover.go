package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/report"
	"github.com/iikanji/iikanji/internal/stack"
	"github.com/iikanji/iikanji/internal/target/live"
	"github.com/iikanji/iikanji/internal/tune"
)

type recoverCmd struct {
	Target string `arg:"" help:"Target to recover, such as isucondition (an arena is a target)."`

	JSON bool `help:"Print one JSON document: the changes that were undone or applied again."`
	placeFlags
}

// Help returns the long help of the command.
func (recoverCmd) Help() string {
	return `Undoes half-done changes after iikanji was killed, or the power failed, in the
middle of a change, so that the state of the site is known again. Applied changes
stay; changes that a search had reverted for a comparison are applied again. It is
safe to run it twice, or if no change is half done.

Examples:
  iikanji recover isucondition

Exit status: 0 the state is known, 1 it is not (a change is stuck), 2 usage.`
}

// Run runs the command.
func (c *recoverCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
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
	half, err := halfDone(h)
	if err != nil {
		return err
	}
	away, err := tune.Away(h)
	if err != nil {
		return err
	}
	var done recovered
	sensors, err := live.SensorsInForce(h)
	if err != nil {
		return err
	}
	if len(half)+len(away)+sensors > 0 {
		if err := c.recover(ctx, e, a, dir, h, half, &done); err != nil {
			return errors.Join(c.print(e, done), err)
		}
	}
	// A killed plan leaves no entry in the history, but may leave scratch copies.
	files, err := filesOf(a, dir)
	if err == nil {
		err = files.Sweep()
	}
	if err != nil {
		return errors.Join(c.print(e, done), err)
	}
	if err := c.print(e, done); err != nil {
		return err
	}
	return refuseStuck(h, a, c.placeFlags)
}

// A recovered lists the changes that recover undid or applied again.
type recovered struct {
	Undone []*iikanji.Change `json:"reverted"`
	Back   []*iikanji.Change `json:"put_back"`
}

// recover brings the site up, undoes half-done changes and puts back changes that
// were reverted for a comparison. If a half-done change keeps a server from starting, or the app from
// building, its files are put back first: that needs no server.
func (c *recoverCmd) recover(ctx context.Context, e *env, a *namedTarget, dir string, h *history.History, half []*iikanji.Change, done *recovered) error {
	up := func() error {
		return withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
			if err := done.undo(ctx, w, h); err != nil {
				return err
			}
			if err := field.SweepTemporary(ctx, w.Site(), half); err != nil {
				return err
			}
			return done.putBack(ctx, w, h)
		})
	}
	first := up()
	var busy *stack.BusyError
	if first == nil || ctx.Err() != nil || errors.As(first, &busy) {
		return first
	}
	if left, err := halfDone(h); err != nil || len(left) == 0 {
		return errors.Join(first, err)
	}
	site, err := filesOf(a, dir)
	if err != nil {
		return errors.Join(first, err)
	}
	if err := field.PutFilesBack(ctx, site, half); err != nil {
		return errors.Join(first, err)
	}
	fmt.Fprintln(e.Stderr, "the stack did not come up: the files of the half-done changes were put back; trying again")
	return up()
}

// undo undoes the half-done changes.
func (r *recovered) undo(ctx context.Context, w *liveTarget, h *history.History) error {
	ids, err := w.executor(h).Recover(ctx)
	if err == nil { // logs that were turned on for an observation
		var logs []iikanji.ChangeID
		logs, err = live.RevertSensors(ctx, h, w.executor(h))
		ids = append(ids, logs...)
	}
	undone, e := loaded(h, ids)
	r.Undone = append(r.Undone, undone...)
	return errors.Join(err, e)
}

// putBack applies again the changes that a comparison had reverted. It prints a note
// for each change that it could not put back; this is not an error.
func (r *recovered) putBack(ctx context.Context, w *liveTarget, h *history.History) error {
	ids, notes, err := tune.PutBack(ctx, h, w.executor(h))
	for _, line := range notes {
		w.progress.Say("%s", report.Clean(line))
	}
	back, e := loaded(h, ids)
	r.Back = append(r.Back, back...)
	return errors.Join(err, e)
}

// loaded reads changes from the history, in their present stage.
func loaded(h *history.History, ids []iikanji.ChangeID) (changes []*iikanji.Change, err error) {
	for _, id := range ids {
		x, e := h.LoadChange(id)
		if err = errors.Join(err, e); e == nil {
			changes = append(changes, x)
		}
	}
	return changes, err
}

func (c *recoverCmd) print(e *env, done recovered) error {
	if c.JSON {
		done.Undone = append([]*iikanji.Change{}, done.Undone...) // empty lists, not null
		done.Back = append([]*iikanji.Change{}, done.Back...)
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout}
	for _, x := range done.Undone {
		out.line("change %d was half done and is undone: %s", x.ID, report.Clean(x.Says))
	}
	for _, x := range done.Back {
		out.line("change %d was reverted for a comparison and is applied again: %s", x.ID, report.Clean(x.Says))
	}
	if len(done.Undone)+len(done.Back) == 0 {
		out.line("nothing was half done")
	}
	return out.err
}
