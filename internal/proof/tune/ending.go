package tune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// saysOf is a kept change in words.
func saysOf(a *search.Attempt, k search.Keep) string {
	if p := a.PartOf(k.Part); k.Part != 0 && p != nil {
		return p.Says
	}
	return a.Says
}

// startChecks begins the drop-one checks of kept changes, in short runs or in full ones. One that others are built on has none.
func (t *Tuner) startChecks(keeps []search.Keep, long bool) error {
	b := t.book
	load := t.Options.Short
	if long {
		load, b.state.Long, b.state.Unchecked = t.Options.Full, true, b.state.KeptChanges()-len(keeps)
	}
	star := &trial.Star{Site: t.runner, Load: load, Rng: t.runner.rng}
	checks := &search.Checks{Load: load}
	looks := b.state.Judge.Looks.Scaled(1 / float64(max(1, b.state.Debts()))) // together they have the error of one trial
	for _, k := range keeps {
		changes, err := b.changes(k.Changes)
		if err != nil {
			return err
		}
		changes = withoutPreparations(changes)
		above, err := t.hands.above(k.Changes)
		if err != nil {
			return err
		}
		a := &b.ledger().Attempts[k.Attempt]
		switch {
		case len(changes) == 0:
		case len(above) > 0:
			t.display.note("not checked alone: %s: %d later changes are built on it", saysOf(a, k), len(above))
		default:
			star.Arms = append(star.Arms, trial.Without(t.setting(), looks, changes...))
			checks.Arms = append(checks.Arms, search.CheckArm{Keep: k, Weakens: weakened(changes)})
		}
	}
	if len(checks.Arms) == 0 {
		return nil
	}
	b.fresh = nil
	t.star, b.state.Checks = star, checks
	return nil
}

// weakened is how many promises changes weaken.
func weakened(changes []*iikanji.Change) int {
	n := 0
	for _, c := range changes {
		n += len(c.Weakens)
	}
	return n
}

// groupChecks leaves some changes out together from now on. The least effect worth keeping of n of
// them is √n times that of the dearest: as much as n effects of that size differ from 0 by chance.
func (t *Tuner) groupChecks(groups [][]search.Keep) error {
	s := t.book.state
	for _, group := range groups {
		s.Checks.AddGroup(group)
		changes, err := t.book.changes(s.Checks.Arms[len(s.Checks.Arms)-1].Keep.Changes)
		if err != nil {
			return err
		}
		arm := trial.Without(t.setting(), s.Judge.Looks, changes...)
		arm.Case.Worth = 0
		for _, c := range changes {
			arm.Case.Worth = max(arm.Case.Worth, judge.Worth(c))
		}
		arm.Case.Worth *= math.Sqrt(float64(len(changes)))
		t.star.Arms = append(t.star.Arms, arm)
	}
	return nil
}

// runRound makes one round of the drop-one checks and asks the judge about each change.
func (t *Tuner) runRound(ctx context.Context, keeps []search.Keep) error {
	b, checks := t.book, t.book.state.Checks
	l := b.ledger()
	var which []int
	for _, k := range keeps {
		which = append(which, checks.Arm(k))
		l.Away = append(l.Away, k.Changes...) // an interrupted check puts them back
	}
	if err := b.save(); err != nil {
		return err
	}
	b.fresh = nil
	ok, err := t.star.Run(ctx, which, func(arm int) {
		doing := "the final site"
		if arm >= 0 {
			a := checks.Arms[arm]
			doing = "without: " + saysOf(&l.Attempts[a.Keep.Attempt], a.Keep)
			if n := len(a.Group); n > 0 {
				doing = fmt.Sprintf("without %d changes together", n)
			}
		}
		t.display.phase("drop-one", doing, "is each still needed?")
	})
	if err != nil {
		return err
	}
	checks.Rounds++
	if checks.Voids++; ok {
		checks.Voids = 0
		for _, arm := range which {
			t.judgeArm(arm)
		}
	}
	t.star.Back()
	return t.hands.allBack(ctx)
}

// judgeArm asks the judge what the pairs of one change prove.
func (t *Tuner) judgeArm(arm int) {
	s, tr, a := t.book.state, t.star.Arms[arm], &t.book.state.Checks.Arms[arm]
	a.Rounds++
	if p := tr.Case.Pairs[len(tr.Case.Pairs)-1]; p.Void == "" {
		a.Fresh, a.Since = a.Fresh+1, a.Since+1
	}
	a.Verdict, a.Work = tr.Rule(s.Judge).Decide(tr.Case), s.Judge.WorkSays(tr.Case.Pairs)
	t.display.pairs(len(a.Verdict.Tried), a.Verdict.Effect)
}

// endCheck notes what the check of a change found, and undoes it for good or keeps it.
func (t *Tuner) endCheck(ctx context.Context, step search.Step) error {
	b, k, v := t.book, step.Keeps[0], step.Verdict
	a := &b.ledger().Attempts[k.Attempt]
	checks := b.state.Checks
	arm := checks.Arm(k)
	says := saysOf(a, k)
	if group := checks.Arms[arm].Group; len(group) > 0 {
		return t.dropGroup(ctx, arm, step.Why)
	}
	if v.Effect.Level > 0 {
		b.state.CheckedAgain(k, v)
	}
	if !step.Drop {
		checks.Arms[arm].Done, checks.Arms[arm].Proven = true, v.Call == iikanji.Keep
		if v.Call == iikanji.Keep {
			t.display.say("proven alone: %s: %s", says, v.Why)
		}
		if err := b.judged(a); err != nil {
			return err
		}
		return b.save()
	}
	for _, i := range b.state.CheckDropped(arm) {
		t.star.Arms[i].Case.Pairs = nil
	}
	t.display.note("dropped: %s: %s", says, step.Why)
	if err := t.hands.takeBack(ctx, k.Changes, step.Why); err != nil {
		return err
	}
	b.state.DroppedPart(k)
	return b.save()
}

// dropGroup undoes the changes of a group for good.
func (t *Tuner) dropGroup(ctx context.Context, arm int, why string) error {
	b, checks := t.book, t.book.state.Checks
	for _, i := range b.state.CheckDropped(arm) {
		t.star.Arms[i].Case.Pairs = nil
	}
	l, group := b.ledger(), checks.Arms[arm].Group
	for _, k := range group {
		t.display.note("dropped with %d others: %s: %s", len(group)-1, saysOf(&l.Attempts[k.Attempt], k), why)
	}
	if err := t.hands.takeBack(ctx, checks.Arms[arm].Keep.Changes, why); err != nil {
		return err
	}
	for _, k := range group {
		b.state.DroppedPart(k)
	}
	return b.save()
}

// endChecks ends the drop-one checks.
func (t *Tuner) endChecks(why string) error {
	t.book.state.PairsTold()
	t.star, t.book.state.Checks = nil, nil
	if why != "" {
		t.display.note("%s", why)
	}
	return t.book.save()
}

// rehearse restarts everything in the worst order and reads the settings back.
func (t *Tuner) rehearse(ctx context.Context) (err error) {
	if unseen := t.book.state.Unseen(); unseen != "" {
		t.display.note("%s", unseen)
	}
	t.display.phase("rehearsal", "every service is killed and started in the worst order", "does it all come back?")
	if t.out.Rehearsal, err = t.Field.Rehearse(ctx); err != nil {
		return err
	}
	if err := t.Acts.ReadBack(ctx, t.book.ledger().InForce...); err != nil {
		t.out.Rehearsal.OK = false
		t.out.Rehearsal.Says += "; a setting was lost in the restart: " + err.Error()
	}
	t.display.say("restart rehearsal: %s", t.out.Rehearsal.Says)
	return nil
}

// compare begins the last comparison: interleaved full runs of the untouched site and the
// final one, whose ratio is the main result.
func (t *Tuner) compare(context.Context) error {
	s := t.book.present()
	t.out.Full = s.FinalLoad()
	f := &trial.Final{Site: t.runner, Seed: t.Options.Seed, Load: t.out.Full, Wanted: t.Options.Pairs, On: true, Before: t.untouchedBefore(),
		Away: t.hands.allAway, Back: t.hands.allBack}
	f.Tell = func(final bool) {
		t.display.show(func(v *View) {
			v.Phase, v.Purpose, v.Pairs = "last comparison", "interleaved full runs are the headline", len(f.Pairs)
			v.Doing = fmt.Sprintf("the %s site for %s", map[bool]string{true: "final", false: "untouched"}[final], f.Load)
		})
	}
	t.final, s.Final = f, &search.Comparison{}
	return nil
}

// untouchedBefore is a run of the untouched site that no other run has followed, in a
// scarce search whose runs have one length. It was not chosen for its score: only one
// as high as the candidate's would have been another case (see trial.Paired).
func (t *Tuner) untouchedBefore() *iikanji.Run {
	r, o := t.runner, t.Options
	if !t.book.state.Scarce() || o.Full != o.Short || r.back == nil || r.backAt != t.book.ledger().Runs {
		return nil
	}
	return r.back
}

// runFinal runs one pair of the last comparison.
func (t *Tuner) runFinal(ctx context.Context) error {
	f, st := t.final, t.book.state.Final
	p, err := f.RunPair(ctx)
	if err != nil {
		return err
	}
	if st.Why = p.Void; st.Why == "" {
		st.Why = judge.Unusable(p)
	}
	if st.Why != "" {
		t.display.note("last comparison: a pair does not count: %s", st.Why)
		st.Bad, st.Disturbed = st.Bad+1, !t.runner.accept && p.Void != ""
		return nil
	}
	f.Pairs = append(f.Pairs, p)
	st.Pairs, st.Disturbed = len(f.Pairs), false
	t.out.Untouched, t.out.Final = append(t.out.Untouched, p.A.ID), append(t.out.Final, p.B.ID)
	if o := t.book.ledger().Open; o != nil { // the pairs decide on the unconfirmed change, too
		o.Before, o.Since = append(o.Before, p.A.ID), append(o.Since, p.B.ID)
	}
	t.headline()
	return nil
}

// headline is the ratio of the pairs so far.
func (t *Tuner) headline() {
	c := judge.Compare(t.final.Pairs)
	t.out.Scores, t.out.Ratio, t.out.Work = c.Scores, c.Ratio, c.Work
	t.book.state.Ratio = c.Ratio
	if c.Bounded {
		t.display.pairs(c.Pairs, c.Effect)
	}
}

// endCompare ends the last comparison with the final state.
func (t *Tuner) endCompare(ctx context.Context, why string) error {
	if why != "" {
		t.display.note("%s", why)
	}
	return t.leaveFinal(ctx)
}

// leaveFinal notes whether the load generator was the limit of the final site's runs, and
// brings the site into its final state.
func (t *Tuner) leaveFinal(ctx context.Context) error {
	f := t.final
	t.final, t.book.state.Final = nil, nil
	busy := 0
	for _, p := range f.Pairs {
		if p.B.Load.Busy {
			busy++
		}
	}
	if busy > 0 {
		t.display.note("the load generator was the limit in %d of %d runs of the final site, which may be faster than these scores", busy, len(f.Pairs))
	}
	if !f.On {
		return t.hands.allBack(context.WithoutCancel(ctx))
	}
	return nil
}

// undoHarm undoes everything if the last comparison proves that the final site is slower
// than the untouched one: short runs may miss what long ones show, as a pool that blocks
// once in a minute. The headline and its runs stay in the outcome.
func (t *Tuner) undoHarm(ctx context.Context, why string) error {
	l := t.book.ledger()
	n := len(l.InForce)
	if err := t.hands.takeBack(ctx, slices.Clone(l.InForce), why); err != nil {
		return err
	}
	for i := range l.Attempts {
		if a := &l.Attempts[i]; a.Verdict.Call == iikanji.Keep {
			a.Dropped = true
		}
	}
	t.display.note("%s: %s undone", why, map[bool]string{true: "it is", false: fmt.Sprintf("all %d changes are", n)}[n == 1])
	return t.book.save()
}

// undoCost undoes what was kept for the work that it saves.
func (t *Tuner) undoCost(ctx context.Context, step search.Step) error {
	l := t.book.ledger()
	for _, k := range step.Keeps {
		a := &l.Attempts[k.Attempt]
		t.display.note("undone: %s: it saves work without a proven gain, and %s", a.Says, step.Why)
		if err := t.hands.takeBack(ctx, k.Changes, step.Why); err != nil {
			return err
		}
		a.Dropped = true
	}
	return t.book.save()
}

// clearFinal forgets a comparison that did not confirm what was kept.
func (t *Tuner) clearFinal(why string) {
	out := t.out
	out.Untouched, out.Final = []iikanji.RunID{}, []iikanji.RunID{}
	out.Ratio, out.Scores, out.Work, out.Rehearsal = iikanji.Interval{}, [2]float64{}, nil, load.Rehearsal{}
	t.display.note("%s", why)
}

// withoutPreparations are the changes that a comparison toggles: what only prepares them has
// no effect without them, and takes long.
func withoutPreparations(changes []*iikanji.Change) []*iikanji.Change {
	return slices.DeleteFunc(changes, func(c *iikanji.Change) bool { return c.Prepares })
}

// allAway undoes every change for a while, the latest first; the ledger records it
// before.
func (h *hands) allAway(ctx context.Context) error {
	l := h.book.ledger()
	changes, err := h.book.changes(l.InForce)
	if err != nil {
		return err
	}
	l.Away = nil
	for _, c := range withoutPreparations(changes) {
		l.Away = append(l.Away, c.ID)
	}
	if err := h.book.save(); err != nil {
		return err
	}
	for _, id := range slices.Backward(l.Away) {
		if err := h.acts.Revert(ctx, id, "for the last comparison"); err != nil {
			return err
		}
	}
	return nil
}

// allBack applies them again, in the order of application.
func (h *hands) allBack(ctx context.Context) error {
	l := h.book.ledger()
	for _, id := range l.InForce {
		c, err := h.book.store.LoadChange(id)
		if err != nil {
			return err
		}
		if err := h.putBack(ctx, id, c.Stage); err != nil {
			return err
		}
	}
	l.Away = nil
	return h.book.save()
}
