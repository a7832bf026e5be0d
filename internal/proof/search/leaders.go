package search

import "slices"

// On an ordinary site few changes promise most of what can be gained at first: the indexes of its slow
// statements. They are tried together before all others where trials one by one would take much of
// the time: after them another limit binds, and only then do other changes show what they are worth.

// leaders are a candidate and others that each promise a large gain, to be tried as one change; nil
// if there is time for each. In a scarce search one alone comes before a design, too.
func (s *State) leaders(first Candidate) []Candidate {
	if !s.bounded() || !s.leads(first) || s.Ledger.Open != nil {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range s.waiting(false) {
		same := func(o Candidate) bool { return o.Cause() == c.Cause() }
		if s.leads(c) && len(parts) < s.count(MostParts) && !slices.ContainsFunc(parts, same) {
			parts = append(parts, c)
		}
	}
	each := s.constant(FastRuns) + s.constant(ObservationRuns)
	if !s.Scarce() && (len(parts) < 2 || float64(len(parts))*each <= s.constant(LeadersShare)*s.runsLeft()) {
		return nil
	}
	return parts
}

// leads reports whether a candidate promises a large gain, and is not tried apart. Rewrites of source
// come after them: they often hang on the same seconds.
func (s *State) leads(c Candidate) bool {
	return c.Gain >= s.constant(Large) && !c.Traits.Rewrites && !c.Traits.Blinds && !c.alone() && !s.Suspects[c.Key()]
}

// leadingRewrites are the rewrites of source that are tried as one change before a design of all
// candidates in a scarce search: together they promise more per run. Where there is no time for a
// design, they come before a sweep if they promise more than all others. nil if they do not.
func (s *State) leadingRewrites(design []Candidate) []Candidate {
	for _, c := range s.waiting(false) {
		parts := s.allRewrites(c)
		if len(parts) < 2 || s.Suspects[c.Key()] || !s.hasTimeFor(c) {
			continue
		}
		if design == nil && s.promiseMost(parts) || design != nil && s.trialOf(c, parts).rate() > s.designOf(design).rate() {
			return parts
		}
		return nil
	}
	return nil
}

// promiseMost reports whether candidates promise more together than all others that wait.
func (s *State) promiseMost(parts []Candidate) bool {
	sum := 0.0
	for _, p := range parts {
		sum += 2 * p.promise()
	}
	for _, c := range s.waiting(false) {
		sum -= c.promise()
	}
	return sum > 0
}
