package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

// Tune searches for changes that make the site faster, keeps what interleaved
// runs prove, and measures at the end what it came to:
//
//  1. continue an interrupted search; otherwise
//  2. run the untouched site against itself (A/A) to measure the noise;
//  3. observe a run and find causes; rank their remedies by expected gain;
//  4. try one candidate at a time, or many as one change where time is scarce or where
//     other work uses what one saves; a kept one moves the bottleneck: go to 3;
//  5. try parked candidates as bundles; bisect a bundle that fails;
//  6. in the end phase: changes that turn logs off, drop-one checks, a restart
//     rehearsal, and the untouched site against the final one in full runs.
//
// When ctx is done, the candidate under trial is undone, kept changes stay, and
// the outcome so far is returned with the error of ctx.
func (t *Tuner) Tune(ctx context.Context) (*Outcome, error) {
	if err := t.openLedger(); err != nil {
		return nil, err
	}
	out := t.newOutcome()
	return out, t.close(out, t.phases(ctx, out))
}

func (t *Tuner) newOutcome() *Outcome {
	return &Outcome{Full: t.Options.Full, Place: t.Options.Place, Untouched: []iikanji.RunID{}, Final: []iikanji.RunID{}}
}

// close completes the outcome of a search that ended with err, and saves it.
func (t *Tuner) close(out *Outcome, err error) error {
	out.Attempts = append([]Attempt{}, t.ledger.Attempts...)
	out.Runs, out.Voided = t.ledger.Runs-t.before[0], t.ledger.Voided-t.before[1]
	out.Short = [2]float64{geomean(t.untouched), geomean(t.incumbent)}
	out.Noise, out.Notes, out.Took = t.judge.Prior.SD(), t.notes, t.Now().Sub(t.began)
	if t.shown != nil {
		out.Plan = *t.shown
	}
	out.Partial, out.FalseKeeps = err != nil, t.ledger.falseKeeps()
	return errors.Join(err, t.save(), t.saveSearch(out))
}

func (t *Tuner) phases(ctx context.Context, out *Outcome) error {
	if err := t.resume(ctx); err != nil {
		return err
	}
	t.showPlan()
	if err := t.calibrate(ctx); err != nil {
		return err
	}
	if err := t.search(ctx); err != nil {
		return err
	}
	return t.finish(ctx, out)
}

// search tries candidates until none is left, or no time for them.
func (t *Tuner) search(ctx context.Context) error {
	for {
		if why := t.enough(); why != "" {
			t.note("the search ended: %s", why)
			return nil
		}
		if t.stale && t.worthObserving() {
			if err := t.observe(ctx); err != nil {
				return err
			}
			t.stale = false
		}
		c, ok := t.next(false)
		_, again := t.tried(c)
		if again || t.timeFor() < lastCall*t.cost { // deferred candidates may prove a gain together
			if tried, err := t.bundle(ctx); err != nil {
				return err
			} else if tried {
				continue
			}
		}
		if !ok && t.moved && t.runsLeft() >= t.leastObserved() {
			t.moved, t.stale = false, true // several small effects may have moved the bottleneck, too
			continue
		}
		if !ok {
			tried, err := t.bundle(ctx)
			if err != nil {
				return err
			}
			if !tried && t.ledger.Open != nil { // if it is not confirmed, pairs decide
				if err := t.confirmNow(ctx); err != nil {
					return err
				}
			} else if !tried {
				t.note("the search ended: no candidates are left")
				return nil
			}
			continue
		}
		if tried, err := t.swept(ctx, t.sweep(c)); err != nil {
			return err
		} else if tried {
			continue
		}
		if t.logsFirst(c) {
			t.note("the search ended: the rest of the time is for changes that turn logs off")
			return nil
		}
		if tried, err := t.screen(ctx, t.factors(c)); err != nil {
			return err
		} else if tried {
			continue
		}
		if tried, err := t.together(ctx, t.unscreened(c), "each alone would take long to prove"); err != nil {
			return err
		} else if tried {
			continue
		}
		if err := t.attempt(ctx, c); err != nil {
			return err
		}
	}
}

// worthObserving reports whether a new observation may change what is tried next. One
// that leaves too little time for a trial does not, and neither does one before the
// trial of a knob that promises much: no sensor measures what it admits, and the site is
// observed after it.
func (q *queue) worthObserving() bool {
	if q.diagnosis == nil {
		return true
	}
	c, ok := q.next(false)
	return q.runsLeft() >= q.leastObserved() && !(ok && c.knob() && c.Chance*c.Gain >= leap)
}

// leastObserved is how many runs before the end of the search the site is observed
// again: one and a half for the observation, and those of the trial that follows from it.
func (b *budget) leastObserved() float64 { return 1.5 + b.leastTrial() }

// lastCall is how many runs before the end of the search the bundle of all
// parked candidates gets its trial.
const lastCall = 10

// attempt tries one candidate, reports the result and confirms an unconfirmed
// change if there are enough runs.
func (t *Tuner) attempt(ctx context.Context, c Candidate) error {
	a, err := t.try(ctx, c)
	if err != nil && a.Verdict.Call == iikanji.CallUnknown {
		return err
	}
	t.ledger.Attempts = append(t.ledger.Attempts, a)
	if err := errors.Join(err, t.judged(a)); err != nil { // a service died during the trial: the verdict is saved for the next search
		return err
	}
	if a.Skipped != "" {
		t.say("not tried: %s: %s", a.Says, firstLine(a.Skipped))
	} else {
		t.say("%s: %s: %s", strings.ToUpper(callOf(a)), a.Says, a.Verdict.Why)
	}
	if err := t.confirm(ctx, 2); err != nil {
		return err
	}
	if err := t.noteAbsorbed(a); err != nil {
		return err
	}
	t.show(func(v *View) { v.Doing, v.Purpose, v.Pairs, v.Effect = "", "", 0, nil })
	return t.save()
}

// enough is the reason to end the search; "" to continue.
func (t *Tuner) enough() string {
	first, now := geomean(t.untouched), geomean(t.incumbent)
	switch {
	case t.Options.Runs > 0 && t.ledger.Runs-t.before[0] >= t.Options.Runs:
		return fmt.Sprintf("%d runs were allowed", t.Options.Runs)
	case t.Options.Until > 0 && first > 0 && now >= first*t.Options.Until:
		return fmt.Sprintf("the score is %.1f × the first one; the goal was ×%g", now/first, t.Options.Until)
	case t.runsLeft() < t.leastTrial():
		return "the rest of the time is for the last comparison"
	}
	return ""
}
