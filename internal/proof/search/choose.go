package search

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// next is the best candidate that was not tried under this limit, among those that blind
// the sensors or among the others.
func (s *State) next(blind bool) (Candidate, bool) {
	var rewrite, other, again Candidate
	waiting := s.rewritesWait(s.Candidates)
	for _, c := range s.rankedNow() {
		if c.Traits.Blinds != blind || c.Key() == s.underTrial() || s.isTrifle(c) || waiting && s.waitsForRewrites(c) || !s.hasTimeFor(c) ||
			s.Stale && s.IsCured(c) || s.preparedEnough(c) {
			continue
		}
		switch tried, deferred := s.HasTried(c); {
		case tried:
			if deferred && again.missing() && s.isWorthResuming(c) {
				again = c
			}
		case !c.Traits.Rewrites && other.missing():
			other = c
		case c.Traits.Rewrites && rewrite.missing():
			rewrite = c
		}
	}
	if c, ok := s.better(rewrite, other); ok {
		return c, true
	}
	return again, !again.missing()
}

// better is the better one of a rewrite of source and of another candidate, each the first
// of its sort. A solid expected gain of another candidate comes first: it moves the limit
// and makes the runs that judge the rewrites comparable with those after it. A knob with a
// large one is next: a screening of small gains takes several times as long, and the time
// may then be up. After a bundle of others without a gain, rewrites are next. Otherwise, and where
// the other one would have a design, the rate of their tasks decides, because rewrites are tried
// together.
func (s *State) better(rewrite, other Candidate) (Candidate, bool) {
	switch {
	case rewrite.missing():
		return other, !other.missing()
	case other.missing():
		return rewrite, true
	case rewrite.Traits.Apart && s.taskOf(rewrite).rate() > s.taskOf(other).rate(): // it promises most of all
		return rewrite, true
	case s.factors(other) != nil && !rewrite.knob() && s.taskOf(rewrite).rate() > s.taskOf(other).rate(): // a design comes last
		return rewrite, true
	case other.Gain < s.constant(Solid) && (rewrite.knob() && rewrite.Gain >= s.constant(Large) || !rewrite.knob() && s.latestBundleWasVain() ||
		s.taskOf(rewrite).rate() > s.taskOf(other).rate()):
		return rewrite, true
	}
	return other, true
}

// latestBundleWasVain reports whether the latest trial was of a bundle without rewrites,
// and had no gain. Its halves and the small candidates that remain have hardly more to
// give. Measured on isuumo: three such trials took the time of the rewrites, which gave
// 38 % in the search before.
func (s *State) latestBundleWasVain() bool {
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if a.Skipped == "" {
			return a.IsBundle() && !a.rewritesSource() && a.Verdict.Call == iikanji.Revert && a.Verdict.Reason == iikanji.NoGain
		}
	}
	return false
}

// A task is what a search can do next: the trial of one candidate, the trial of several
// as one change, or a screening of several.
type task struct {
	parts []Candidate // best first
	runs  float64     // what it costs
}

// expected is the sum of the parts' chances times their gains.
func (t task) expected() float64 {
	sum := 0.0
	for _, p := range t.parts {
		sum += p.Chance * p.Gain
	}
	return sum
}

// rate is the expected gain on ln(score) per run.
func (t task) rate() float64 { return t.expected() / t.runs }

// taskOf is the task in which the search tries a candidate that is next.
func (s *State) taskOf(c Candidate) task {
	if parts := s.factors(c); parts != nil {
		return s.designOf(parts)
	}
	return s.trialOf(c, s.unscreened(c))
}

// designOf is a design of several candidates: its rows, the pairs of what it favours, and the runs
// without each part that then prove these alone.
func (s *State) designOf(parts []Candidate) task {
	gains := 0.0
	for _, p := range parts {
		gains += p.Chance
	}
	return task{parts, float64(s.designRuns(parts)) + 2*s.constant(FewestPairs) + s.constant(DebtRounds)*(1+gains)}
}

// trialOf is the trial of a candidate, or of the parts of a bundle if there are several.
func (s *State) trialOf(c Candidate, parts []Candidate) task {
	if len(parts) < 2 {
		return task{[]Candidate{c}, s.runsFor(c.Gain) + s.extraRuns(c)}
	}
	t := task{parts: parts}
	t.runs = s.runsFor(t.expected()) + s.extraRuns(c)
	return t
}

// logsFirst reports whether the rest of the search is better used for changes that turn
// logs off than for a candidate: there is no time for both, the time suffices to prove
// what is expected of the logs, and that is more per run. No time is reserved for logs
// otherwise: in most searches their gain is too small to be proven.
func (s *State) logsFirst(c Candidate) bool {
	if !s.bounded() {
		return false
	}
	blind, ok := s.next(true)
	if !ok {
		return false
	}
	logs, now := s.trialOf(blind, s.handful(blind, s.count(MostParts))), s.taskOf(c)
	left := s.runsLeft()
	return logs.runs <= left && left < logs.runs+now.runs && logs.rate() > now.rate()
}
