package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/stack"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/proof/tune"
	"github.com/iikanji/iikanji/internal/show/report"
)

// real tests the judge on real runs of an unchanged arena.
func (c *selftestCmd) real(ctx context.Context, e *env) error {
	if c.AA < 1 || c.AA > 1000 || c.Load < cmp.Or(e.LeastLoad, defaultLeastLoad) {
		return usageError("--aa %d --load %v: want 1 to 1000 trials of runs of 3s or more", c.AA, c.Load)
	}
	a, err := findTarget(c.Arena)
	if err != nil {
		return err
	}
	b := &benchCmd{Target: c.Arena, Load: c.Load, Seed: c.Seed, Pin: c.Pin, Dir: c.Dir, History: c.History}
	r, err := b.prepare(e, a)
	if err != nil {
		return err
	}
	h, err := history.Open(r.history)
	if err != nil {
		return err
	}
	defer h.Close()
	changes, err := h.Changes()
	if err != nil {
		return err
	}
	for _, ch := range changes {
		if ch.Stage.May(iikanji.Reverting) {
			return hinted(fmt.Errorf("change %d is applied: the arena is not in its original state", ch.ID), "iikanji revert "+a.Name+c.flags()+" --all")
		}
	}
	var out tune.AATrials
	err = withLiveTarget(ctx, e, a, stack.Options{Dir: r.Dir, StackCPUs: r.pin.stack}, func(ctx context.Context, w *liveTarget) (err error) {
		r.progress = report.NewProgress(io.Discard, false, e.width, e.Now)
		began := e.Now()
		f := r.searchField(h, w, c.Noisy)
		f.Progress = func(bench.Progress) {
			w.progress.Status("%d of %s, %s, %d kept so far, %s elapsed", len(out.Verdicts), report.Number(c.AA, "trial"), report.Number(out.Runs, "run"), out.Kept, clock(e.Now().Sub(began)))
		}
		out, err = tune.RunAATrials(ctx, f, c.AA, c.Load, func(now tune.AATrials) { out = now })
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.Stdout, out)
	}
	return c.printReal(e, &out)
}

func (c *selftestCmd) printReal(e *env, out *tune.AATrials) error {
	t := report.Table{Columns: []report.Column{{Name: "trial"}, {Name: "pairs"}, {Name: "measured effect", Left: true}, {Name: "verdict", Left: true}}}
	for i, v := range out.Verdicts {
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), fmt.Sprint(len(v.Tried)), effectText(v.Effect.Mid, v.Effect.Lo, v.Effect.Hi), v.Call.String() + ", " + v.Reason.String()})
	}
	if err := t.Write(e.Stdout, report.Text, e.Cols); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "\n%s, unchanged, %s of a change that does nothing: %d kept (true share under %.0f %%, at 95 %%)\n%s, %s of %s, %d void; noise of a pair %.1f %%\n",
		c.Arena, report.Number(len(out.Verdicts), "trial"), out.Kept, 100*out.Bound(), report.Number(out.Pairs, "pair"), report.Number(out.Runs, "run"), report.Duration(c.Load), out.Voided, 100*out.Noise)
	return err
}
