package search

import (
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
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
		if a.Parked && a.Verdict.Effect.Mid > 0 && !a.Candidate.Traits.Blinds {
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
	if !s.bounded() {
		return nil
	}
	waiting := s.waiting(first.Traits.Blinds)
	tight := time.Duration(4*len(waiting))*s.Cost > s.TimeFor()
	small := func(c Candidate) bool {
		if most > s.count(MostParts) {
			return !c.Proposed && c.Gain < s.constant(Large)
		}
		return !c.Proposed && (s.runsFor(c.Gain) > 4 || tight && c.Gain < s.constant(Middling) || c.Traits.Blinds)
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
		if len(parts) < most && small(c) && !c.Traits.Rewrites && !slices.ContainsFunc(parts, same) {
			parts = append(parts, c)
		}
	}
	return parts
}

// allRewrites are a rewrite of source with all others that wait for a trial: one
// comparison of answers and one build serve all. A knob is tried alone, and so is
// what a proposer wrote.
func (s *State) allRewrites(first Candidate) []Candidate {
	alone := func(c Candidate) bool { return !c.Traits.Rewrites || c.knob() || c.Traits.Apart || c.Proposed }
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

// screened is what a screening found of a candidate with a key.
func (s *State) screened(key string) (judge.Screening, bool) {
	if s.Screened.Binding != s.Binding {
		return judge.Screening{}, false
	}
	found, ok := s.Screened.Found[key]
	return found, ok
}

// ProvedByScreening reports whether a screening under the present limit proved a gain of a
// candidate.
func (s *State) ProvedByScreening(key string) bool {
	found, ok := s.screened(key)
	return ok && found.Proven(judge.LeastWorth)
}

// wasScreened reports whether a screening had a candidate, also one that could not be
// finished.
func (s *State) wasScreened(key string) bool {
	_, known := s.screened(key)
	return known || s.Screened.Broken[key]
}

// factors are the candidates to screen together with first, best first, and not
// more than the time allows; nil if they are too few.
func (s *State) factors(first Candidate) []Candidate {
	if first.Traits.Rewrites {
		return nil // each run of a design would build the app anew
	}
	parts := slices.DeleteFunc(s.handful(first, s.count(MostFactors)), func(c Candidate) bool { return s.wasScreened(c.Key()) })
	if s.wasScreened(first.Key()) || s.Ledger.Open != nil {
		return nil
	}
	for len(parts) >= s.count(LeastFactors) {
		n := factorialRuns(len(parts))
		if n > 0 && s.Cost > 0 && s.TimeFor() >= s.Cost*time.Duration(n+s.count(AfterScreen)) &&
			(n <= s.count(ShortScreen) || float64(n) <= s.constant(ScreenShare)*s.runsLeft()) {
			return parts
		}
		parts = parts[:len(parts)-1]
	}
	return nil
}

func factorialRuns(parts int) int { return stats.FactorialRuns(parts) }

// unscreened is the handful to try together where the time does not suffice for a
// screening; nil if the candidate was screened: it is tried alone.
func (s *State) unscreened(first Candidate) []Candidate {
	if _, known := s.screened(first.Key()); known {
		return nil
	}
	return slices.DeleteFunc(s.handful(first, s.count(MostParts)), func(c Candidate) bool {
		_, known := s.screened(c.Key())
		return known
	})
}

// favoured are the parts that a screening favours, without a proof or with one. Each alone
// would need many pairs more, and their sum needs few.
func (s *State) favoured(parts []Candidate) []Candidate {
	var best []Candidate
	for _, p := range parts {
		found, ok := s.screened(p.Key())
		if ok && (found.Proven(judge.LeastWorth) || found.P <= s.constant(Favours) && found.Effect >= s.constant(Considerable)) {
			best = append(best, p)
		}
	}
	return best
}

// shareUp is a share of a number, rounded up.
func shareUp(n int, share float64) int { return int(math.Ceil(share*float64(n) - 1e-9)) }

// ScreenedBy is what a screening under the present limit found of a candidate with a key.
func (s *State) ScreenedBy(key string) (judge.Screening, bool) { return s.screened(key) }
