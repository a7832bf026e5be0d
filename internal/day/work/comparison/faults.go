package comparison

import (
	"cmp"
	"slices"

	"github.com/iikanji/iikanji"
)

// A FaultChange is a kind of fault that the runs of two states have in different numbers.
type FaultChange struct {
	Message string  `json:"message"`
	Fatal   bool    `json:"fatal,omitempty"`
	Kept    float64 `json:"kept"` // per run
	Now     float64 `json:"now"`
}

// Faults compares the faults of runs, which is all that failed runs can be compared by:
// new ones first, then those that became more, fewer, none.
func Faults(kept, now []*iikanji.Run) []FaultChange {
	type sums struct {
		FaultChange
		first int
	}
	all := map[string]*sums{}
	add := func(runs []*iikanji.Run, into func(*sums) *float64) {
		for _, r := range runs {
			for _, f := range r.Faults {
				if f.Kind == iikanji.FaultCut {
					continue
				}
				key := f.Kind.String() + "\x00" + f.Step + "\x00" + f.Check
				if f.Step == "" && f.Check == "" {
					key += "\x00" + f.Message
				}
				s := all[key]
				if s == nil {
					s = &sums{FaultChange: FaultChange{Message: f.Message}, first: len(all)}
					all[key] = s
				}
				s.Fatal = s.Fatal || f.Fatal
				*into(s) += float64(f.Count) / float64(len(runs))
			}
		}
	}
	add(now, func(s *sums) *float64 { return &s.Now })
	add(kept, func(s *sums) *float64 { return &s.Kept })
	var out []*sums
	for _, s := range all {
		if s.Now != s.Kept {
			out = append(out, s)
		}
	}
	rank := func(s *sums) int {
		switch {
		case s.Kept == 0:
			return 0
		case s.Now > s.Kept:
			return 1
		case s.Now > 0:
			return 2
		}
		return 3
	}
	slices.SortFunc(out, func(a, b *sums) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Now, a.Now), cmp.Compare(a.first, b.first))
	})
	changes := make([]FaultChange, len(out))
	for i, s := range out {
		changes[i] = s.FaultChange
	}
	return changes
}
