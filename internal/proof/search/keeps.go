package search

import (
	"cmp"
	"slices"

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
