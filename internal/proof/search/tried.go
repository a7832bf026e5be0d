package search

import (
	"fmt"
	"slices"
)

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
	if c.Code == "" || c.Traits.Blinds || c.knob() {
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
	return s.bounded() && !c.Traits.Blinds && c.Chance*c.Gain < s.constant(Trifle)
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
// the comparison of answers and two pairs, of a placement, for its preparation and two
// pairs. In a scarce search runs are long, and a comparison takes less than one.
func (s *State) hasTimeFor(c Candidate) bool {
	if c.Traits.Prepared {
		return s.runsLeft() >= s.constant(PrepareRuns)+s.leastTrial()
	}
	least := s.constant(AnswerRuns) + s.leastTrial()
	if s.Scarce() {
		least = 1 + s.leastTrial()
	}
	return !c.Traits.Rewrites || s.runsLeft() >= least
}

// preparedEnough reports whether a candidate would be prepared, and this history has prepared
// as many as it may.
func (s *State) preparedEnough(c Candidate) bool {
	if !c.Traits.Prepared {
		return false
	}
	n := 0
	for i := range s.Ledger.Attempts {
		if a := &s.Ledger.Attempts[i]; a.Candidate.Traits.Prepared && a.Skipped == "" {
			n++
		}
	}
	return n >= s.count(MostPrepared)
}

// waiting are the candidates that have had no trial yet, best first, of those
// that blind the sensors or of the others.
func (s *State) waiting(blind bool) []Candidate {
	return slices.DeleteFunc(s.rankedNow(), func(c Candidate) bool {
		tried, _ := s.HasTried(c)
		return tried || c.Traits.Blinds != blind || s.isTrifle(c) || s.preparedEnough(c)
	})
}

// rewritesWait reports whether a rewrite of source waits for its trial that is not
// planned from all of the source.
func (s *State) rewritesWait(cs []Candidate) bool {
	return slices.ContainsFunc(cs, func(c Candidate) bool {
		tried, _ := s.HasTried(c)
		return !tried && c.Traits.Rewrites && !c.Traits.Apart && !c.knob() && !s.isTrifle(c)
	})
}

// waitsForRewrites reports whether a candidate waits while rewrites of source wait for
// their trial: they would invalidate the plan of a change that is planned from all of the
// source. One that promises more than any other candidate does not wait: short searches would
// never try it. A statement that is not in its plan is safe, see rewrite/sqlcache. A knob waits
// only until the first of them: what admits more work gains only where work has become cheaper.
func (s *State) waitsForRewrites(c Candidate) bool {
	return c.Traits.Apart && !s.promisesMost(c) || c.knob() && !slices.ContainsFunc(s.Ledger.Attempts, func(a Attempt) bool { return a.Skipped == "" && a.rewritesSource() })
}

// promisesMost reports whether no candidate that waits for its trial promises more.
func (s *State) promisesMost(c Candidate) bool {
	return s.bounded() && !slices.ContainsFunc(s.waiting(false), func(o Candidate) bool { return o.Key() != c.Key() && o.promise() >= c.promise() })
}

// whyNoneLeft says why nothing is left to try: rewrites of source for whose trial, with the
// build and the comparison of answers, the rest of the time is too short, or no candidates.
func (s *State) whyNoneLeft() string {
	late := slices.DeleteFunc(s.waiting(false), s.hasTimeFor)
	switch len(late) {
	case 0:
		return "no candidates are left"
	case 1:
		return "the rest of the time is too short for the last candidate: " + late[0].Remedy.Says
	}
	return fmt.Sprintf("the rest of the time is too short for the %d candidates that are left, the first: %s", len(late), late[0].Remedy.Says)
}
