package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A trial compares the site with changes to the site without them, in
// interleaved pairs. Several changes are a bundle, which gets one verdict.
type trial struct {
	*arms
	*queue
	rungShare
	c        judge.Case
	free     *iikanji.Run // the incumbent's latest run, which serves as the first A
	order    judge.Order  // of the first pair; it saves a switch between the arms
	began    time.Time
	had      int         // pairs of an earlier part of the trial
	resumed  bool        // had is not 0
	closed   bool        // the fast lane has failed for these changes
	looks    stats.Looks // of this trial; empty for the judge's own
	deferred bool        // ended early: another candidate promises more
	answered *iikanji.Answered
}

// errTime is the end of the time in the middle of a trial.
var errTime = errors.New("the time is up")

func newTrial(t *runner, q *queue, changes ...*iikanji.Change) *trial {
	tr := &trial{arms: &arms{runner: t, changes: changes}, queue: q, began: t.now(), free: t.fresh, order: judge.BA}
	if tr.free != nil || t.ledger.Open != nil { // runs of the incumbent confirm the unconfirmed change
		tr.order = judge.AB
	}
	tr.c = judge.Case{Change: bundled(changes), Worth: worthOf(changes), Allow: t.acts.Policy.Allow, Known: t.knownFaults(), Earlier: t.earlier}
	if len(t.incumbent) >= judge.ShiftRuns {
		tr.c.Before = slices.Clone(t.incumbent)
	}
	tr.c.Simplifies = slices.ContainsFunc(changes, func(c *iikanji.Change) bool { return c.Simplifies })
	return tr
}

// worthOf is the least effect on ln(score) for which a bundle is worth keeping:
// the sum of its changes' least effects.
func worthOf(changes []*iikanji.Change) float64 {
	least := 0.0
	for _, c := range changes {
		least += judge.Worth(c)
	}
	return least
}

// bundled merges changes into one for the judge.
func bundled(changes []*iikanji.Change) iikanji.Change {
	one := *changes[0]
	for _, c := range changes[1:] {
		one.Weakens = append(slices.Clone(one.Weakens), c.Weakens...)
		one.Says += "; " + c.Says
	}
	return one
}

// hold runs the trial to its verdict and brings the site into the verdict's
// state. An error on the way undoes the candidate.
func (tr *trial) hold(ctx context.Context, a *Attempt) (err error) {
	tr.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose, v.Pairs, v.Effect = "trial", a.Says, a.Candidate.reason(), 0, nil
	})
	defer func() {
		if died := context.Cause(ctx); err != nil && tr.on && died != nil && !errors.Is(died, context.Canceled) {
			a.Verdict = iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: "while it was on trial: " + firstLine(died.Error())}
		}
		if err != nil || tr.replan {
			err = errors.Join(err, tr.away(ctx, "its trial did not end"))
		}
	}()
	if err := tr.takeUp(a.Candidate, a.Key); err != nil {
		return err
	}
	why, err := tr.compareAnswers(ctx)
	if err == nil && why == "" && !tr.on {
		err = tr.put(ctx, true)
	}
	if err != nil {
		return tr.refused(ctx, a, err)
	}
	if why != "" {
		a.Verdict = iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: why, Answered: tr.answered}
		return tr.away(ctx, why)
	}
	fast, v, err := tr.decide(ctx)
	if err != nil || tr.replan {
		return err
	}
	v.Answered = tr.answered
	a.Verdict, a.Fast = v, fast.OK
	if fast.OK {
		return tr.provisional(a, fast)
	}
	return tr.settle(ctx, a)
}

// refused ends the trial of a change that could not be applied and that the
// executor has undone. A change that could not be undone ends the search.
func (tr *trial) refused(ctx context.Context, a *Attempt, err error) error {
	tr.on = false
	if ctx.Err() != nil {
		return err
	}
	for _, c := range tr.changes {
		now, e := tr.store.LoadChange(c.ID)
		if e != nil || now.Stage == iikanji.Stuck {
			return errors.Join(err, e)
		}
	}
	var moved *change.MovedError
	if errors.As(err, &moved) {
		return err
	}
	a.Verdict = iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: "it could not be applied: " + firstLine(err.Error())}
	return tr.away(ctx, a.Verdict.Why)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// decide runs pairs until the judge has decided, or until the fast lane accepts
// the candidate provisionally because of one run far above the incumbent's.
func (tr *trial) decide(ctx context.Context) (judge.Provisional, iikanji.Verdict, error) {
	usable := tr.had
	for {
		p, fast, err := tr.pair(ctx, usable)
		if err == nil && fast.OK && !tr.replan {
			if v, ok := tr.clearly(p); ok {
				tr.c.Pairs = append(tr.c.Pairs, p)
				return judge.Provisional{}, v, nil
			}
		}
		if err != nil || tr.replan || fast.OK {
			return fast, iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Keep, Reason: iikanji.Proven, Why: fast.Why}, err
		}
		tr.c.Pairs = append(tr.c.Pairs, p)
		if v, ok := tr.broke(p); ok {
			return judge.Provisional{}, v, nil
		}
		if why := tr.stuck(usable); why != "" {
			_, _, err := tr.arm(ctx, false) // if the machine is the cause, this run is void, too, and maybe an error
			return judge.Provisional{}, tr.giveUp(why), err
		}
		if p.Void != "" {
			continue
		}
		v := tr.rule().Decide(tr.c)
		tr.show(func(w *View) { w.Pairs, w.Effect = len(v.Tried), &v.Effect })
		if v.Reason == iikanji.Shifted {
			if err := tr.recalibrate(ctx, v.Why); err != nil {
				return judge.Provisional{}, v, err
			}
			continue
		}
		if v.Call != iikanji.CallUnknown && !tr.more(v, tr.rule().Looks.Last(), tr.now(), tr.cost) {
			return judge.Provisional{}, v, nil
		}
		usable = len(v.Tried)
		if tr.ended(v, tr.now(), tr.cost) {
			v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.Undecided, "the rung's share of the time is over; "+v.Why
			return judge.Provisional{}, v, nil
		}
		if tr.deferred = tr.better(v, tr.rule().Looks, len(tr.changes)); tr.deferred {
			v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.TooFew, "postponed, the expected gain of its next runs is less than that of other candidates: "+v.Why
			return judge.Provisional{}, v, nil
		}
		if tr.timeFor() < 2*tr.cost && !tr.ahead(v) {
			v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.Undecided, errTime.Error()+"; "+v.Why
			return judge.Provisional{}, v, nil
		}
	}
}

// stuck is the reason why more pairs would prove nothing: too many of them did
// not count, or the time is up. It is "" otherwise.
func (tr *trial) stuck(usable int) string {
	last := tr.c.Pairs[len(tr.c.Pairs)-1]
	if bad := len(tr.c.Pairs) - usable; last.Void != "" && bad >= maxVoids {
		return fmt.Sprintf("%d of its pairs do not count, the last one because %s", bad, last.Void)
	}
	if bad := len(tr.c.Pairs) - usable; bad > maxVoids {
		return fmt.Sprintf("%d of its pairs do not count", bad)
	}
	if last.Void != "" && tr.timeFor() < 2*tr.cost {
		return errTime.Error()
	}
	return ""
}

// giveUp is the verdict on a trial that cannot be finished.
func (tr *trial) giveUp(why string) iikanji.Verdict {
	v := tr.rule().Decide(tr.c)
	if v.Reason != iikanji.Gate {
		v.Call, v.Reason, v.Needed, v.Why = iikanji.Inconclusive, iikanji.Undecided, 0, why
	}
	return v
}

// recalibrate voids the last pair and runs the incumbent again, because the
// environment has changed.
func (tr *trial) recalibrate(ctx context.Context, why string) error {
	tr.c.Pairs[len(tr.c.Pairs)-1].Void = why
	tr.say("%s", why)
	tr.c.Before, tr.incumbent, tr.past = nil, nil, nil
	for len(tr.c.Before) < judge.ShiftRuns {
		run, void, err := tr.arm(ctx, false)
		if err != nil {
			return err
		}
		if void == "" {
			tr.c.Before = append(tr.c.Before, run)
		}
	}
	tr.aa = slices.Clone(tr.c.Before) // older runs are of another machine
	tr.learn()
	return nil
}

// settle brings the site into the verdict's state.
func (tr *trial) settle(ctx context.Context, a *Attempt) error {
	v := &a.Verdict
	tr.past = append(tr.past, tr.c.Pairs[tr.had:])
	tr.notePairs()
	stays, why := tr.stays(a)
	if !stays {
		a.Parked, a.Deferred = v.Call == iikanji.Inconclusive && tr.rung == nil, tr.deferred
		err := tr.away(ctx, v.Why)
		tr.learn()
		return err
	}
	a.Stays = tr.rung != nil
	if err := tr.put(ctx, true); err != nil {
		return err
	}
	if err := tr.inForce(tr.changes, why); err != nil {
		return err
	}
	if tr.scarce() { // an index of a large table takes long to be built again
		tr.switching += tr.applying
	}
	tr.incumbent, tr.fresh = nil, nil
	if tr.rung != nil && tr.latest != nil { // the next rung's first A
		tr.fresh = tr.latest
	}
	tr.stale, tr.moved = tr.stale || v.Effect.Mid >= leap, true
	for _, p := range tr.c.Pairs[tr.had:] {
		if p.Void == "" && p.B != nil && p.B.Clean() {
			tr.incumbent = append(tr.incumbent, p.B)
			tr.remember(p.B)
		}
	}
	tr.learn()
	return nil
}

// leap is the least effect on ln(score) of a kept change that is assumed to have
// moved the bottleneck, so that a run must be observed again.
const leap = 0.095

// notePairs adds the pairs to the ledger, for the noise of later searches.
func (tr *trial) notePairs() {
	var pairs [][2]int
	for _, p := range tr.c.Pairs[tr.had:] {
		if p.Void == "" && p.A != nil && p.B != nil {
			pairs = append(pairs, [2]int{int(p.A.ID), int(p.B.ID)})
		}
	}
	tr.ledger.Pairs = append(tr.ledger.Pairs, pairs)
}

// provisional makes the candidate the incumbent before it is proven. The run
// that the fast lane accepted was selected for its high score and is no further
// evidence: later runs of the incumbent confirm the candidate.
func (tr *trial) provisional(a *Attempt, fast judge.Provisional) error {
	tr.ledger.Open = &unconfirmed{Attempt: len(tr.ledger.Attempts), Bound: fast.Bound, Before: ids(tr.incumbent)}
	for _, c := range tr.changes {
		tr.ledger.InForce = append(tr.ledger.InForce, c.ID)
	}
	tr.incumbent, tr.fresh, tr.stale = nil, nil, true
	return nil
}
