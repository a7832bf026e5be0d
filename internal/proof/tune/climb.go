package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A Rung is one row of a ladder: remedies that were applied together.
type Rung struct {
	Name  string
	Says  string // the row's words
	Parts []search.Candidate
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
	Attempt search.Attempt `json:"-"` // its fields are beside these: see MarshalJSON
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

// MarshalJSON writes the fields of the attempt beside those of the rung.
func (c Climbed) MarshalJSON() ([]byte, error) {
	type fields Climbed
	attempt, err := json.Marshal(c.Attempt)
	if err != nil {
		return nil, err
	}
	rung, err := json.Marshal(fields(c))
	if err != nil {
		return nil, err
	}
	return append(append(attempt[:len(attempt)-1], ','), rung[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Climbed) UnmarshalJSON(b []byte) error {
	type fields Climbed
	if err := json.Unmarshal(b, (*fields)(c)); err != nil {
		return err
	}
	return json.Unmarshal(b, &c.Attempt)
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
	t.book.state.Ending, t.book.state.Ladder = true, true // no time is reserved for logs and for repeated proofs
	err := t.climbAll(ctx, rungs, done)
	if err == nil {
		t.book.state.Phase, t.book.state.Plan = search.Closing, search.Plan{Stage: search.Proving}
		err = t.follow(ctx, func(step search.Step) bool { return step.Do == search.End })
	}
	return t.close(err)
}

func (t *Tuner) climbAll(ctx context.Context, rungs []Rung, done func(int, Climbed)) error {
	if err := t.hands.resume(ctx); err != nil {
		return err
	}
	measured := false
	for i, r := range rungs {
		for k := range r.Parts {
			r.Parts[k].Traits = traitsOf(r.Parts[k].Remedy)
		}
		if before, ok := t.climbedBefore(r); ok {
			done(i, before)
			continue
		}
		if !r.Given && !measured {
			if err := t.measure(ctx); err != nil {
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
	return max(1, t.book.present().TimeFor()/time.Duration(len(waiting)))
}

// climbedBefore is the result of a rung that an earlier climb has judged, unless
// its changes were undone since.
func (t *Tuner) climbedBefore(r Rung) (Climbed, bool) {
	key := r.key()
	l := t.book.ledger()
	for _, a := range slices.Backward(l.Attempts) {
		if a.Rung != r.label() || a.Key != key || a.Skipped != "" {
			continue
		}
		stays := len(l.InForceOf(&a)) > 0
		if a.Undone || a.Stays && !stays {
			return Climbed{}, false
		}
		return Climbed{Attempt: a, Stays: stays, Before: true, Alone: r.Alone, Unjudged: a.Verdict.Call == iikanji.CallUnknown}, true
	}
	return Climbed{}, false
}

func (r *Rung) key() string { return search.BundleKey(r.Parts) }

// climb plans one rung and gives it its trial, or applies it without one.
func (t *Tuner) climb(ctx context.Context, r Rung, share time.Duration) (Climbed, error) {
	l, cost := t.book.ledger(), t.book.state.Cost
	from := len(l.Attempts)
	cs, planned, err := t.planner.planAll(ctx, r.Parts, true)
	if err != nil {
		return Climbed{}, err
	}
	c := Climbed{Alone: r.Alone, Attempt: t.newAttempt(search.Together(r.Parts, "a rung of the ladder"))}
	a := &c.Attempt
	a.Says, a.Rung = r.Says, r.label()
	for _, skipped := range l.Attempts[from:] {
		c.Missing = append(c.Missing, skipped.Says+": "+firstLine(skipped.Skipped))
	}
	l.Attempts = l.Attempts[:from] // a ladder reports them itself
	a.Parts = r.partsOf(cs, planned)
	for _, p := range planned {
		a.Changes = append(a.Changes, p.ID)
	}
	bounded := t.Options.Time > 0
	switch {
	case len(planned) == 0:
		a.Skipped = strings.Join(c.Missing, "; ")
	case r.Alone && bounded && share < cost:
		a.Skipped = "there was no time for a trial"
	case r.Given || bounded && share < cost:
		err = t.applyUnjudged(ctx, r, &c, planned)
	default:
		err = t.judgeRung(ctx, r, share, &c, planned)
	}
	if err != nil {
		return c, err
	}
	l.Attempts = append(l.Attempts, c.Attempt)
	if err := t.book.judged(a); err != nil {
		return c, err
	}
	t.display.phaseOver()
	return c, t.book.save()
}

// partsOf are the parts of a rung: those that were planned, from cs, and the others.
func (r *Rung) partsOf(cs []search.Candidate, planned []*iikanji.Change) []search.Part {
	parts := search.PartsOf(r.Parts)
	for i := range parts {
		parts[i].Cause = r.Name
		k := slices.IndexFunc(cs, func(c search.Candidate) bool { return c.Key() == parts[i].Key() })
		if k >= 0 {
			parts[i].Change, parts[i].Says = planned[k].ID, planned[k].Says
		}
	}
	return parts
}

// applyUnjudged applies a rung for which there is no trial. A rung that hurts needs
// one to stay.
func (t *Tuner) applyUnjudged(ctx context.Context, r Rung, c *Climbed, planned []*iikanji.Change) error {
	if r.Hurts {
		c.Attempt.Skipped = "it was taken back, and there is no trial of it"
		return nil
	}
	t.display.phase("climb", r.Says, "applied without a trial")
	c.Unjudged, c.Stays, c.Attempt.Stays = true, true, true
	began := t.book.now()
	for _, p := range planned {
		if err := t.Acts.Apply(ctx, p.ID); err != nil {
			return errors.Join(err, t.hands.undo(ctx, planned, "its rung could not be applied"))
		}
	}
	t.book.state.Switching += t.book.now().Sub(began)
	t.book.forgetIncumbent()
	return t.hands.keep(planned, "a rung of the ladder, applied without a trial")
}

// readied applies those changes of a rung that prepare the others and have no effect on the
// site: pairs toggle the others only. It returns both, also with an error.
func (t *Tuner) readied(ctx context.Context, planned []*iikanji.Change) (before, rest []*iikanji.Change, err error) {
	for _, p := range planned {
		if !p.Prepares {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 { // nothing uses what it prepares
		return nil, planned, nil
	}
	for _, p := range planned {
		if !p.Prepares {
			continue
		}
		if err := t.Acts.Apply(ctx, p.ID); err != nil {
			return before, rest, err
		}
		before = append(before, p)
	}
	return before, rest, nil
}

// judgeRung gives a rung its trial.
func (t *Tuner) judgeRung(ctx context.Context, r Rung, share time.Duration, c *Climbed, planned []*iikanji.Change) error {
	before, rest, err := t.readied(ctx, planned)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.Attempt.Skipped = "it could not be prepared: " + firstLine(err.Error())
		return t.hands.undo(ctx, before, c.Attempt.Skipped)
	}
	on := &onTrial{attempt: c.Attempt, rung: &r, stays: r.stays, before: before}
	if t.Options.Time > 0 {
		on.until = t.book.now().Add(share)
	}
	wiped := false
	on.ended = func(context.Context) error { return nil }
	on.wiped = func(context.Context) error { wiped = true; return nil }
	if err := t.beginTrial(ctx, on, "", rest...); err != nil {
		return t.abandon(ctx, err)
	}
	tr := on.trial
	if err := t.finishTrial(ctx); err != nil {
		return err
	}
	c.Attempt = on.attempt
	a := &c.Attempt
	if wiped {
		a.Skipped = undoneByInitialize("the rung") + "; its remedy must go into the schema file"
		return nil
	}
	if c.Stays = a.Stays; c.Stays {
		t.book.state.Switching += tr.Arms.Applying
	}
	var without, with []*iikanji.Run
	for _, p := range tr.Case.Pairs {
		if p.Void == "" && p.A != nil && p.B != nil && judge.Unusable(p) == "" {
			without, with = append(without, p.A), append(with, p.B)
		}
	}
	c.Scores = [2]float64{judge.MeanScore(without), judge.MeanScore(with)}
	what := "undone"
	switch {
	case r.Alone:
		what = "alone"
	case c.Stays:
		what = "stays"
	}
	t.display.say("%s: %s: %s", what, r.Says, a.Verdict.Why)
	return nil
}

// rungShare is the share of the time of the rung under trial; nil in a search.
func (t *Tuner) rungShare(on *onTrial) *search.RungShare {
	if on.rung == nil {
		return nil
	}
	share := &search.RungShare{Hurts: on.rung.Hurts, Bounded: !on.until.IsZero()}
	if share.Bounded {
		share.Left = on.until.Sub(t.book.now())
	}
	return share
}

// stays reports whether a rung remains after its verdict, and the reason as it is saved with
// its changes.
func (r *Rung) stays(a *search.Attempt) (bool, string) {
	v := a.Verdict
	switch {
	case r.Alone:
		return false, "a rung that is judged alone: " + v.Why
	case v.Call == iikanji.Keep:
		return true, verdictText(a)
	case r.Hurts || v.Reason == iikanji.Gate || search.Hurts(v):
		return false, v.Why
	}
	return true, fmt.Sprintf("a rung of the ladder, not proven to hurt: %s", v.Why)
}
