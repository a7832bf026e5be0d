package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// undoTime limits the time for restoring a site.
const undoTime = 2 * time.Minute

// held is the outcome of the trials on one arena.
type held struct {
	*tune.Outcome
	scores map[iikanji.RunID]float64 // scores of all runs
}

// trials runs the trials of one arena's proposals in dir, with the history in
// hist. After an interruption the returned outcome is still complete up to that
// point.
func (o *options) trials(ctx context.Context, a *arena.Arena, dir, hist string) (out held, err error) {
	out = held{&tune.Outcome{}, map[iikanji.RunID]float64{}}
	generator, rest, err := split()
	if err != nil {
		return out, err
	}
	h, err := history.Open(hist)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	so := stack.Options{Dir: dir, StackCPUs: rest, Progress: func(line string) { o.say(a.Name + ": " + line) }}
	err = arenasite.Use(ctx, a, so, func(ctx context.Context, p *arenasite.Subject) (err error) {
		changed := p.Site()
		acts := &change.Executor{Hands: changed, Journal: h, Policy: changed.Target.Policy}
		defer func() {
			back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
			defer cancel()
			_, e := acts.RevertAll(back, "the trials are over")
			err = errors.Join(err, e)
		}()
		for _, w := range proposals {
			if w.arena != a.Name {
				continue
			}
			for _, r := range w.given {
				if err := give(ctx, changed, h, acts, r); err != nil {
					return err
				}
			}
		}
		t := &tune.Tuner{
			Field: &trialField{Field: o.field(p, h, generator, dir), ran: out.ran},
			Site:  changed, Acts: acts, History: h, Now: time.Now,
			// No time limit: a trial that is cut short would be undone for that reason alone.
			// No final comparison either, because there is nothing to compare.
			Options: search.Options{Short: o.load, Full: o.load, Watch: o.load, Seed: o.seed},
			Say:     func(line string) { o.say(a.Name + ": " + line) },
			Propose: ask(changed),
		}
		came, err := t.Tune(ctx)
		if came != nil {
			out.Outcome = came
		}
		return err
	})
	return out, err
}

// field returns the field that makes the runs on one arena.
func (o *options) field(p *arenasite.Subject, h *history.History, cpus []int, dir string) *field.Field {
	l := p.Scenario(arena.Options{})
	l.Seed, l.CPUs, l.Place = o.seed, cpus, iikanji.Placement{Cores: runtime.NumCPU(), Generator: bench.CPUList(cpus)}
	return &field.Field{Subject: p, Loader: l, History: h, Now: time.Now, Dir: dir, Noisy: o.noisy}
}

// ran records the score of a run.
func (out *held) ran(r *iikanji.Run) { out.scores[r.ID] = r.Score }

// give applies a change that the proposals build on.
func give(ctx context.Context, site *change.Site, h *history.History, acts *change.Executor, r iikanji.Remedy) error {
	c, err := change.Plan(ctx, site, r)
	if errors.Is(err, change.ErrNothing) { // nothing to change
		return nil
	}
	if err == nil {
		err = h.AddChange(c, change.Diff(c))
	}
	if err == nil {
		err = acts.Apply(ctx, c.ID)
	}
	if err == nil {
		err = acts.Keep(c.ID, "given")
	}
	if err != nil {
		return fmt.Errorf("%s, which is given: %w", r.Says, err)
	}
	return nil
}

// split gives the load generator a quarter of the cores, at least one, and the
// stack the rest. On a machine with one core both use that core.
func split() (generator, rest []int, err error) {
	cpus, err := bench.AllowedCPUs()
	if err != nil || len(cpus) < 2 {
		return nil, nil, err
	}
	n := max(len(cpus)/4, 1)
	return cpus[:n], cpus[n:], nil
}

// untouched refuses a work folder whose history has changes in force, because the
// proposals must be tried on the unchanged arena.
func untouched(dir string) error {
	hist := filepath.Join(dir, "history")
	if _, err := os.Stat(hist); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	h, err := history.View(hist)
	if err != nil {
		return err
	}
	defer h.Close()
	changes, err := h.Changes()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Stage.May(iikanji.Reverting) {
			return fmt.Errorf("change %d is in force in %s: iikanji revert isucondition --all --dir %s takes it back", c.ID, dir, dir)
		}
	}
	return nil
}
