package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/day/past"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/show/report"
)

type workBackCmd struct {
	Of string `arg:"" name:"run" help:"Number of the run; kept for the last kept state, good for the last known good one."`

	Partly bool `help:"Also if some differences stay, which are listed."`
	DryRun bool `help:"Show the diff; change nothing."`
	JSON   bool `help:"Print one JSON document: the change, and what stays."`
	workFlags
	clockFlag
}

// Help returns the long help of the command.
func (workBackCmd) Help() string {
	return `Brings back the state that the site had at the begin of a run: files below the
policy's folders, variables of the database server, and indexes, as one change in the
journal; services are restarted or reloaded as the files need it. iikanji revert undoes
it, iikanji recover after an interruption. Packages are not restored. A difference that
would stay refuses it before anything is touched; --partly goes on.

Examples:
  iikanji work back 2 --dry-run
  iikanji work back 2
  iikanji work back kept

Exit status: 0 done, or there was nothing to do; 1 failed to run (also: something would
stay), 2 usage.`
}

// Run runs the command.
func (c *workBackCmd) Run(ctx context.Context, e *env) error {
	t, dir, hist, err := c.site()
	if err != nil {
		return err
	}
	h, err := c.open(ctx, e, t, dir, hist)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, t, c.placeFlags); err != nil {
		return err
	}
	return withLiveTarget(ctx, e, t, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error {
		d, err := dayOf(ctx, e, t, dir, h, w)
		if err != nil {
			return err
		}
		return c.back(ctx, e, t, d, w, dir)
	})
}

// open opens the history; a dry run only reads it.
func (c *workBackCmd) open(ctx context.Context, e *env, t *namedTarget, dir, hist string) (*history.History, error) {
	if c.DryRun {
		return history.View(hist)
	}
	return openExisting(ctx, e, t, dir, hist, acting{what: "work back", changes: true, clockFlag: c.clockFlag})
}

// run is the run that the argument means.
func (c *workBackCmd) run(d *work.Day, dir string) (iikanji.RunID, error) {
	switch c.Of {
	case "kept":
		base, err := d.Base()
		if err != nil {
			return 0, noStates(err)
		}
		return base.Run, nil
	case "good":
		return goodRun(d, dir)
	}
	n, err := strconv.Atoi(c.Of)
	if err != nil || n < 1 {
		return 0, usageError("%q: want the number of a run, kept or good", c.Of)
	}
	return iikanji.RunID(n), nil
}

// goodRun is the latest run of the last known good state.
func goodRun(d *work.Day, dir string) (iikanji.RunID, error) {
	runs, err := past.Runs(d.History, stateByHand(d.History, dir))
	if err != nil {
		return 0, err
	}
	choice := choose.Among(runs, choose.Rules{Final: choose.Last, Floor: choose.DefaultFloor})
	if choice.Good < 0 {
		return 0, fmt.Errorf("no state is known to be good: it needs three runs that passed, and a rehearsal")
	}
	have, err := d.Store.Runs()
	if err != nil {
		return 0, err
	}
	for _, id := range slices.Backward(choice.Rows[choice.Good].Runs) {
		if slices.Contains(have, id) {
			return id, nil
		}
	}
	return 0, fmt.Errorf("the last known good state has no run whose state was kept")
}

// A workBack is what the command did.
type workBack struct {
	Run    iikanji.RunID   `json:"run"`
	Change *iikanji.Change `json:"change,omitempty"`
	Stays  []work.Stay     `json:"stays,omitempty"`
}

// back plans and applies the way back.
func (c *workBackCmd) back(ctx context.Context, e *env, t *namedTarget, d *work.Day, w *liveTarget, dir string) error {
	run, err := c.run(d, dir)
	if err != nil {
		return err
	}
	then, err := d.Store.LoadState(run)
	if err != nil {
		return hinted(fmt.Errorf("run %d has no state that could be brought back: %w", run, err), "states are taken by iikanji bench")
	}
	now, err := d.Look(ctx)
	if err != nil {
		return err
	}
	plan, err := d.PlanBack(ctx, now, then, nil)
	if err != nil {
		return err
	}
	matter := slices.DeleteFunc(slices.Clone(plan.Stays), func(s work.Stay) bool { return !s.Matters })
	if len(matter) > 0 && !c.Partly && !c.DryRun {
		return &work.StaysError{Stays: matter}
	}
	done := workBack{Run: run, Change: plan.Change, Stays: plan.Stays}
	if plan.Change != nil && !c.DryRun {
		if err := d.History.AddChange(plan.Change, change.Diff(plan.Change)); err != nil {
			return err
		}
		x := w.executor(d.History)
		w.progress.Say("applying: %s", report.Clean(plan.Change.Says))
		if err := x.Apply(ctx, plan.Change.ID); err != nil {
			return err
		}
		if err := x.Keep(plan.Change.ID, "asked for with work back"); err != nil {
			return err
		}
	}
	w.progress.Done()
	return c.print(e, t, done)
}

// print says what was done, or would be.
func (c *workBackCmd) print(e *env, t *namedTarget, done workBack) error {
	if c.JSON {
		return writeJSON(e.Stdout, done)
	}
	out := &output{w: e.Stdout, color: e.Color}
	switch {
	case done.Change == nil && slices.ContainsFunc(done.Stays, func(s work.Stay) bool { return s.Matters }):
		out.line("nothing can be brought back of run %d", done.Run)
	case done.Change == nil:
		out.line("nothing to change: the files, variables and indexes are those of run %d", done.Run)
	case c.DryRun:
		out.line("would bring back the state of run %d; nothing was changed", done.Run)
		out.diff(change.Diff(done.Change))
	default:
		out.line("the state of run %d is back: change %d, %s; iikanji revert %s %d undoes it", done.Run, done.Change.ID, report.Number(len(done.Change.Do), "step"), t.Name, done.Change.ID)
	}
	for _, s := range done.Stays {
		for _, line := range report.Wrap("stays: ", "  ", report.Clean(s.Place+": "+s.Why), max(e.Cols, 40)) {
			out.line("%s", line)
		}
	}
	return out.err
}
