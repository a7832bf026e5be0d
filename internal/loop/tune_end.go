package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/stats"
)

// finish is what follows a search, so that its result may be believed and
// taken away.
func (t *Tuner) finish(ctx context.Context, out *Outcome) error {
	t.ending = true
	if err := t.confirmNow(ctx); err != nil {
		return err
	}
	if err := t.blindLast(ctx); err != nil {
		return err
	}
	if err := t.dropOne(ctx); err != nil {
		return err
	}
	if len(t.book.InForce) == 0 {
		t.note("nothing was kept: there is nothing to compare")
		return nil
	}
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Why, v.Pairs, v.Effect = "rehearsal", "every service is killed and started in the worst order", "does it all come back?", 0, nil
	})
	var err error
	if out.Rehearsal, err = t.Field.Rehearse(ctx); err != nil {
		return err
	}
	t.say("restart rehearsal: %s", out.Rehearsal.Says)
	return t.compare(ctx, out)
}

// confirmNow runs the site as often as an open fast-lane change needs.
func (t *Tuner) confirmNow(ctx context.Context) error {
	for t.book.Open != nil && len(t.book.Open.Since) < 2 {
		t.show(func(v *View) { v.Phase, v.Doing = "trial", "confirming what the fast lane let in" })
		run, void, err := t.bench(ctx, t.Options.Short)
		if err != nil {
			return err
		}
		if void == "" {
			t.incumbentRan(run)
		}
	}
	return t.confirm(ctx, 2)
}

// tailLeft is the time that is left before the last comparison has to begin.
func (t *Tuner) tailLeft() time.Duration {
	if t.Options.Time <= 0 {
		return undoTime
	}
	return t.Options.Time - t.Now().Sub(t.began) - t.endTime()
}

// blindLast tries what turns logs off, now that no diagnosis needs them.
func (t *Tuner) blindLast(ctx context.Context) error {
	for t.tailLeft() > 5*t.cost {
		c, ok := t.next(true)
		if !ok {
			return nil
		}
		if err := t.attempt(ctx, c); err != nil {
			return err
		}
		if err := t.confirmNow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// dropOne tries the site without one kept change after the other, the least
// certain first, as far as there is time: what no longer brings a gain worth
// keeping goes.
func (t *Tuner) dropOne(ctx context.Context) error {
	var kept []int
	for i, a := range t.book.Attempts {
		if a.Verdict.Call == iikanji.Keep && !a.Dropped && len(a.Changes) > 0 {
			kept = append(kept, i)
		}
	}
	slices.SortStableFunc(kept, func(a, b int) int {
		return cmp.Compare(t.book.Attempts[a].Verdict.Effect.Lo, t.book.Attempts[b].Verdict.Effect.Lo)
	})
	checked := 0
	for _, i := range kept {
		if len(kept) == 1 || t.tailLeft() < 5*t.cost {
			break
		}
		if err := t.recheck(ctx, &t.book.Attempts[i]); err != nil {
			return err
		}
		checked++
	}
	if checked < len(kept) && len(kept) > 1 {
		t.note("drop-one checks: %d of %d kept changes; there was no time for the others", checked, len(kept))
	}
	return t.save()
}

// recheck holds a kept change against the final state without it.
func (t *Tuner) recheck(ctx context.Context, a *Attempt) (err error) {
	var changes []*iikanji.Change
	for _, id := range a.Changes {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return err
		}
		if slices.Contains(t.book.InForce, id) {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	tr := t.newTrial(changes...)
	tr.on, tr.c.Before = true, nil // the arm without it is no incumbent whose shift means anything
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Why, v.Pairs, v.Effect = "drop-one", "without: "+a.Says, "is it still needed?", 0, nil
	})
	v, err := tr.without(ctx)
	var moved *change.MovedError
	if errors.As(err, &moved) {
		t.say("%s: later changes stand on it: not checked alone", a.Says)
		return nil
	}
	if err == nil && v.Call == iikanji.Revert {
		err = tr.put(ctx, false)
		a.Dropped = true
		t.book.InForce = slices.DeleteFunc(t.book.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(a.Changes, id) })
		t.incumbent, t.fresh = nil, nil
		for _, p := range tr.c.Pairs {
			if p.Void == "" && p.A != nil {
				t.incumbent = append(t.incumbent, p.A)
			}
		}
		t.note("dropped: %s: %s", a.Says, v.Why)
		return err
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	return errors.Join(err, tr.keepAgain(back))
}

// without runs pairs until the judge says whether a change is still worth it.
func (tr *trial) without(ctx context.Context) (iikanji.Verdict, error) {
	tr.fresh = nil
	var v iikanji.Verdict
	for usable := 0; v.Call == iikanji.CallUnknown; usable = len(v.Tried) {
		p := Pair{}
		order := AB
		if usable%2 == 0 {
			order = BA
		}
		for _, on := range map[Order][]bool{AB: {false, true}, BA: {true, false}}[order] {
			if err := tr.put(ctx, on); err != nil {
				return v, err
			}
			run, void, err := tr.bench(ctx, tr.Options.Short, tr.changes...)
			if err != nil {
				return v, err
			}
			if on {
				p.B = run
			} else {
				p.A = run
			}
			if void != "" {
				p.Void = void
				break
			}
		}
		if tr.c.Pairs = append(tr.c.Pairs, p); p.Void != "" {
			continue
		}
		v = tr.judge.Decide(tr.c)
		tr.show(func(w *View) { w.Pairs, w.Effect = len(v.Tried), &v.Effect })
		if tr.tailLeft() < 3*tr.cost {
			break
		}
	}
	return v, nil
}

// keepAgain puts kept changes back after a check without them.
func (tr *trial) keepAgain(ctx context.Context) error {
	if !tr.on {
		if err := tr.put(ctx, true); err != nil {
			return err
		}
	}
	for _, c := range tr.changes {
		now, err := tr.History.LoadChange(c.ID)
		if err == nil && now.Stage == iikanji.Applied {
			err = tr.Acts.Keep(c.ID, "still needed")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare measures the untouched site against the final one in interleaved
// full runs: that ratio is the headline.
func (t *Tuner) compare(ctx context.Context, out *Outcome) (err error) {
	out.Full = t.fullLoad()
	on := true
	defer func() {
		if !on {
			back, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*undoTime)
			defer cancel()
			err = errors.Join(err, t.allBack(back))
		}
		t.conclude(out)
	}()
	var pairs []Pair
	for n := 0; n < t.Options.Pairs; {
		order := BA // the final site is there already
		if n%2 == 1 {
			order = AB
		}
		p := Pair{}
		for _, want := range map[Order][]bool{AB: {false, true}, BA: {true, false}}[order] {
			t.show(func(v *View) {
				v.Phase, v.Why, v.Pairs = "last comparison", "interleaved full runs are the headline", n
				v.Doing = fmt.Sprintf("the %s site for %s", map[bool]string{true: "final", false: "untouched"}[want], out.Full)
			})
			if on != want {
				if on = want; want {
					err = t.allBack(ctx)
				} else {
					err = t.allAway(ctx)
				}
				if err != nil {
					on = false
					return err
				}
			}
			run, void, err := t.bench(ctx, out.Full)
			if err != nil {
				return err
			}
			if want {
				p.B = run
			} else {
				p.A = run
			}
			if void != "" {
				p.Void = void
				break
			}
		}
		if p.Void != "" {
			continue
		}
		n++
		pairs = append(pairs, p)
		out.Untouched, out.Final = append(out.Untouched, p.A.ID), append(out.Final, p.B.ID)
		t.headline(out, pairs)
	}
	return nil
}

// headline is the ratio of the pairs so far, by the plain t of their
// differences: no prior, since full runs have a noise of their own.
func (t *Tuner) headline(out *Outcome, pairs []Pair) {
	s := sift(Case{Pairs: pairs})
	m := stats.Moderate(s.diffs, stats.Prior{})
	out.Scores = [2]float64{math.Exp(stats.Mean(s.a)), math.Exp(stats.Mean(s.b))}
	out.Ratio = iikanji.Interval{Mid: math.Exp(m.Mean), Level: level}
	if m.DF > 0 {
		out.Ratio.Lo, out.Ratio.Hi = math.Exp(m.Lower((1-level)/2)), math.Exp(m.Upper((1-level)/2))
	}
	out.Work = compareWork(s.pairs)
	for _, w := range s.warnings {
		if !slices.Contains(t.notes, w) {
			t.note("last comparison: %s", w)
		}
	}
	if m.DF <= 0 {
		return
	}
	effect := iikanji.Interval{Mid: m.Mean, Lo: math.Log(out.Ratio.Lo), Hi: math.Log(out.Ratio.Hi), Level: level}
	t.show(func(v *View) { v.Pairs, v.Effect = len(s.pairs), &effect })
}

// conclude compares how short and full runs rank the two states that have both.
func (t *Tuner) conclude(out *Outcome) {
	short, full := []float64{geomean(t.untouched), geomean(t.incumbent)}, out.Scores[:]
	if min(short[0], short[1], full[0], full[1]) <= 0 || short[0] == short[1] || full[0] == full[1] {
		return // nothing to rank
	}
	out.Agreement = &Agreement{States: len(full), Tau: stats.Kendall(short, full)}
}

// allAway takes every change away, the latest first; the notes say so before.
func (t *Tuner) allAway(ctx context.Context) error {
	t.book.Away = slices.Clone(t.book.InForce)
	if err := t.save(); err != nil {
		return err
	}
	for _, id := range slices.Backward(t.book.InForce) {
		if err := t.Acts.Revert(ctx, id, "for the last comparison"); err != nil {
			return err
		}
	}
	return nil
}

// allBack puts every change back in its order.
func (t *Tuner) allBack(ctx context.Context) error {
	for _, id := range t.book.InForce {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return err
		}
		if c.Stage != iikanji.Reverted {
			continue
		}
		if err := t.Acts.Apply(ctx, id); err != nil {
			return err
		}
		if err := t.Acts.Keep(id, "put back after a comparison"); err != nil {
			return err
		}
	}
	t.book.Away = nil
	return t.save()
}
