package search

import (
	"math"
	"slices"
	"time"
)

// undecided are the candidates whose last trial was parked with a gain, in the order in
// which they were tried. Changes that unblock one another show an effect only together.
func (s *State) undecided() []Candidate {
	var parts []Candidate
	seen := map[string]bool{}
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if seen[a.Key] || a.IsBundle() {
			continue
		}
		seen[a.Key] = true
		if a.Parked && a.Verdict.Effect.Mid > 0 && !a.Candidate.Traits.Blinds && !a.Candidate.Traits.Prepared {
			parts = append(parts, a.Candidate)
		}
	}
	slices.Reverse(parts)
	return parts
}

// isNewBundle reports whether candidates are a bundle that had no trial.
func (s *State) isNewBundle(parts []Candidate) bool {
	if len(parts) < 2 {
		return false
	}
	tried, _ := s.HasTried(Together(parts, ""))
	return !tried
}

// handful is a candidate with the others to try in one bundle, best first, in a
// search with a bounded time; nil means to try it alone. The bundle has
// candidates whose expected gain takes more than two pairs to prove or, if there
// is no time for a trial of each, candidates whose expected gain is below
// middling. It has one remedy of each finding, and none of a proposer.
func (s *State) handful(first Candidate, most int) []Candidate {
	if !s.bounded() && most <= s.count(MostParts) || first.Traits.Prepared {
		return nil
	}
	waiting := s.waiting(first.Traits.Blinds)
	tight := s.bounded() && time.Duration(s.count(LeastTrial)*len(waiting))*s.Cost > s.TimeFor()
	small := func(c Candidate) bool {
		if most > s.count(MostParts) {
			return !c.Proposed && c.Gain < s.constant(Large)
		}
		return !c.Proposed && (s.runsFor(c.Gain) > 2*s.constant(FewestPairs) || tight && c.Gain < s.constant(Middling) || c.Traits.Blinds)
	}
	if first.Traits.Rewrites {
		return s.allRewrites(first)
	}
	if !small(first) {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range waiting {
		same := func(o Candidate) bool { return o.Cause() == c.Cause() }
		if len(parts) < most && small(c) && !c.Traits.Rewrites && !c.Traits.Prepared && !slices.ContainsFunc(parts, same) {
			parts = append(parts, c)
		}
	}
	return parts
}

// allRewrites are a rewrite of source with all others that wait for a trial: one
// comparison of answers and one build serve all. A knob is tried alone, and so is
// what a proposer wrote.
func (s *State) allRewrites(first Candidate) []Candidate {
	alone := func(c Candidate) bool { return !c.Traits.Rewrites || c.alone() }
	if alone(first) {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range s.waiting(first.Traits.Blinds) {
		covered := func(o Candidate) bool { return o.Cause() == c.Cause() || o.hasFixesOf(c) }
		if len(parts) < s.count(MostRewrites) && !alone(c) && !slices.ContainsFunc(parts, covered) {
			parts = append(parts, c)
		}
	}
	return parts
}

// screened is what a design under the present limit found of a candidate with a key.
func (s *State) screened(key string) (PartEffect, bool) {
	if s.Screened.Binding != s.Binding {
		return PartEffect{}, false
	}
	found, ok := s.Screened.Found[key]
	return found, ok
}

// wasScreened reports whether a design had a candidate, also one that could not be finished.
func (s *State) wasScreened(key string) bool {
	_, known := s.screened(key)
	return known || s.Screened.Broken[key]
}

// factors are the candidates of a design with first, best first; nil if they are too few, or
// if there is no time for one.
func (s *State) factors(first Candidate) []Candidate {
	if s.wasScreened(first.Key()) || s.Ledger.Open != nil || s.Cost <= 0 {
		return nil
	}
	if first.Traits.Rewrites && !s.Scarce() { // each run would build the app anew, which takes as long as a short run
		return nil
	}
	if s.Scarce() && s.toConfirm() > float64(s.Incumbent) { // nothing before it could confirm what it keeps
		return nil
	}
	parts := slices.DeleteFunc(s.several(first), func(c Candidate) bool { return s.wasScreened(c.Key()) })
	if len(parts) < s.count(LeastFactors) || s.designRuns(parts) < s.count(FewestRows) {
		return nil
	}
	return parts
}

// several are a candidate and others that a design has: in a scarce search all that promise
// something, and else those that take long to prove.
func (s *State) several(first Candidate) []Candidate {
	if !s.Scarce() {
		return s.handful(first, s.count(MostFactors))
	}
	alone := func(c Candidate) bool { return c.Traits.Blinds || c.alone() }
	if alone(first) {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range s.waiting(false) {
		covered := func(o Candidate) bool { return o.Cause() == c.Cause() || o.hasFixesOf(c) }
		if len(parts) < s.count(MostFactors) && !alone(c) && c.promise() >= s.constant(LeastSwept) && !slices.ContainsFunc(parts, covered) {
			parts = append(parts, c)
		}
	}
	return parts
}

// designRuns is how many runs a design of some parts may have. In a scarce search it has the
// rest of the time but what confirms it. While a candidate that it does not have promises more than each of them, it
// has a third at most.
func (s *State) designRuns(parts []Candidate) int {
	most := min(s.count(RowsPerPart)*len(parts), s.count(MostRows))
	left := s.runsLeft()
	if math.IsInf(left, 1) {
		return most
	}
	share := s.constant(ScreenShare)
	if s.Scarce() { // what it keeps is confirmed at once
		share, left = 1, max(0, left-s.toConfirm())
	}
	if s.otherPromisesMore(parts) {
		share = min(share, s.constant(OthersShare))
	}
	return min(most, int(share*left))
}

// otherPromisesMore reports whether a candidate that waits promises more than each of some.
func (s *State) otherPromisesMore(parts []Candidate) bool {
	most := 0.0
	for _, p := range parts {
		most = max(most, p.promise())
	}
	return slices.ContainsFunc(s.waiting(false), func(c Candidate) bool {
		is := func(p Candidate) bool { return p.Key() == c.Key() || p.Cause() == c.Cause() }
		return c.promise() > most && s.hasTimeFor(c) && !slices.ContainsFunc(parts, is)
	})
}

// unscreened is the handful to try together where the time does not suffice for a
// design; nil if the candidate was in one: it is tried alone.
func (s *State) unscreened(first Candidate) []Candidate {
	if _, known := s.screened(first.Key()); known {
		return nil
	}
	return slices.DeleteFunc(s.handful(first, s.count(MostParts)), func(c Candidate) bool {
		_, known := s.screened(c.Key())
		return known
	})
}

// favoured are the parts that a design favours. Their sum needs few pairs, and pairs decide.
func (s *State) favoured(parts []Candidate) []Candidate {
	return slices.DeleteFunc(slices.Clone(parts), func(c Candidate) bool { return !s.isFavoured(c.Key()) })
}

// ScreenedGain is the probability that a candidate has a gain, by a design under the present
// limit; 0 if there was none.
func (s *State) ScreenedGain(key string) float64 {
	found, _ := s.screened(key)
	return found.Gain
}

// isFavoured reports whether a design under the present limit favours a candidate.
func (s *State) isFavoured(key string) bool {
	found, ok := s.screened(key)
	return ok && !found.Off && found.Gain >= s.constant(Favours) && found.Mean >= s.constant(Considerable)
}

// shareUp is a share of a number, rounded up.
func shareUp(n int, share float64) int { return int(math.Ceil(share*float64(n) - 1e-9)) }
