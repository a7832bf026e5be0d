package search

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Trial is what the next step of a trial under way depends on.
type Trial struct {
	Key     string      `json:"key,omitempty"` // of a single candidate; "" for a bundle
	Changes int         `json:"changes"`
	Looks   stats.Looks `json:"looks"`
	// Pairs are the pairs so far, Counted how many of them counted before the latest.
	Pairs   int `json:"pairs"`
	Counted int `json:"counted"`
	// Void is why the latest pair does not count.
	Void string `json:"void,omitempty"`
	// Verdict is the verdict of the judge after the latest pair that counts; its Call is
	// unknown before.
	Verdict iikanji.Verdict `json:"verdict,omitzero"`
	Judged  bool            `json:"judged,omitempty"` // the judge has seen the latest pair
	// Over is the verdict that ends the trial without the judge's rules: the fast lane
	// accepted the candidate, one run showed its gain beyond doubt, or its answers differ.
	Over *iikanji.Verdict `json:"over,omitempty"`
	// FailedRun is the candidate's latest run if it failed its checks, with the reason.
	FailedRun iikanji.RunID `json:"failed_run,omitempty"`
	FailedWhy string        `json:"failed_why,omitempty"`
	// Rung is the share of a rung of a ladder; nil in a search.
	Rung *RungShare `json:"rung,omitempty"`
}

// A RungShare is the share of the time that the trial of a ladder's rung has.
type RungShare struct {
	Hurts   bool          `json:"hurts,omitempty"` // the write-up took the rung back
	Bounded bool          `json:"bounded,omitempty"`
	Left    time.Duration `json:"left_ns,omitempty"`
}

// inTrial is the next step of the trial under way.
func (s *State) inTrial() Step {
	t := s.Trial
	switch {
	case t.Over != nil:
		return Step{Do: Settle, Why: t.Over.Why, Verdict: *t.Over, Deferred: s.mayGoOn(*t.Over)}
	case s.sweeps() && t.Changes > 1 && t.Void == "" && t.FailedRun != 0:
		why := fmt.Sprintf("run %d failed its checks (%s): smaller groups are tried", t.FailedRun, t.FailedWhy)
		return Step{Do: Settle, Why: why, Verdict: iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.Gate, Why: why}}
	}
	if why := s.provesNothing(); why != "" {
		return Step{Do: GiveUp, Why: why}
	}
	if t.Pairs == 0 || t.Void != "" || !t.Judged {
		return Step{Do: RunPair}
	}
	return s.afterVerdict()
}

// provesNothing is the reason why more pairs of the trial would prove nothing: too many of
// them did not count, or the time is up. It is "" otherwise.
func (s *State) provesNothing() string {
	t := s.Trial
	if t.Pairs == 0 {
		return ""
	}
	bad, most := t.Pairs-t.Counted, s.count(MostVoids)
	switch {
	case t.Void != "" && bad >= most:
		return fmt.Sprintf("%d of its pairs do not count, the last one because %s", bad, t.Void)
	case bad > most:
		return fmt.Sprintf("%d of its pairs do not count", bad)
	case t.Void != "" && s.TimeFor() < s.pairCost():
		return timeIsUp
	}
	return ""
}

// mayGoOn reports whether a trial whose pairs did not count goes on when no other candidate is
// left, in a search without a limit of time: what disturbed them tells nothing of the candidate.
// One that has no further pair since it was put off does not, so that the search ends.
func (s *State) mayGoOn(v iikanji.Verdict) bool {
	if s.bounded() || v.Call != iikanji.Inconclusive || s.Trial.Key == "" {
		return false
	}
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if a.Key == s.Trial.Key {
			return !a.Deferred || len(v.Tried) > len(a.Verdict.Tried)
		}
	}
	return true
}

// timeIsUp is why something ends in the middle.
const timeIsUp = "the time is up"

// afterVerdict is the next step after the judge has seen a pair that counts.
func (s *State) afterVerdict() Step {
	v := s.Trial.Verdict
	end := func(reason iikanji.Reason, why string) Step {
		v.Call, v.Reason, v.Why = iikanji.Inconclusive, reason, why+": "+v.Why
		return Step{Do: Settle, Why: v.Why, Verdict: v}
	}
	switch {
	case v.Reason == iikanji.Shifted:
		return Step{Do: Recalibrate, Why: v.Why}
	case v.Call != iikanji.CallUnknown && !s.rungNeedsMore():
		return Step{Do: Settle, Why: v.Why, Verdict: v}
	case s.rungIsOver():
		v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.Undecided, "the rung's share of the time is over; "+v.Why
		return Step{Do: Settle, Why: v.Why, Verdict: v}
	case s.anotherPromisesMore():
		step := end(iikanji.TooFew, "postponed, the expected gain of its next runs is less than that of other candidates")
		step.Deferred = true
		return step
	case s.TimeFor() < s.pairCost() && !s.mayTakeFromEnd(v):
		v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.Undecided, timeIsUp+"; "+v.Why
		return Step{Do: Settle, Why: v.Why, Verdict: v, Deferred: s.Trial.Changes == 1} // the checks may leave time for more pairs
	}
	return Step{Do: RunPair}
}

// anotherPromisesMore reports whether another candidate promises more per run than
// continuing the trial. Ending a trial early keeps nothing, so it never keeps wrongly.
func (s *State) anotherPromisesMore() bool {
	t, v := s.Trial, s.Trial.Verdict
	if !s.bounded() || len(v.Tried) < 1 {
		return false
	}
	ahead := s.promiseOf(v, t.Looks)
	little := len(v.Tried) > 1 && ahead < s.constant(Hopeless) // nothing comes of it even if there is time
	if t.Changes > 1 || s.isFavoured(t.Key) {                  // neither is ended for another candidate
		return little
	}
	if s.isNewBundle(s.undecided()) && s.TimeFor() < time.Duration(s.count(LastCall))*s.Cost {
		return true
	}
	next, ok := s.next(false)
	if !ok || s.wasDeferred(next.Key()) {
		return little
	}
	return ahead < next.Chance*next.Gain/s.runsFor(next.Gain)
}

// wasDeferred reports whether a trial of a candidate was ended for another one.
func (s *State) wasDeferred(key string) bool {
	for i := range s.Ledger.Attempts {
		if a := &s.Ledger.Attempts[i]; a.Key == key && a.Deferred {
			return true
		}
	}
	return false
}

// promiseOf is the expected gain per run of continuing a trial: at the best of the
// remaining looks, the chance that the mean proves a gain, times that gain.
func (s *State) promiseOf(v iikanji.Verdict, looks stats.Looks) float64 {
	sd, likely := s.sd(), s.likelyEffect(v)
	n, best := float64(len(v.Tried)), 0.0
	for _, size := range looks.Sizes {
		l := float64(size)
		if l <= n {
			continue
		}
		need := max(v.Worth, s.constant(BoundOfLook)*sd/math.Sqrt(l))
		z := (likely - need) / (sd * math.Sqrt(1/n-1/l))
		best = max(best, stats.NormalCDF(z)*max(likely, need)/(2*(l-n)))
	}
	return best
}

// mayTakeFromEnd reports whether a trial is so likely to prove a gain that it may take
// time from the last comparison, whose runs stay at least twice as long as the trial's.
func (s *State) mayTakeFromEnd(v iikanji.Verdict) bool {
	o := s.Options
	end := time.Duration(2*o.Pairs)*(min(s.times(LeastFull, o.Short), o.Full)+s.Overhead()) + s.spare()
	return v.Effect.Lo > 0 && s.likelyEffect(v) >= s.constant(FromEnd)*s.constant(Leap) && s.TimeLeft()-end > s.pairCost()
}

// rungIsOver reports whether the next pair of a rung would exceed its share of the time.
// A rung that may hurt gets the pair that proves it.
func (s *State) rungIsOver() bool {
	r, v := s.Trial.Rung, s.Trial.Verdict
	if r == nil || !r.Bounded || Loses(v) && !Hurts(v) && !r.Hurts {
		return false
	}
	return r.Left < s.pairCost()
}

// rungNeedsMore reports whether a rung needs further pairs although a search would give
// up: a loss is not proven yet, and a ladder has to show it.
func (s *State) rungNeedsMore() bool {
	t := s.Trial
	v := t.Verdict
	return t.Rung != nil && v.Reason == iikanji.NoGain && !Hurts(v) && !s.rungIsOver() && len(v.Tried) < t.Looks.Last()
}

// Loses reports whether the interval of an effect is below 0: with two pairs or more
// a loss is proven, with one it is likely.
func Loses(v iikanji.Verdict) bool { return v.Effect.Level > 0 && v.Effect.Hi < 0 }

// Hurts reports whether the pairs prove a loss.
func Hurts(v iikanji.Verdict) bool { return Loses(v) && len(v.Tried) >= FewestPairs.count() }
