package main

import (
	"context"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/show/ui"
)

// day is what the page of a team needs; nil for an arena.
func (c *uiCmd) day(e *env, t *namedTarget, hist string) *ui.Day {
	if t.file == nil {
		return nil
	}
	d := &ui.Day{Book: e.turnOf(hist), Begin: time.Time(t.file.Contest.Begin), End: time.Time(t.file.Contest.End)}
	if t.byPortal() {
		d.Score = func(ctx context.Context, run int, who, score, fail string) error {
			return c.giveScore(ctx, e, t, iikanji.RunID(run), portalbench.Given{At: e.Now(), Who: who, Fail: fail, By: "page"}, score)
		}
	}
	return d
}

// giveScore keeps a score that was given on a page, and writes it into its run unless a
// command works that will do so.
func (c *uiCmd) giveScore(ctx context.Context, e *env, t *namedTarget, id iikanji.RunID, g portalbench.Given, score string) error {
	dir, hist, err := c.folders(t)
	if err != nil {
		return err
	}
	if score != "" {
		var ok bool
		if g.Score, ok = portalbench.ParseScore(score); !ok {
			return fmt.Errorf("%q is not a score, as in 44034", score)
		}
	}
	v, err := history.View(hist)
	if err != nil {
		return err
	}
	run, err := v.LoadRun(id)
	if err != nil {
		return fmt.Errorf("there is no run %d: %w", id, err)
	}
	if !portalbench.ByPortal(run) {
		return fmt.Errorf("run %d has the score of its benchmarker", id)
	}
	if err := portalbench.Give(hist, id, g); err != nil {
		return err
	}
	h, err := openHistory(ctx, e, t, dir, hist, acting{})
	if err != nil {
		return nil // it is kept: the command that works now takes it
	}
	defer h.Close()
	_, err = portalbench.Settle(h)
	return err
}
