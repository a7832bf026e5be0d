package tune

import (
	"cmp"
	"context"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// screen begins a screening: the runs of a factorial design, each with about half of the
// candidates applied. Those that it favours are then tried together. Candidates that cannot be planned are recorded as not tried.
func (t *Tuner) screen(ctx context.Context, all []search.Candidate) error {
	b := t.book
	d := &trial.Design{Site: t.runner, Load: load.Spec{Load: t.Options.Short}, Undone: t.hands.undone}
	var parts []search.Candidate
	for _, c := range all {
		planned, refused, err := t.planner.look(ctx, t.planner.inFile(c))
		if err != nil {
			return err
		}
		if refused != nil {
			t.planner.skip(c, refused)
			continue
		}
		parts, d.Names, d.First = append(parts, c), append(d.Names, c.Remedy.Says), append(d.First, planned)
	}
	if len(parts) < b.state.LeastScreened() {
		b.state.Plan.Chosen = nil
		return nil
	}
	d.Plan = func(ctx context.Context, part int) (*iikanji.Change, error, error) {
		return t.planner.look(ctx, t.planner.inFile(parts[part]))
	}
	d.Add = func(c *iikanji.Change) error { return b.store.AddChange(c, change.Diff(c)) }
	t.display.say("screening %d candidates together in %d runs: each run has about half of them", len(parts), stats.FactorialRuns(len(parts)))
	b.fresh = nil
	d.Rows = stats.Factorial(len(parts), t.runner.rng)
	t.design, b.state.Design = d, &search.Design{Parts: parts, Rows: len(d.Rows)}
	return nil
}

// runRow makes one run of the design. A run that fails its checks or shows a wrong answer ends
// it: which part is the cause is found in smaller groups.
func (t *Tuner) runRow(ctx context.Context, doing string) error {
	d, st := t.design, t.book.state.Design
	t.display.phase("trial", doing, "which of them bring something?")
	run, err := d.RunRow(ctx)
	if err != nil {
		return err
	}
	if run != nil {
		if err := t.rowRan(ctx, run); err != nil {
			return err
		}
	}
	st.Stopped, st.Done = d.Stopped, len(d.Runs)
	return nil
}

// rowRan adds the run of a row to the design, or stops it.
func (t *Tuner) rowRan(ctx context.Context, run *iikanji.Run) error {
	d, l := t.design, t.book.ledger()
	of := judge.Case{Known: t.book.knownFaults(), Pairs: []judge.Pair{{A: run, B: run}}}
	switch {
	case judge.Failed(run):
		d.Stopped = fmt.Sprintf("run %d failed its checks with %d of them", run.ID, len(d.Applied()))
		return nil
	case t.book.state.Judge.NewFault(of):
		d.Stopped = fmt.Sprintf("run %d shows a new fault with %d of them", run.ID, len(d.Applied()))
		return nil
	}
	wiped, err := t.hands.wiped(ctx, d.Applied())
	if wiped {
		t.book.state.Design.Learned = !l.Wiped
		l.Wiped = true
		d.Stopped = "initialize makes a table anew and wipes a part of it out"
	}
	if err == nil && !wiped {
		d.Runs = append(d.Runs, run)
	}
	return err
}

// endScreen undoes the parts and notes what each brings. If the design could not be
// finished, its parts are not screened again: they are tried in smaller groups.
func (t *Tuner) endScreen(ctx context.Context) error {
	d, s := t.design, t.book.state
	st := s.Design
	if err := d.Undo(ctx); err != nil {
		return err
	}
	t.design, s.Design = nil, nil
	if st.Stopped != "" {
		t.display.say("the screening ended: %s", st.Stopped)
		s.ScreenBroke(st)
		return nil
	}
	for i, found := range s.Judge.Screen(d.Rows, d.Runs) {
		p := st.Parts[i]
		s.Screened.Found[p.Key()] = found
		proven := map[bool]string{true: ", a gain is proven"}[found.Proven(judge.LeastWorth)]
		t.display.say("screened: %s: %s (± %.1f)%s", p.Remedy.Says, percentText(found.Effect), 100*found.SE, cmp.Or(proven))
	}
	s.ScreenedAll(st.Parts)
	return nil
}

// percentText prints an effect on ln(score).
func percentText(d float64) string { return fmt.Sprintf("%+.1f %%", stats.Percent(d)) }
