package search

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// An Earlier is what the trials of a candidate so far mean for another one.
type Earlier struct {
	// Tests is how many trials have ended: each new trial of the same candidate has half the
	// error of the one before.
	Tests int
	// Closed: the fast lane has failed for it.
	Closed bool
	// Base and Tried are the pairs with which the trial goes on. The pairs of a candidate that
	// promises more since do not count: they are against another incumbent.
	Base, Tried []iikanji.RunID
}

// Earlier is what the trials of a candidate so far mean for another one.
func (s *State) Earlier(c Candidate, key string) Earlier {
	var e Earlier
	var last *Attempt
	anew := false // the pairs of the last trial do not count
	for i := range s.Ledger.Attempts {
		a := &s.Ledger.Attempts[i]
		if a.Key != key || a.Skipped != "" {
			continue
		}
		e.Closed = e.Closed || a.Fast && a.Verdict.Call != iikanji.Keep
		if last != nil && last.Deferred && !a.continues(last) {
			e.Tests++
		}
		if last, anew = a, s.Regains(c, i); !a.Deferred {
			e.Tests++
		}
	}
	if anew && last.Deferred {
		e.Tests++
	}
	if last != nil && !anew && last.Deferred && !last.Fast {
		e.Base, e.Tried = slices.Clone(last.Verdict.Base), slices.Clone(last.Verdict.Tried)
	}
	return e
}

// Share is the share of a trial's error that another trial of the same candidate has: half of
// that of the one before, so that all together have less than twice the error of one.
func (e Earlier) Share() float64 {
	return math.Ldexp(1, -e.Tests)
}
