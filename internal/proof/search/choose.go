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
		if c.Nature.Blinds != blind || c.Key() == s.underTrial() || s.isTrifle(c) || waiting && s.waitsForRewrites(c) || !s.hasTimeFor(c) ||
			s.Stale && s.IsCured(c) {
			continue
		}
		switch tried, deferred := s.HasTried(c); {
		case tried:
			if deferred && again.missing() && s.isWorthResuming(c) {
				again = c
			}
		case !c.Nature.Rewrites && other.missing():
			other = c
		case c.Nature.Rewrites && rewrite.missing():
			rewrite = c
		}
	}
	if c, ok := s.better(rewrite, other); ok {
		return c, true
	}
	return again, !again.missing()
}

// underTrial is the key of the single candidate under trial.
func (s *State) underTrial() string {
	if s.Trial == nil {
		return ""
	}
	return s.Trial.Key
}

// HasTried reports whether a candidate had its trial, and whether that trial was
// deferred. A parked candidate is tried again once the limit has moved: another
// resource binds, or a change was kept that makes the candidate promise more.
func (s *State) HasTried(c Candidate) (tried, deferred bool) {
	key := c.Key()
	for i := len(s.Ledger.Attempts) - 1; i >= 0; i-- {
		a := &s.Ledger.Attempts[i]
		if a.Key == key {
			if c.knob() && s.limitMovedSince(i) || s.Regains(c, i) {
				return false, false
			}
			return !a.Parked || a.Binding == s.Binding, a.Deferred
		}
		if a.IsBundle() && a.hasPart(key) && s.isInForce(a) {
			return true, false
		}
	}
	return false, false
}

// IsCured reports whether another remedy of the same finding is in force, or a rewrite
// that has the fixes of this one. A log that is written more cheaply may still be turned
// off.
func (s *State) IsCured(c Candidate) bool {
	if c.Code == "" || c.Nature.Blinds || c.knob() {
		return false
	}
	for i := range s.Ledger.Attempts {
		if a := &s.Ledger.Attempts[i]; a.answersFor(c) && s.isInForce(a) {
			return true
		}
	}
	return false
}

// isTrifle reports whether a candidate promises too little for a trial in a bounded time.
func (s *State) isTrifle(c Candidate) bool {
	return s.bounded() && !c.Nature.Blinds && c.Chance*c.Gain < s.constant(Trifle)
}

// isWorthResuming reports whether the next runs of a trial that was put off promise enough
// to go on with it.
func (s *State) isWorthResuming(c Candidate) bool {
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if a.Key == c.Key() {
			return !s.bounded() || s.promiseOf(a.Verdict, s.Judge.Looks) >= s.constant(Hopeless)
		}
	}
	return false
}

// hasTimeFor reports whether there is time for a trial of a candidate: of a rewrite, for
// the comparison of answers and two pairs. In a scarce search runs are long, and a
// comparison takes less than one.
func (s *State) hasTimeFor(c Candidate) bool {
	least := s.constant(AnswerRuns) + s.leastTrial()
	if s.Scarce() {
		least = 1 + s.leastTrial()
	}
	return !c.Nature.Rewrites || s.runsLeft() >= least
}

// better is the better one of a rewrite of source and of another candidate, each the first
// of its sort. A solid expected gain of another candidate comes first: it moves the limit
// and makes the runs that judge the rewrites comparable with those after it. A knob with a
// large one is next: a screening of small gains takes several times as long, and the time
// may then be up. After a bundle of others without a gain, rewrites are next. Otherwise the
// rate of their tasks decides, because rewrites are tried together.
func (s *State) better(rewrite, other Candidate) (Candidate, bool) {
	switch {
	case rewrite.missing():
		return other, !other.missing()
	case other.missing():
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

// waiting are the candidates that have had no trial yet, best first, of those
// that blind the sensors or of the others.
func (s *State) waiting(blind bool) []Candidate {
	return slices.DeleteFunc(s.rankedNow(), func(c Candidate) bool {
		tried, _ := s.HasTried(c)
		return tried || c.Nature.Blinds != blind || s.isTrifle(c)
	})
}

// rewritesWait reports whether a rewrite of source waits for its trial that is not
// planned from all of the source.
func (s *State) rewritesWait(cs []Candidate) bool {
	return slices.ContainsFunc(cs, func(c Candidate) bool {
		tried, _ := s.HasTried(c)
		return !tried && c.Nature.Rewrites && !c.Nature.Apart && !c.knob() && !s.isTrifle(c)
	})
}

// waitsForRewrites reports whether a candidate waits while rewrites of source wait for
// their trial: they would invalidate the plan of a change that is planned from all of the
// source. A knob waits only until the first of them: what admits more work gains only where
// work has become cheaper.
func (s *State) waitsForRewrites(c Candidate) bool {
	return c.Nature.Apart || c.knob() && !slices.ContainsFunc(s.Ledger.Attempts, func(a Attempt) bool { return a.Skipped == "" && a.rewritesSource() })
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
		return task{parts, float64(factorialRuns(len(parts))) + s.constant(AfterScreen)}
	}
	return s.trialOf(c, s.unscreened(c))
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
