package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// An endPhase completes a search: it tries the changes that turn logs off, checks
// each kept change alone, rehearses a restart and measures the untouched site
// against the final one. It is the only part that takes kept changes away.
type endPhase struct {
	*runner
	*queue
	out *Outcome
	// attempt gives one candidate its trial, together several as one, and confirm
	// decides on the change that the fast lane let in.
	attempt  func(context.Context, Candidate) error
	together func(context.Context, []Candidate, string) (bool, error)
	confirm  func(context.Context) error
}

// finish is the end phase, after which the result is reliable and can be
// exported.
func (t *Tuner) finish(ctx context.Context, out *Outcome) error {
	return (&endPhase{t.runner, t.queue, out, t.attempt, t.together, t.confirmNow}).run(ctx)
}

// run orders the steps of the end phase.
func (t *endPhase) run(ctx context.Context) error {
	t.beginEnd()
	if t.confirmsLast() {
		return t.proveOpen(ctx)
	}
	if err := t.confirm(ctx); err != nil {
		return err
	}
	if err := t.blindLast(ctx); err != nil {
		return err
	}
	if err := t.dropOne(ctx); err != nil {
		return err
	}
	return t.prove(ctx)
}

// prove rehearses a restart with what is in force and compares it with the untouched
// site.
func (t *endPhase) prove(ctx context.Context) error {
	if len(t.ledger.InForce) == 0 {
		if len(t.ledger.Attempts) == 0 && t.options.Time > 0 {
			t.note("the time may have been too short for a trial: a run takes %s here", t.cost.Round(time.Second))
		}
		t.note("nothing was kept: there is nothing to compare")
		return nil
	}
	if err := t.rehearse(ctx); err != nil {
		return err
	}
	if err := t.compare(ctx); err != nil {
		return err
	}
	return t.undoHarm(ctx)
}

// noteBounds notes that the load generator was the limit of the final site's runs.
func (t *endPhase) noteBounds(pairs []judge.Pair) {
	n := 0
	for _, p := range pairs {
		if p.B.Load.Busy {
			n++
		}
	}
	if n > 0 {
		t.note("the load generator was the limit in %d of %d runs of the final site, which may be faster than these scores", n, len(pairs))
	}
}

// rehearse restarts everything in the worst order and reads the settings back.
func (t *endPhase) rehearse(ctx context.Context) (err error) {
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose, v.Pairs, v.Effect = "rehearsal", "every service is killed and started in the worst order", "does it all come back?", 0, nil
	})
	if t.out.Rehearsal, err = t.field.Rehearse(ctx); err != nil {
		return err
	}
	if err := t.acts.ReadBack(ctx, t.ledger.InForce...); err != nil {
		t.out.Rehearsal.OK = false
		t.out.Rehearsal.Says += "; a setting was lost in the restart: " + err.Error()
	}
	t.say("restart rehearsal: %s", t.out.Rehearsal.Says)
	return nil
}

// blindLast tries the changes that turn logs off, once no diagnosis needs them.
func (t *endPhase) blindLast(ctx context.Context) error {
	for t.tailLeft() > 5*t.cost+t.weakTime() {
		c, ok := t.next(true)
		if !ok {
			return nil
		}
		parts := t.handful(c, mostParts)
		if need := t.provingTime(c, parts); need > t.tailLeft() {
			t.note("logs stay as they are: to prove the gain that is expected would take %s", need.Round(time.Second))
			return nil
		}
		tried, err := t.together(ctx, parts, "logs are no longer needed for a diagnosis")
		if err == nil && !tried {
			err = t.attempt(ctx, c)
		}
		if err != nil {
			return err
		}
		if err := t.confirm(ctx); err != nil {
			return err
		}
	}
	return nil
}

// provingTime is how long the trial of a candidate, or of a bundle of parts, takes
// that has the expected effect; 0 in a search without a limit.
func (t *endPhase) provingTime(c Candidate, parts []Candidate) time.Duration {
	if t.options.Time <= 0 {
		return 0
	}
	if len(parts) == 0 {
		parts = []Candidate{c}
	}
	gain := 0.0
	for _, p := range parts {
		gain += p.Chance * p.Gain
	}
	return time.Duration(runsFor(gain, t.judge.Prior.SD())) * t.cost
}

// A keep is one kept change, alone or of a bundle, that a check at the end measures.
type keep struct {
	attempt int // index in ledger.Attempts
	ids     []iikanji.ChangeID
	part    int // of a bundle; −1 for the whole attempt
}

// keeps are the kept changes, those with a weak proof first. Each change of a
// bundle that was not proven alone is one of them.
func (b *ledger) keeps() []keep {
	var all []keep
	for i := range b.Attempts {
		a := &b.Attempts[i]
		inForce := b.inForceOf(a)
		if a.Verdict.Call != iikanji.Keep || a.Dropped || len(inForce) == 0 {
			continue
		}
		if len(a.Parts) == 0 {
			all = append(all, keep{i, inForce, -1})
			continue
		}
		for k, id := range a.Changes {
			if slices.Contains(inForce, id) {
				all = append(all, keep{i, []iikanji.ChangeID{id}, k})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y keep) int {
		if wx, wy := b.weak(x), b.weak(y); wx != wy {
			return cmp.Compare(bit(wy), bit(wx))
		}
		return cmp.Compare(b.Attempts[x.attempt].Verdict.Effect.Lo, b.Attempts[y.attempt].Verdict.Effect.Lo)
	})
	return all
}

// weak reports whether the proof of a kept change must be repeated.
func (b *ledger) weak(k keep) bool {
	a := &b.Attempts[k.attempt]
	if k.part < 0 {
		return a.weak()
	}
	return k.part >= len(a.Alone) || a.Alone[k.part] == nil
}

// dropOne tries the site without each kept change, the least certain first, while
// there is time. A change without a gain worth keeping is undone, and so is one
// whose weak proof is not repeated.
func (t *endPhase) dropOne(ctx context.Context) error {
	kept := t.ledger.keeps()
	if len(kept) == 1 && !t.ledger.weak(kept[0]) {
		return nil
	}
	checked := 0
	for i, k := range kept {
		if !t.timeToCheck(kept[i:]) {
			t.note("drop-one checks: %d of %d kept changes; there was no time for the others", checked, len(kept))
			if err := t.undoDoubtful(ctx, kept[checked:]); err != nil {
				return err
			}
			break
		}
		if err := t.recheck(ctx, k); err != nil {
			return err
		}
		checked++
	}
	return t.save()
}

// timeToCheck reports whether there is time to check the first of the keeps that are
// left. Other changes than those with a weak proof are checked if there is time for
// half of them: a few checks of many say little about the final state, and the time
// makes the runs of the last comparison longer.
func (t *endPhase) timeToCheck(left []keep) bool {
	least := 5 * t.cost
	if k := left[0]; k.part >= 0 || !t.ledger.weak(k) {
		least = max(least, time.Duration(2*len(left))*t.cost)
	}
	return t.tailLeft() >= least
}

// mostDoubt is the probability of no effect from which a change with a weak proof is
// undone when there is no time to repeat the proof.
const mostDoubt = 0.5

// undoDoubtful undoes changes that more likely have no effect than one, if their
// proof could not be repeated.
func (t *endPhase) undoDoubtful(ctx context.Context, left []keep) error {
	for _, k := range left {
		a := &t.ledger.Attempts[k.attempt]
		if k.part >= 0 || !a.weak() || a.Verdict.Doubt < mostDoubt {
			continue
		}
		above, err := t.above(k.ids)
		if err != nil {
			return err
		}
		if len(above) > 0 { // they would be undone with it, and there is no time to try them again
			t.note("%s stays: its gain is doubtful, but %d later changes are built on it", a.Says, len(above))
			continue
		}
		why := "its gain is doubtful, and there was no time to prove it again"
		if err := t.takeBack(ctx, k.ids, why); err != nil {
			return err
		}
		a.Dropped = true
		t.note("dropped: %s: %s", a.Says, why)
	}
	return nil
}

// recheck compares the final state with the one without a kept change.
func (t *endPhase) recheck(ctx context.Context, k keep) error {
	a := &t.ledger.Attempts[k.attempt]
	changes, err := t.changes(k.ids)
	if err != nil || len(changes) == 0 {
		return err
	}
	says := a.Says
	if k.part >= 0 {
		says = a.Parts[k.part]
	}
	above, err := t.above(k.ids)
	if err != nil {
		return err
	}
	if len(above) > 0 {
		t.note("not checked alone: %s: %d later changes are built on it", says, len(above))
		return nil
	}
	check := t.newDropCheck(k, says, changes)
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose, v.Pairs, v.Effect = "drop-one", "without: "+says, "is it still needed?", 0, nil
	})
	t.ledger.Away = k.ids // an interrupted check puts them back
	if err := t.save(); err != nil {
		return err
	}
	v, err := check.without(ctx)
	weak := t.ledger.weak(k)
	if err == nil && v.Effect.Level > 0 {
		check.again(a, v)
	}
	dropped := err == nil && (v.Call == iikanji.Revert || weak && (unproven(v) || v.Call != iikanji.Keep && k.part < 0 && a.Verdict.Doubt >= mostDoubt))
	if dropped {
		err = check.drop(ctx, a, v)
	}
	if !dropped || err != nil {
		err = errors.Join(err, t.allBack(context.WithoutCancel(ctx)))
	}
	return err
}

// proofLevel is the one-sided level below which one trial proves a gain for the
// whole search: of 15 candidates that do nothing, one passes in 1 of 50 searches. A
// weaker proof must be repeated with new pairs before the end.
const proofLevel = 0.0005

// weak reports whether an attempt's proof must be repeated.
func (a *Attempt) weak() bool {
	return len(a.Parts) == 0 && a.Verdict.Reason == iikanji.Proven && a.Verdict.P > proofLevel && (a.Again == nil || a.Again.Call != iikanji.Keep)
}

// unproven reports whether a second trial failed to prove a gain. One that the end
// of the time cut off speaks against the change only if its pairs do.
func unproven(v iikanji.Verdict) bool {
	return v.Call == iikanji.Inconclusive || v.Call == iikanji.CallUnknown && len(v.Tried) > 0 && v.Effect.Mid <= 0
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compare measures the untouched site against the final one in interleaved full
// runs; the ratio is the main result. Void pairs are repeated while there is time.
func (t *endPhase) compare(ctx context.Context) (err error) {
	out := t.out
	out.Full = t.fullLoad()
	if t.options.Time > 0 { // all of the time left, except for a run that must be repeated
		out.Full = t.fullIn(t.timeLeft() - t.cost - t.turnsTime())
	}
	c := &comparison{endPhase: t, on: true, before: t.untouchedBefore()}
	defer func() {
		t.noteBounds(c.pairs)
		if !c.on {
			err = errors.Join(err, t.allBack(context.WithoutCancel(ctx)))
		}
	}()
	for n, bad := 0, 0; n < t.options.Pairs; {
		left := t.timeLeft()
		if left < 0 && n >= 2 || left < -2*t.cost || bad >= maxVoids {
			t.note("the last comparison has %d pairs of the %d that were wanted: %s", n, t.options.Pairs, cmp.Or(c.why, errTime.Error()))
			return nil
		}
		p, err := c.pair(ctx, n)
		if err != nil {
			return err
		}
		if c.why = p.Void; c.why == "" {
			c.why = judge.Unusable(p)
		}
		if c.why != "" {
			t.note("last comparison: a pair does not count: %s", c.why)
			if bad++; bad == maxBadPairs && !t.accept && p.Void != "" { // a headline with its noise is better than none
				t.acceptAll(p.Void)
			}
			continue
		}
		n++
		c.pairs = append(c.pairs, p)
		out.Untouched, out.Final = append(out.Untouched, p.A.ID), append(out.Final, p.B.ID)
		t.noteOpen(p)
		t.headline(c.pairs)
	}
	return nil
}

// maxBadPairs is how many void pairs the last comparison repeats before disturbed
// runs count.
const maxBadPairs = 2

// A comparison is the state of the last comparison.
type comparison struct {
	*endPhase
	on    bool // all changes in force are applied
	pairs []judge.Pair
	why   string // why the latest pair is void
	// before is a run of the untouched site that was made right before the comparison,
	// or nil. The first pair may use it as its A.
	before *iikanji.Run
	used   bool // the first pair used before
}

// pair runs the n-th pair; the first one starts in the final state.
func (c *comparison) pair(ctx context.Context, n int) (p judge.Pair, err error) {
	for _, want := range c.orderOf(n) {
		if !want && c.used && n == 0 {
			p.A = c.before
			continue
		}
		c.show(func(v *View) {
			v.Phase, v.Purpose, v.Pairs = "last comparison", "interleaved full runs are the headline", n
			v.Doing = fmt.Sprintf("the %s site for %s", map[bool]string{true: "final", false: "untouched"}[want], c.out.Full)
		})
		if err := c.turn(ctx, want); err != nil {
			return p, err
		}
		run, void, err := c.bench(ctx, load.Spec{Load: c.out.Full})
		if err != nil {
			return p, err
		}
		if p.Put(want, run, void); p.Void != "" {
			break
		}
	}
	return p, nil
}

// turn brings the site into its final or its untouched state.
func (c *comparison) turn(ctx context.Context, want bool) error {
	if c.on == want {
		return nil
	}
	c.on = false // until it is certain
	if !want {
		return c.allAway(ctx)
	}
	err := c.allBack(ctx)
	c.on = err == nil
	return err
}

// headline is the ratio of the pairs so far.
func (t *endPhase) headline(pairs []judge.Pair) {
	c := judge.Compare(pairs)
	out := t.out
	out.Scores, out.Ratio, out.Work = c.Scores, c.Ratio, c.Work
	if c.Bounded {
		t.show(func(v *View) { v.Pairs, v.Effect = c.Pairs, &c.Effect })
	}
}

// allAway undoes every change for a while, the latest first; the ledger records it
// before.
func (t *endPhase) allAway(ctx context.Context) error {
	t.ledger.Away = slices.Clone(t.ledger.InForce)
	if err := t.save(); err != nil {
		return err
	}
	for _, id := range slices.Backward(t.ledger.InForce) {
		if err := t.acts.Revert(ctx, id, "for the last comparison"); err != nil {
			return err
		}
	}
	return nil
}

// allBack applies them again, in the order of application.
func (t *endPhase) allBack(ctx context.Context) error {
	for _, id := range t.ledger.InForce {
		c, err := t.store.LoadChange(id)
		if err != nil {
			return err
		}
		if err := t.putBack(ctx, id, c.Stage); err != nil {
			return err
		}
	}
	t.ledger.Away = nil
	return t.save()
}
