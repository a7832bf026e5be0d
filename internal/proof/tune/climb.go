package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A Rung is one row of a ladder: remedies that were applied together.
type Rung struct {
	Name  string
	Says  string // the row's words
	Parts []Candidate
	// Hurts: the write-up took the row back. It stays only if a gain is proven.
	Hurts bool
	// Given: the rung is applied without a trial, below the first rung to judge.
	Given bool
	// Alone: the rung is judged on the site as it is, and undone whatever it gives.
	Alone bool
}

// label is the rung's name among the attempts. What a rung gives alone is not what it
// gives on a ladder.
func (r *Rung) label() string {
	if r.Alone {
		return r.Name + ", alone"
	}
	return r.Name
}

// A Climbed is what came of one rung.
type Climbed struct {
	Attempt
	// Scores are geometric means of the trial's runs without and with the rung; 0
	// for none.
	Scores [2]float64 `json:"scores"`
	// Stays: the rung's changes are in force.
	Stays bool `json:"stays"`
	// Before: the trial was in an earlier climb on this history.
	Before bool `json:"before,omitempty"`
	// Alone: the rung was judged on the site as it was, and undone.
	Alone bool `json:"alone,omitempty"`
	// Unjudged: the rung was applied without a trial.
	Unjudged bool `json:"unjudged,omitempty"`
	// Missing are the parts of the rung that could not be planned, with reasons.
	Missing []string `json:"missing,omitempty"`
}

// Climb applies the rungs of a ladder in their order and judges each in interleaved
// pairs of runs, as a trial does. The order of a ladder is history, so a rung stays
// unless the runs prove that it hurts or it fails the checks; one that the write-up
// took back stays only with a proven gain. What does not stay is undone to the byte.
// At the end come the restart rehearsal and the last comparison of a search.
//
// The time is divided between the rungs: a rung whose share ends without a proof
// stays, and the next one is tried. Rungs that an earlier climb on this history has
// judged are not judged again. done is called with each rung.
//
// When ctx is done, the rung under trial is undone, the others stay, and the outcome
// so far is returned with the error of ctx.
func (t *Tuner) Climb(ctx context.Context, rungs []Rung, done func(int, Climbed)) (*Outcome, error) {
	if err := t.openLedger(); err != nil {
		return nil, err
	}
	t.ending = true // no time is reserved for logs and for repeated proofs
	out := t.newOutcome()
	err := t.climbAll(ctx, rungs, done)
	if err == nil {
		err = (&endPhase{runner: t.runner, queue: t.queue, out: out}).prove(ctx)
	}
	return out, t.close(out, err)
}

func (t *Tuner) climbAll(ctx context.Context, rungs []Rung, done func(int, Climbed)) error {
	if err := t.resume(ctx); err != nil {
		return err
	}
	measured := false
	for i, r := range rungs {
		if before, ok := t.climbedBefore(r); ok {
			done(i, before)
			continue
		}
		if !r.Given && !measured {
			if err := t.calibrate(ctx); err != nil {
				return err
			}
			measured = true
		}
		share := t.share(slices.DeleteFunc(slices.Clone(rungs[i:]), func(r Rung) bool {
			_, ok := t.climbedBefore(r)
			return ok || r.Given
		}))
		c, err := t.climb(ctx, r, share)
		if err != nil {
			return err
		}
		done(i, c)
	}
	return nil
}

// share is the time for the next of the rungs that wait; 0 without a limit.
func (t *Tuner) share(waiting []Rung) time.Duration {
	if t.Options.Time <= 0 || len(waiting) == 0 {
		return 0
	}
	return max(1, t.timeFor()/time.Duration(len(waiting)))
}

// climbedBefore is the result of a rung that an earlier climb has judged, unless
// its changes were undone since.
func (t *Tuner) climbedBefore(r Rung) (Climbed, bool) {
	key := r.key()
	for _, a := range slices.Backward(t.ledger.Attempts) {
		if a.Rung != r.label() || a.Key != key || a.Skipped != "" {
			continue
		}
		stays := len(t.ledger.inForceOf(&a)) > 0
		if a.Undone || a.Stays && !stays {
			return Climbed{}, false
		}
		return Climbed{Attempt: a, Stays: stays, Before: true, Alone: r.Alone, Unjudged: a.Verdict.Call == iikanji.CallUnknown}, true
	}
	return Climbed{}, false
}

func (r *Rung) key() string { return bundleOf(r.Parts, "").Key() }

// climb plans one rung and gives it its trial, or applies it without one.
func (t *Tuner) climb(ctx context.Context, r Rung, share time.Duration) (Climbed, error) {
	from := len(t.ledger.Attempts)
	_, planned, err := t.planAll(ctx, r.Parts, true)
	if err != nil {
		return Climbed{}, err
	}
	c := Climbed{Alone: r.Alone, Attempt: Attempt{Candidate: bundleOf(r.Parts, "a rung of the ladder"), Key: r.key(), Says: r.Says, Rung: r.label(), Binding: t.binding()}}
	for _, a := range t.ledger.Attempts[from:] {
		c.Missing = append(c.Missing, a.Says+": "+firstLine(a.Skipped))
	}
	t.ledger.Attempts = t.ledger.Attempts[:from] // a ladder reports them itself
	for _, p := range planned {
		c.Changes = append(c.Changes, p.ID)
		if len(planned) > 1 {
			c.Parts, c.Causes = append(c.Parts, p.Says), append(c.Causes, r.Name)
		}
	}
	switch {
	case len(planned) == 0:
		c.Skipped = strings.Join(c.Missing, "; ")
	case r.Alone && t.Options.Time > 0 && share < t.cost:
		c.Skipped = "there was no time for a trial"
	case r.Given || t.Options.Time > 0 && share < t.cost:
		err = t.applyUnjudged(ctx, r, &c, planned)
	default:
		err = t.judgeRung(ctx, r, share, &c, planned)
	}
	if err != nil {
		return c, err
	}
	t.ledger.Attempts = append(t.ledger.Attempts, c.Attempt)
	if err := t.judged(c.Attempt); err != nil {
		return c, err
	}
	t.show(func(v *View) { v.Doing, v.Purpose, v.Pairs, v.Effect = "", "", 0, nil })
	return c, t.save()
}

// applyUnjudged applies a rung for which there is no trial. A rung that hurts needs
// one to stay.
func (t *Tuner) applyUnjudged(ctx context.Context, r Rung, c *Climbed, planned []*iikanji.Change) error {
	if r.Hurts {
		c.Skipped = "it was taken back, and there is no trial of it"
		return nil
	}
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose, v.Pairs, v.Effect = "climb", r.Says, "applied without a trial", 0, nil
	})
	c.Unjudged, c.Stays, c.Attempt.Stays = true, true, true
	began := t.now()
	for _, p := range planned {
		if err := t.acts.Apply(ctx, p.ID); err != nil {
			return errors.Join(err, t.undo(ctx, planned, "its rung could not be applied"))
		}
	}
	t.switching += t.now().Sub(began)
	t.incumbent, t.fresh = nil, nil
	return t.inForce(planned, "a rung of the ladder, applied without a trial")
}

// judgeRung gives a rung its trial.
func (t *Tuner) judgeRung(ctx context.Context, r Rung, share time.Duration, c *Climbed, planned []*iikanji.Change) error {
	tr := newTrial(t.runner, t.queue, planned...)
	tr.rung, tr.closed = &r, true // two pairs cost little more than the fast lane, and leave nothing open
	if t.Options.Time > 0 {
		tr.until = t.now().Add(share)
	}
	err := tr.hold(ctx, &c.Attempt)
	c.Runs, c.Took = tr.runs, t.now().Sub(tr.began)
	if err != nil {
		return err
	}
	if tr.replan {
		c.Skipped = undoneByInitialize("the rung") + "; its remedy must go into the schema file"
		return nil
	}
	if c.Stays = c.Attempt.Stays; c.Stays {
		t.switching += tr.applying
	}
	var without, with []*iikanji.Run
	for _, p := range tr.c.Pairs {
		if p.Void == "" && p.A != nil && p.B != nil && judge.Unusable(p) == "" {
			without, with = append(without, p.A), append(with, p.B)
		}
	}
	c.Scores = [2]float64{geomean(without), geomean(with)}
	what := "undone"
	switch {
	case r.Alone:
		what = "alone"
	case c.Stays:
		what = "stays"
	}
	t.say("%s: %s: %s", what, r.Says, c.Verdict.Why)
	return nil
}

// inForce marks applied changes as kept.
func (s *restorer) inForce(changes []*iikanji.Change, why string) error {
	for _, c := range changes {
		if err := s.acts.Keep(c.ID, why); err != nil {
			return err
		}
		s.ledger.InForce = append(s.ledger.InForce, c.ID)
	}
	return nil
}

// A rungShare is the rung of a ladder whose trial it is, with its share of the time.
type rungShare struct {
	rung  *Rung     // nil in a search
	until time.Time // end of the share; zero without one
}

// stays reports whether a change under trial remains after its verdict, and the
// reason as it is saved with the change.
func (r rungShare) stays(a *Attempt) (bool, string) {
	v := &a.Verdict
	switch {
	case r.rung != nil && r.rung.Alone:
		return false, "a rung that is judged alone: " + v.Why
	case v.Call == iikanji.Keep:
		return true, a.verdictText()
	case r.rung == nil || r.rung.Hurts || v.Reason == iikanji.Gate || hurts(*v):
		return false, v.Why
	}
	return true, fmt.Sprintf("a rung of the ladder, not proven to hurt: %s", v.Why)
}

// ended reports whether the next pair of a rung would exceed its share of the
// time; a run takes cost. A rung that may hurt gets the pair that proves it.
func (r rungShare) ended(v iikanji.Verdict, now time.Time, cost time.Duration) bool {
	if r.rung == nil || r.until.IsZero() || Loses(v) && !hurts(v) && !r.rung.Hurts {
		return false
	}
	return r.until.Sub(now) < 2*cost
}

// more reports whether a rung needs further pairs although a search would give up: a
// loss is not proven yet, and a ladder has to show it. most is the number of pairs of
// the last look.
func (r rungShare) more(v iikanji.Verdict, most int, now time.Time, cost time.Duration) bool {
	return r.rung != nil && v.Reason == iikanji.NoGain && !hurts(v) && !r.ended(v, now, cost) && len(v.Tried) < most
}

// Loses reports whether the interval of an effect is below 0: with two pairs or more
// a loss is proven, with one it is likely.
func Loses(v iikanji.Verdict) bool { return v.Effect.Level > 0 && v.Effect.Hi < 0 }

// hurts reports whether the pairs prove a loss.
func hurts(v iikanji.Verdict) bool { return Loses(v) && len(v.Tried) >= leastPairs }

// leastPairs is how many pairs prove a loss at least, as at the judge's first look.
const leastPairs = 2
