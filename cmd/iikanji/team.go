package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/portalbench"
	"github.com/iikanji/iikanji/internal/show/ui"
)

// day is what the page of a team needs; nil for an arena.
func (c *uiCmd) day(ctx context.Context, e *env, t *namedTarget, hist string) *ui.Day {
	if t.file == nil {
		return nil
	}
	d := &ui.Day{Book: e.turnOf(hist), Begin: time.Time(t.file.Contest.Begin), End: time.Time(t.file.Contest.End)}
	if t.byPortal() {
		d.Score = func(ctx context.Context, run int, who, score, fail string) error {
			return c.giveScore(ctx, e, t, iikanji.RunID(run), portalbench.Given{At: e.Now(), Who: who, Fail: fail, By: "page"}, score)
		}
	}
	d.Machines = (&teamMachines{e: e, target: t, ctx: ctx}).now
	if o, err := os.Executable(); err == nil {
		d.Difference = c.difference(e, o)
	}
	return d
}

// Limits of the difference on the page: it reads the whole site, and the page is loaded
// again every 15 s.
const (
	differenceTime = 20 * time.Second
	differenceKeep = 12 * time.Second
)

// difference is what iikanji work prints, in a process of its own: the site is opened
// anew each time.
func (c *uiCmd) difference(e *env, program string) func(context.Context) ([]string, error) {
	var mu sync.Mutex
	var at time.Time
	var lines []string
	var last error
	return func(ctx context.Context) ([]string, error) {
		mu.Lock()
		defer mu.Unlock()
		if !at.IsZero() && e.Now().Sub(at) < differenceKeep {
			return lines, last
		}
		ctx, stop := context.WithTimeout(ctx, differenceTime)
		defer stop()
		cmd := exec.CommandContext(ctx, program, append([]string{"work", "--target", c.Target}, c.arguments()...)...)
		cmd.WaitDelay = time.Second
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		lines, last = nil, nil
		if err := cmd.Run(); err != nil {
			last = errors.New(firstLineOf(errors.New(strings.TrimPrefix(strings.TrimSpace(errs.String()), "iikanji: "))))
		}
		for line := range strings.Lines(out.String()) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
		at = e.Now()
		return lines, last
	}
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
