package summary

import (
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// meanScore is the geometric mean of the scores of valid runs; 0 for none.
func meanScore(s *Summary, ids []iikanji.RunID) float64 {
	var scores []float64
	for _, id := range ids {
		if r, ok := s.RunOf(id); ok && r.Clean && r.Score > 0 {
			scores = append(scores, r.Score)
		}
	}
	return stats.GeometricMean(scores)
}

// headline reads the last comparison from the record of the latest search that
// made one, or derives it from the journal.
func (l *loader) headline() error {
	for _, s := range l.rec.Searches {
		l.s.Searches = append(l.s.Searches, Search{Began: s.Began, Took: s.Took, Runs: s.Runs, Voided: s.Voided, Noise: s.Noise,
			Rehearsal: s.Rehearsal, Notes: s.Notes, Partial: s.Partial, Options: s.Options})
	}
	for _, s := range slices.Backward(l.rec.Searches) {
		if len(s.Final) > 0 {
			l.s.Headline = &Headline{Ratio: s.Ratio, Scores: s.Scores, Pairs: len(s.Final), Load: s.Full, Work: s.Work, Untouched: s.Untouched, Final: s.Final}
			break
		}
	}
	if l.s.Headline == nil {
		l.s.Headline = l.derived()
	}
	if h := l.s.Headline; h != nil {
		l.placeAgain(h.Untouched, PartUntouched)
		l.placeAgain(h.Final, PartFinal)
	}
	return nil
}

// placeAgain gives runs a part, whatever part they have.
func (l *loader) placeAgain(ids []iikanji.RunID, part Part) {
	for _, id := range ids {
		if r, ok := l.s.RunOf(id); ok {
			r.Part, r.Trial = part, 0
		}
	}
}

// SameLoad reports whether two loads differ by less than a tenth.
func SameLoad(a, b time.Duration) bool {
	return math.Abs(float64(a-b)) < 0.1*float64(max(a, b))
}

// derived finds the pairs of the last comparison in the journal: the last runs of
// one length, each with no change or with all changes in force, one after another.
// It serves histories without a record of the search. nil if there are none.
func (l *loader) derived() *Headline {
	all := slices.Clone(l.rec.InForce)
	slices.Sort(all)
	if len(all) == 0 {
		return nil
	}
	var last []*Run
	for i := len(l.s.Runs) - 1; i >= 0; i-- {
		r := &l.s.Runs[i]
		if !r.Clean || r.Part == PartObserved {
			continue
		}
		if len(r.With) > 0 && !slices.Equal(r.With, all) || len(last) > 0 && !SameLoad(r.Load, last[0].Load) {
			break
		}
		last = append(last, r)
	}
	slices.Reverse(last)
	h := &Headline{Derived: true}
	var pairs []judge.Pair
	for i := 0; i+1 < len(last); {
		a, b := last[i], last[i+1]
		if (len(a.With) == 0) == (len(b.With) == 0) {
			i++
			continue
		}
		if len(a.With) > 0 {
			a, b = b, a
		}
		pairs = append(pairs, judge.Pair{A: l.loaded[a.ID], B: l.loaded[b.ID]})
		h.Untouched, h.Final, h.Load = append(h.Untouched, a.ID), append(h.Final, b.ID), b.Load.Round(time.Second)
		i += 2
	}
	if len(pairs) == 0 {
		return nil
	}
	c := judge.Compare(pairs)
	h.Ratio, h.Scores, h.Pairs, h.Work = c.Ratio, c.Scores, c.Pairs, c.Work
	return h
}
