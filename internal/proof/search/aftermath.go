package search

import (
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// An Aftermath counts the runs of the site with a kept change, and those right before it was
// kept: a change that makes a part of its own runs void is seen after it was kept, because a
// few runs without one are luck.
type Aftermath struct {
	Attempt int          `json:"attempt"` // index in Ledger.Attempts
	Before  judge.Record `json:"before,omitzero"`
	Since   judge.Record `json:"since,omitzero"`
}

// StillKept leaves out what was counted of changes that are no longer in force.
func (s *State) StillKept() {
	var still []Aftermath
	for _, k := range s.Kept {
		if k.Attempt >= len(s.Ledger.Attempts) || s.isInForce(&s.Ledger.Attempts[k.Attempt]) {
			still = append(still, k)
		}
	}
	s.Kept = still
}

// doubted takes a kept change back whose own runs do not count more often than those before.
// Pairs decide on it anew: the machine may be the cause.
func (s *State) doubted() (Step, bool) {
	for _, k := range s.Kept {
		if k.Attempt >= len(s.Ledger.Attempts) || s.Ledger.Open != nil {
			continue
		}
		a := &s.Ledger.Attempts[k.Attempt]
		why := judge.VoidsSince(k.Since, k.Before, s.Phase == Closing && s.TailLeft() > s.times(LastCall, s.Cost))
		if inForce := s.Ledger.InForceOf(a); why != "" && len(inForce) > 0 {
			return Step{Do: Doubt, Why: why, Keeps: []Keep{{Attempt: k.Attempt, Changes: inForce}}, Plan: s.Plan}, true
		}
	}
	return Step{}, false
}
