package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// screen begins a design: runs with some of several candidates each, from which all are
// measured at once. Candidates that cannot be planned are recorded as not tried, and rewrites
// of source whose answers differ are left to a trial of their own.
func (t *Tuner) screen(ctx context.Context, all []search.Candidate) error {
	b := t.book
	b.fresh = nil
	d, parts, err := t.newDesign(ctx, all)
	if err != nil {
		return err
	}
	answered, why, err := t.answersOf(ctx, parts)
	if err != nil {
		return err
	}
	if why != "" {
		t.display.say("rewrites of source are not screened: %s", why)
		b.state.ScreenBroke(&search.Design{Parts: slices.DeleteFunc(slices.Clone(parts), func(c search.Candidate) bool { return !c.Traits.Rewrites })})
		if d, parts, err = t.newDesign(ctx, slices.DeleteFunc(parts, func(c search.Candidate) bool { return c.Traits.Rewrites })); err != nil {
			return err
		}
	}
	if len(parts) < b.state.LeastScreened() {
		b.state.Plan.Chosen = nil
		b.state.ScreenBroke(&search.Design{Parts: parts})
		return nil
	}
	d.Answered = answered
	base := b.incumbent[max(0, len(b.incumbent)-b.state.MostBase()):]
	t.design, b.state.Design = d, b.present().NewDesign(parts, judge.LogScores(base))
	for _, run := range base {
		b.state.Design.BaseWork = append(b.state.Design.BaseWork, judge.Work(run))
	}
	t.display.say("screening %d candidates together in up to %d runs: each run has some of them", len(parts), b.state.Design.Most)
	return nil
}

// newDesign plans the parts of a design. Those that cannot be planned, or that weaken a promise
// that is to be kept, are left out.
func (t *Tuner) newDesign(ctx context.Context, all []search.Candidate) (*trial.Design, []search.Candidate, error) {
	d := &trial.Design{Site: t.runner, Load: load.Spec{Load: t.Options.Short}, Undone: t.hands.undone}
	var parts []search.Candidate
	for _, c := range all {
		planned, refused, err := t.planner.look(ctx, t.planner.inFile(c))
		if err != nil {
			return nil, nil, err
		}
		if promise, ok := forbidden(planned, t.Acts.Policy.Allow); ok && refused == nil {
			refused = fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", promise)
		}
		if refused != nil {
			t.planner.skip(c, refused)
			continue
		}
		parts, d.Names, d.First = append(parts, c), append(d.Names, c.Remedy.Says), append(d.First, planned)
	}
	d.Plan = func(ctx context.Context, part int) (*iikanji.Change, error, error) {
		return t.planner.look(ctx, t.planner.inFile(parts[part]))
	}
	d.Add = func(c *iikanji.Change) error { return t.book.store.AddChange(c, change.Diff(c)) }
	return d, parts, nil
}

// answersOf compares the answers of all rewrites of source among the parts at once.
func (t *Tuner) answersOf(ctx context.Context, parts []search.Candidate) (answered *iikanji.Answered, why string, err error) {
	rewrites := slices.DeleteFunc(slices.Clone(parts), func(c search.Candidate) bool { return !c.Traits.Rewrites })
	if len(rewrites) == 0 {
		return nil, "", nil
	}
	d, _, err := t.newDesign(ctx, rewrites)
	if err != nil {
		return nil, "", err
	}
	row := make([]bool, len(d.First))
	for i := range row {
		row[i] = true
	}
	answered, why, err = t.sameAnswers(ctx, d.First, func(ctx context.Context, on bool) error {
		if !on {
			return d.Undo(ctx)
		}
		return d.Put(ctx, row)
	})
	if why == "" {
		why = d.Stopped
	}
	return answered, why, errors.Join(err, d.Undo(ctx))
}

// forbidden is judge.Forbidden for a change that may be missing.
func forbidden(c *iikanji.Change, allow []iikanji.Promise) (iikanji.Promise, bool) {
	if c == nil {
		return iikanji.PromiseUnknown, false
	}
	return judge.Forbidden(c, allow)
}

// runRow makes one run of the design. One that fails its checks or shows a wrong answer is
// evidence that one of its parts breaks the site.
func (t *Tuner) runRow(ctx context.Context, row []bool, doing string) error {
	d, st := t.design, t.book.state.Design
	t.display.phase("trial", doing, "which of them bring something?")
	run, void, err := d.RunRow(ctx, row)
	if err != nil {
		return err
	}
	if st.Stopped = d.Stopped; run == nil {
		return nil
	}
	r := search.Row{Run: run.ID, On: row, Void: void}
	if void == "" {
		r.Failed = t.breaks(run)
	}
	if r.Void == "" && r.Failed == "" {
		wiped, err := t.hands.wiped(ctx, d.Applied())
		if err != nil {
			return err
		}
		if wiped {
			st.Learned = !t.book.ledger().Wiped
			t.book.ledger().Wiped = true
			st.Stopped = "initialize makes a table anew and wipes a part of it out"
			return nil
		}
		r.Y, r.Work = math.Log(run.Score), judge.Work(run)
	}
	st.Rows = append(st.Rows, r)
	return nil
}

// breaks is why a run of a design shows that a part breaks the site; "" if it does not.
func (t *Tuner) breaks(run *iikanji.Run) string {
	of := judge.Case{Known: t.book.knownFaults(), Pairs: []judge.Pair{{A: run, B: run}}}
	switch {
	case judge.Failed(run):
		return fmt.Sprintf("run %d failed its checks: %s", run.ID, whyFailed(run))
	case t.book.state.Judge.NewFault(of):
		return fmt.Sprintf("run %d shows a new fault", run.ID)
	}
	return ""
}

// endScreen notes what a design says of each part. In a scarce search the row that it ends
// with stays; otherwise all parts are undone, and what the design favours is tried in pairs. If
// it could not be finished, its parts are tried in smaller groups.
func (t *Tuner) endScreen(ctx context.Context, step search.Step) error {
	d, s := t.design, t.book.state
	st := s.Design
	if st.Stopped != "" {
		if err := d.Undo(ctx); err != nil {
			return err
		}
		t.design, s.Design = nil, nil
		t.display.say("the screening ended: %s", st.Stopped)
		s.ScreenBroke(st)
		return nil
	}
	t.display.say("the screening is over after %d runs: %s", len(st.Rows), step.Why)
	effects := s.Effects(st)
	if err := t.endRow(ctx, step.Row); err != nil {
		return err
	}
	t.design, s.Design = nil, nil
	if err := t.noteCulprits(d, st); err != nil {
		return err
	}
	for i, e := range effects {
		t.display.say("screened: %s: %s expected, a gain in %.0f of 100 cases", st.Parts[i].Remedy.Says, percentText(e.Mean), 100*e.Gain)
	}
	s.ScreenedAll(st, effects)
	if step.Row != nil {
		s.Plan.Screened, s.Screened = nil, search.Screened{} // what the others bring is another question now
		return t.letRowIn(d, st, effects)
	}
	return t.book.save()
}

// endRow brings the site into the state that the design ends with.
func (t *Tuner) endRow(ctx context.Context, row []bool) error {
	if row == nil {
		return t.design.Undo(ctx)
	}
	return t.design.Put(ctx, row)
}

// noteCulprits records the parts that break the site.
func (t *Tuner) noteCulprits(d *trial.Design, st *search.Design) error {
	culprits, _ := st.Culprits()
	for i, c := range st.Parts {
		why, broke := culprits[i]
		if !broke {
			continue
		}
		a := t.newAttempt(c)
		a.Says = d.First[i].Says
		a.Verdict = iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.Gate, Why: why}
		l := t.book.ledger()
		l.Attempts = append(l.Attempts, a)
		t.display.say("REVERT: %s: %s", a.Says, why)
	}
	return t.book.save()
}

// letRowIn makes the parts that a design ends with the incumbent before they are proven:
// later runs with them are compared with those of the site before.
func (t *Tuner) letRowIn(d *trial.Design, st *search.Design, effects []search.PartEffect) error {
	b := t.book
	l := b.ledger()
	var cs []search.Candidate
	mean := 0.0
	for _, i := range d.AppliedParts() {
		cs, mean = append(cs, st.Parts[i]), mean+effects[i].Mean
	}
	changes := slices.Clone(d.Applied())
	if len(changes) == 0 {
		return b.save()
	}
	why := fmt.Sprintf("%d runs with some of %d candidates each expect %s of these together", len(st.Rows), len(st.Parts), percentText(mean))
	a := t.newAttempt(cs[0])
	a.Changes, a.Says = []iikanji.ChangeID{changes[0].ID}, changes[0].Says
	if len(cs) > 1 {
		a = t.newAttempt(search.Together(cs, why))
		a.Parts = search.PartsOf(cs)
		for k, c := range changes {
			a.Changes = append(a.Changes, c.ID)
			p := &a.Parts[k]
			p.Change, p.Says, p.Chance = c.ID, c.Says, effects[d.AppliedParts()[k]].Gain
		}
	}
	a.Fast = true
	a.Verdict = iikanji.Verdict{Change: changes[0].ID, Call: iikanji.Keep, Reason: iikanji.Proven, Why: why, Answered: d.Answered}
	l.Open = &search.Unconfirmed{Attempt: len(l.Attempts), Bound: stats.Mean(judge.LogScores(b.incumbent[max(0, len(b.incumbent)-b.state.MostBase()):])), Before: ids(b.incumbent), Without: b.earlier}
	l.Attempts = append(l.Attempts, a)
	for _, c := range changes {
		l.InForce = append(l.InForce, c.ID)
	}
	b.forgetIncumbent()
	b.state.Stale = true
	t.display.say("%s: %s: %s", a.Result(), a.Says, why)
	return b.save()
}

// percentText prints an effect on ln(score).
func percentText(d float64) string { return fmt.Sprintf("%+.1f %%", stats.Percent(d)) }
