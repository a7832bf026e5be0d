package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

type historyReplayCmd struct {
	Target string `arg:"" help:"Target to bring into an earlier state, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	Number int    `arg:"" name:"run" help:"Number of the run."`

	DryRun bool `help:"Show what would be undone and applied; start nothing."`
	JSON   bool `help:"Print one JSON document: the changes that were undone and applied."`
	clockFlag
	placeFlags
}

// Help returns the long help of the command.
func (historyReplayCmd) Help() string {
	return `Brings the site into the state that it had when a run began: undoes the changes
that were not applied then, the latest first, and applies those that were, in
their order. Each step is in the journal, as of iikanji revert and apply. The
command stops at a place that was edited since, and touches nothing more.

Examples:
  iikanji history replay isucondition 7 --dry-run
  iikanji history replay isucondition 7

Exit status: 0 done, 1 failed to run (also: a place was edited since), 2 usage.`
}

// Run runs the command.
func (c *historyReplayCmd) Run(ctx context.Context, e *env) error {
	a, err := findTarget(c.Target)
	if err != nil {
		return err
	}
	dir, hist, err := c.folders(a)
	if err != nil {
		return err
	}
	if c.Number < 1 {
		return usageError("run %d: want the number of a run", c.Number)
	}
	h, err := c.openFor(ctx, e, a, dir, hist)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := refuseHalfDoneOrAway(h, a, c.placeFlags); err != nil {
		return err
	}
	replay, err := summary.ReplayOf(h, iikanji.RunID(c.Number))
	if err != nil {
		return hinted(err, fmt.Sprintf("iikanji history %s%s --runs lists the runs", a.Name, c.flags()))
	}
	if !c.DryRun && len(replay.Revert)+len(replay.Apply) > 0 {
		err = withLiveTarget(ctx, e, a, stack.Options{Dir: dir}, func(ctx context.Context, w *liveTarget) error { return c.replay(ctx, w, h, replay) })
	}
	if err != nil {
		return err
	}
	return c.print(e, h, replay)
}

// openFor opens the history; a dry run only reads it.
func (c *historyReplayCmd) openFor(ctx context.Context, e *env, a *namedTarget, dir, hist string) (*history.History, error) {
	if c.DryRun {
		return history.View(hist)
	}
	return openExisting(ctx, e, a, dir, hist, acting{what: "history replay", changes: true, clockFlag: c.clockFlag})
}

// replay undoes and applies the changes of a replay.
func (c *historyReplayCmd) replay(ctx context.Context, w *liveTarget, h *history.History, replay *summary.Replay) error {
	x := w.executor(h)
	why := fmt.Sprintf("replay of run %d", replay.Run)
	for _, id := range replay.Revert {
		w.progress.Say("undoing change %d", id)
		if err := x.Revert(ctx, id, why); err != nil {
			return fmt.Errorf("undoing change %d: %w", id, err)
		}
	}
	for _, id := range replay.Apply {
		w.progress.Say("applying change %d", id)
		if err := x.Apply(ctx, id); err != nil {
			return fmt.Errorf("applying change %d: %w", id, err)
		}
		if slices.Contains(replay.Keep, id) {
			if err := x.Keep(id, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// print lists what was done, or what would be done.
func (c *historyReplayCmd) print(e *env, h *history.History, replay *summary.Replay) error {
	if c.JSON {
		return writeJSON(e.Stdout, replay)
	}
	out := &output{w: e.Stdout}
	undone, applied := "undone", "applied"
	if c.DryRun {
		undone, applied = "would be undone", "would be applied"
	}
	for _, step := range []struct {
		ids  []iikanji.ChangeID
		done string
	}{{replay.Revert, undone}, {replay.Apply, applied}} {
		for _, id := range step.ids {
			says := ""
			if x, err := h.LoadChange(id); err == nil {
				says = ": " + report.Clean(x.Says)
			}
			out.line("change %d %s%s", id, step.done, says)
		}
	}
	if len(replay.Revert)+len(replay.Apply) == 0 {
		out.line("nothing to change: the same changes were applied in run %d", replay.Run)
	}
	return out.err
}
