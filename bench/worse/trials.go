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
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/history"
	"github.com/iikanji/iikanji/internal/site"
	"github.com/iikanji/iikanji/internal/stack"
	"github.com/iikanji/iikanji/internal/tune"
)

// undoTime bounds giving a site back as it was.
const undoTime = 2 * time.Minute

// held is what came of the trials on one arena.
type held struct {
	*tune.Outcome
	scores map[iikanji.RunID]float64 // of every run
}

// trials puts the proposals of one arena before the judge, in dir, with the
// history in hist. What it hands back is whole also when it was cut off.
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
	err = site.Use(ctx, a, so, func(ctx context.Context, p *site.Subject) (err error) {
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
			// No end of its own: a trial that is cut short would be undone for
			// that alone. Nor a last comparison: there is nothing to compare.
			Options: tune.TuneOptions{Short: o.load, Full: o.load, Watch: o.load, Seed: o.seed},
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

// field is the place of the runs on one arena.
func (o *options) field(p *site.Subject, h *history.History, cpus []int, dir string) *field.Field {
	l := p.Scenario(arena.Options{})
	l.Seed, l.CPUs, l.Place = o.seed, cpus, iikanji.Placement{Cores: runtime.NumCPU(), Generator: bench.CPUList(cpus)}
	return &field.Field{Subject: p, Loader: l, History: h, Now: time.Now, Dir: dir, Noisy: o.noisy}
}

// ran notes the score of a run.
func (out *held) ran(r *iikanji.Run) { out.scores[r.ID] = r.Score }

// give puts a change in force that the proposals come on top of.
func give(ctx context.Context, site *change.Site, h *history.History, acts *change.Executor, r iikanji.Remedy) error {
	c, err := change.Plan(ctx, site, r)
	if errors.Is(err, change.ErrNothing) { // the site has it
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
// stack the others; on a machine with one core both have all.
func split() (generator, rest []int, err error) {
	cpus, err := bench.AllowedCPUs()
	if err != nil || len(cpus) < 2 {
		return nil, nil, err
	}
	n := max(len(cpus)/4, 1)
	return cpus[:n], cpus[n:], nil
}

// untouched refuses a work folder in whose history changes are in force: the
// proposals are to meet the arena as it is.
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
