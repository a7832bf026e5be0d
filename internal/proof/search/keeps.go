package search

import (
	"cmp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// A Keep is one kept change, alone or of a bundle, that a check at the end measures.
type Keep struct {
	Attempt int                `json:"attempt"` // index in Ledger.Attempts
	Changes []iikanji.ChangeID `json:"changes"`
	Part    iikanji.ChangeID   `json:"part,omitempty"` // the change of a part of a bundle; 0 for the whole attempt
}

// keeps are the kept changes, those with a weak proof first. Each change of a
// bundle that was not proven alone is one of them.
func (s *State) keeps() []Keep {
	var all []Keep
	l := s.Ledger
	for i := range l.Attempts {
		a := &l.Attempts[i]
		inForce := l.InForceOf(a)
		if a.Verdict.Call != iikanji.Keep || a.Dropped || len(inForce) == 0 {
			continue
		}
		if !a.HasSeveral() {
			all = append(all, Keep{Attempt: i, Changes: inForce})
			continue
		}
		for _, id := range a.Changes {
			if slices.Contains(inForce, id) {
				all = append(all, Keep{i, []iikanji.ChangeID{id}, id})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Keep) int {
		if wx, wy := s.isWeak(x), s.isWeak(y); wx != wy {
			return cmp.Compare(bit(wy), bit(wx))
		}
		return cmp.Compare(l.Attempts[x.Attempt].Verdict.Effect.Lo, l.Attempts[y.Attempt].Verdict.Effect.Lo)
	})
	return all
}

// KeptChanges is how many kept changes there are, each of a bundle by itself.
func (s *State) KeptChanges() int { return len(s.keeps()) }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isWeak reports whether the proof of a kept change must be repeated.
func (s *State) isWeak(k Keep) bool {
	a := &s.Ledger.Attempts[k.Attempt]
	if k.Part == 0 {
		return s.hasWeakProof(a)
	}
	p := a.PartOf(k.Part)
	return p == nil || p.Alone == nil
}

// hasWeakProof reports whether an attempt's proof must be repeated.
func (s *State) hasWeakProof(a *Attempt) bool {
	return !a.HasSeveral() && a.Verdict.Reason == iikanji.Proven && a.Verdict.P > s.constant(ProofLevel) && (a.Again == nil || a.Again.Call != iikanji.Keep)
}

// keptForCost are the changes in force that were kept for the work that they save.
func (s *State) keptForCost() []Keep {
	return slices.DeleteFunc(s.keeps(), func(k Keep) bool { return s.Ledger.Attempts[k.Attempt].Verdict.Reason != iikanji.Cheaper })
}

// Proofs are how the changes in force are proven.
type Proofs struct {
	Alone    int `json:"alone"`              // each by itself
	Unproven int `json:"unproven,omitempty"` // kept together with others, or by a proof that is weak
	Neutral  int `json:"neutral,omitempty"`  // kept without a gain: they make the site simpler or its requests cheaper
	// Time is what would decide on the unproven ones.
	Time time.Duration `json:"time_ns,omitempty"`
}

// Proofs are how the changes in force are proven.
func (s *State) Proofs() Proofs {
	var p Proofs
	for _, k := range s.keeps() {
		switch a := &s.Ledger.Attempts[k.Attempt]; {
		case s.isWeak(k):
			p.Unproven++
		case !a.HasSeveral() && a.Verdict.Reason != iikanji.Proven:
			p.Neutral++
		default:
			p.Alone++
		}
	}
	p.Time = time.Duration(s.debtRuns()) * s.Cost
	return p
}
