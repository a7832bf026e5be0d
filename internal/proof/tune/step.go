package tune

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A step is what a search can do next: the trial of one candidate, the trial of several
// as one change, or a screening of several.
type step struct {
	parts []Candidate // best first
	runs  float64     // what it costs
}

// expected is the sum of the parts' chances times their gains.
func (s step) expected() float64 {
	sum := 0.0
	for _, p := range s.parts {
		sum += p.Chance * p.Gain
	}
	return sum
}

// rate is the expected gain on ln(score) per run.
func (s step) rate() float64 { return s.expected() / s.runs }

// stepOf is the step in which the search tries a candidate that is next.
func (q *queue) stepOf(c Candidate) step {
	if parts := q.factors(c); parts != nil {
		return step{parts, float64(stats.FactorialRuns(len(parts)) + afterScreen)}
	}
	return q.trialOf(c, q.unscreened(c))
}

// trialOf is the trial of a candidate, or of the parts of a bundle if there are several.
func (q *queue) trialOf(c Candidate, parts []Candidate) step {
	sd := q.judge.Prior.SD()
	if len(parts) < 2 {
		return step{[]Candidate{c}, runsFor(c.Gain, sd) + c.extraRuns()}
	}
	s := step{parts: parts}
	s.runs = runsFor(s.expected(), sd) + c.extraRuns()
	return s
}

// solid is the expected gain on ln(score) from which another candidate comes before
// rewrites of source. It is provable in a few runs. What a rewrite promises often hangs
// on the same seconds, as a LIMIT beside the missing index of its statement, and several
// rewrites together promise the sum. On a noisy machine they took half of a search whose
// index alone would have been worth more.
const solid = 0.2

// best is the better one of a rewrite of source and of another candidate, each the first
// of its sort; Remedy.Kind is empty for none. A solid expected gain of another candidate
// comes first: it moves the bottleneck and makes the runs that judge the rewrites
// comparable with those after it. A knob with a large one is next: a screening of small
// gains takes several times as long, and the time may then be up. After a bundle of others
// without a gain, rewrites are next. Otherwise the rate of their steps decides, because
// rewrites are tried together.
func (q *queue) best(rewrite, other Candidate) (Candidate, bool) {
	switch {
	case rewrite.none():
		return other, !other.none()
	case other.none():
		return rewrite, true
	case other.Gain < solid && (rewrite.knob() && rewrite.Gain >= large || !rewrite.knob() && q.vain() || q.stepOf(rewrite).rate() > q.stepOf(other).rate()):
		return rewrite, true
	}
	return other, true
}

// vain reports whether the latest trial was of a bundle without rewrites, and had no gain.
// Its halves and the small candidates that remain have hardly more to give. Measured on
// isuumo: three such trials took the time of the rewrites, which gave 38 % in the search
// before.
func (q *queue) vain() bool {
	for _, a := range slices.Backward(q.ledger.Attempts) {
		if a.Skipped == "" {
			return a.Kind() == bundleKind && !a.rewriting() && a.Verdict.Call == iikanji.Revert && a.Verdict.Reason == iikanji.NoGain
		}
	}
	return false
}

func (c Candidate) none() bool { return c.Remedy.Kind == "" }

// fits reports whether there is time for a trial of a candidate: of a rewrite, for the
// comparison of answers and two pairs. In a scarce search runs are long, and a comparison
// takes less than one.
func (q *queue) fits(c Candidate) bool {
	least := answerRuns + q.leastTrial()
	if q.scarce() {
		least = 1 + q.leastTrial()
	}
	return !c.rewrites() || q.runsLeft() >= least
}

// runsLeft is the time for the search, in runs.
func (b *budget) runsLeft() float64 {
	if b.options.Time <= 0 || b.cost <= 0 {
		return math.Inf(1)
	}
	return float64(b.timeFor()) / float64(b.cost)
}

// logsFirst reports whether the rest of the search is better used for changes that turn
// logs off than for a candidate: there is no time for both, the time suffices to prove
// what is expected of the logs, and that is more per run. No time is reserved for logs
// otherwise: in most searches their gain is too small to be proven.
func (q *queue) logsFirst(c Candidate) bool {
	if q.options.Time <= 0 {
		return false
	}
	blind, ok := q.next(true)
	if !ok {
		return false
	}
	logs, now := q.trialOf(blind, q.handful(blind, mostParts)), q.stepOf(c)
	left := q.runsLeft()
	return logs.runs <= left && left < logs.runs+now.runs && logs.rate() > now.rate()
}
