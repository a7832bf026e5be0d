package search

import (
	"slices"

	"github.com/iikanji/iikanji"
)

// A change may be worth nothing without another one: a program that each login runs empties
// the query cache, and to replace the program alone saves little. Measured on a photo site,
// one run each: 36,164 requests as it was, 34,643 with the cache, 49,529 with both.

// helpers are the findings without whose remedy the one of a finding may show no effect.
func helpers(of iikanji.Code) []iikanji.Code {
	if of == "APP207" {
		return []iikanji.Code{"APP209"}
	}
	return nil
}

// needing are a candidate and those that it may need, where each had a trial alone without a
// gain; nil if there are none such. Those that it needs come first: it is planned from the
// source that they leave.
func (s *State) needing() []Candidate {
	for _, c := range s.Candidates {
		if len(helpers(c.Code)) == 0 || !s.wasVain(c) {
			continue
		}
		var parts []Candidate
		for _, o := range s.Candidates {
			if o.Remedy.Target == c.Remedy.Target && slices.Contains(helpers(c.Code), o.Code) && s.wasVain(o) {
				parts = append(parts, o)
			}
		}
		if len(parts) > 0 {
			return append(parts, c)
		}
	}
	return nil
}

// wasVain reports whether the last trial of a candidate, alone, showed no gain.
func (s *State) wasVain(c Candidate) bool {
	for _, a := range slices.Backward(s.Ledger.Attempts) {
		if a.Key == c.Key() {
			return a.Parked || a.Verdict.Call == iikanji.Revert && a.Verdict.Reason == iikanji.NoGain
		}
	}
	return false
}
