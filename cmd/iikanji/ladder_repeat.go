package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/ladder"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/show/report"
)

// checkRepeat checks the flag --repeat.
func (c *ladderCmd) checkRepeat() error {
	switch {
	case c.Repeat < 0 || c.Repeat > mostRepeats:
		return usageError("--repeat %d: want 1 to %d, or 0 to judge the rungs", c.Repeat, mostRepeats)
	case c.Repeat > 0 && (c.Alone || c.Hosts != 0):
		return usageError("--repeat excludes --alone and --hosts")
	}
	return nil
}

// repeat puts the rungs in force one after the other, makes several runs with each, and
// undoes them: how often each state fails, and what it scores.
func (c *ladderCmd) repeat(ctx context.Context, e *env, a *namedTarget, rungs []ladder.Rung) error {
	as := c.asTune()
	var states []*repeatedState
	err := as.live(ctx, e, a, func(ctx context.Context, r *benchRun, w *liveTarget, h *history.History, _ search.Options) (err error) {
		defer tidy(r.e, h)
		u := &repeatedClimb{c: c, site: w.Site(), acts: w.executor(h), history: h, field: r.searchField(h, w, true), now: e.Now, began: e.Now(),
			say: func(text string) { r.progress.Say("%s", text) }}
		defer func() { err = errors.Join(err, u.undo(ctx)) }()
		states, err = u.climb(ctx, rungs)
		r.progress.Done()
		return err
	})
	if len(states) == 0 {
		return err
	}
	return errors.Join(c.printRepeated(e, a, states), c.ended(ctx, err, a))
}

// A repeatedClimb makes runs with each rung of a ladder in force.
type repeatedClimb struct {
	c       *ladderCmd
	site    *change.Site
	acts    *change.Executor
	history *history.History
	field   *field.Field
	now     func() time.Time
	began   time.Time
	say     func(string)

	applied []iikanji.ChangeID
	longest time.Duration // of a run, with what is around its load
}

// climb makes the runs. Rungs before --from are put in force without runs; those among them
// that were taken back are left out, as in a climb. The first state is the one without the
// rungs from --from on.
func (u *repeatedClimb) climb(ctx context.Context, rungs []ladder.Rung) (states []*repeatedState, err error) {
	base := &repeatedState{Says: "the untouched site"}
	if u.c.From > 1 {
		base.Says = fmt.Sprintf("rungs 1 to %d", u.c.From-1)
	}
	for _, r := range rungs {
		if r.Number >= u.c.From {
			break
		}
		if r.Hurts {
			base.Missing = append(base.Missing, fmt.Sprintf("rung %d, which was taken back", r.Number))
			continue
		}
		if base.Missing, err = u.apply(ctx, r, base.Missing); err != nil {
			return nil, err
		}
	}
	states = append(states, base)
	if err := u.runs(ctx, base); err != nil {
		return states, err
	}
	for _, r := range rungs {
		if r.Number < u.c.From {
			continue
		}
		if !u.timeLeft() {
			u.say(fmt.Sprintf("no time is left for rung %d", r.Number))
			break
		}
		s := &repeatedState{Says: fmt.Sprintf("%d %s", r.Number, r.Row)}
		if s.Missing, err = u.apply(ctx, r, nil); err != nil {
			return states, err
		}
		states = append(states, s)
		if err := u.runs(ctx, s); err != nil {
			return states, err
		}
	}
	return states, nil
}

// apply puts a rung in force. What cannot be planned is added to missing.
func (u *repeatedClimb) apply(ctx context.Context, r ladder.Rung, missing []string) ([]string, error) {
	u.say(fmt.Sprintf("rung %d: %s", r.Number, report.Clean(r.Row)))
	for _, remedy := range r.Remedies {
		c, err := change.Plan(ctx, u.site, remedy)
		switch {
		case errors.Is(err, change.ErrNothing):
			continue
		case ctx.Err() != nil:
			return missing, context.Cause(ctx)
		case err != nil:
			missing = append(missing, fmt.Sprintf("a part of rung %d: %s", r.Number, report.Clean(err.Error())))
			continue
		}
		if err := u.history.AddChange(c, change.Diff(c)); err != nil {
			return missing, err
		}
		u.applied = append(u.applied, c.ID)
		if err := u.acts.Apply(ctx, c.ID); err != nil {
			return missing, fmt.Errorf("applying a part of rung %d: %w", r.Number, err)
		}
	}
	return missing, nil
}

// runs makes the runs of a state.
func (u *repeatedClimb) runs(ctx context.Context, s *repeatedState) error {
	defer s.sum()
	for range u.c.Repeat {
		if !u.timeLeft() {
			u.say("no time is left for another run")
			return nil
		}
		began := u.now()
		run, _, err := u.field.Bench(ctx, load.Spec{Load: u.c.Load, Trial: true, Accept: true})
		if err != nil {
			return err
		}
		s.add(run)
		u.longest = max(u.longest, u.now().Sub(began))
		u.say(shortRun(run))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// timeLeft reports whether a run of the usual length ends within the time limit.
func (u *repeatedClimb) timeLeft() bool {
	return u.c.Time <= 0 || u.now().Add(u.longest).Sub(u.began) <= u.c.Time
}

// undo undoes what is in force, the latest first, also when ctx is done.
func (u *repeatedClimb) undo(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var errs []error
	for _, id := range slices.Backward(u.applied) {
		c, err := u.history.LoadChange(id)
		if err == nil && c.Stage.May(iikanji.Reverting) {
			err = u.acts.Revert(ctx, id, "the repeated runs of its rung are over")
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// printRepeated writes a row for each state.
func (c *ladderCmd) printRepeated(e *env, a *namedTarget, states []*repeatedState) error {
	if c.JSON {
		return writeJSON(e.Stdout, struct {
			States []*repeatedState `json:"states"`
		}{states})
	}
	out := &output{w: e.Stdout}
	out.line("\nRuns of %s with each rung in force, %s of load", a.Name, report.Duration(c.Load))
	repeatedTable(out, states, e.Cols)
	out.wrapped("next: the chance that the next run passes, after so many of so many (Jeffreys' prior). All rungs are undone.", e.Cols)
	return out.err
}
