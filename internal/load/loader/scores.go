package loader

import (
	"fmt"
	"math"
	"slices"
)

// Limits of what counts as a step or a cap.
const (
	leastScores = 5    // fewer scores prove neither
	leastStep   = 0.02 // of the score: a smaller step does not hide an effect that matters
	sameScore   = 1e-3 // of the score: scores closer than that are the same
)

// Steps returns the size of the steps in which scores move, as a share of their
// median; 0 if they move freely. Scores move in steps if all differences are
// multiples of one amount that is larger than leastStep.
func Steps(scores []float64) float64 {
	distinct := distinctOf(scores)
	if len(scores) < leastScores || len(distinct) < 2 {
		return 0
	}
	middle := distinct[len(distinct)/2]
	if middle <= 0 {
		return 0
	}
	step := 0.0
	for i := 1; i < len(distinct); i++ {
		step = divisor(step, distinct[i]-distinct[i-1], sameScore*middle)
	}
	if step < leastStep*middle {
		return 0
	}
	return step / middle
}

// divisor is the greatest common divisor of two amounts, within a tolerance.
func divisor(a, b, tolerance float64) float64 {
	for b > tolerance {
		rest := math.Mod(a, b)
		if b-rest < tolerance {
			rest = 0
		}
		a, b = b, rest
	}
	return a
}

// distinctOf are the scores in order, without repetitions.
func distinctOf(scores []float64) []float64 {
	out := slices.Sorted(slices.Values(scores))
	return slices.CompactFunc(out, func(a, b float64) bool { return math.Abs(a-b) <= sameScore*math.Max(math.Abs(a), math.Abs(b)) })
}

// Capped reports whether the highest score is a cap: at least half of the scores,
// and leastScores-1 of them, are equal to it.
func Capped(scores []float64) bool {
	if len(scores) < leastScores {
		return false
	}
	top, n := slices.Max(scores), 0
	for _, s := range scores {
		if top-s <= sameScore*math.Abs(top) {
			n++
		}
	}
	return top > 0 && n >= leastScores-1 && 2*n >= len(scores)
}

// doubts are warnings about the scores of several runs, oldest first.
func doubts(scores []float64) []string {
	var out []string
	if n := len(scores); n > 0 && scores[n-1] <= 0 {
		out = append(out, fmt.Sprintf("the score is %g: scores are compared by their ratio, so that tune needs one above 0. Give score below [bench] a number that such a run has too, as its number of answers", scores[n-1]))
	}
	if step := Steps(scores); step > 0 {
		out = append(out, fmt.Sprintf("scores move in steps of %.0f %%: smaller effects cannot be seen", 100*step))
	}
	if Capped(scores) {
		out = append(out, fmt.Sprintf("%g is the score of most runs and of no run more: the benchmarker may have a cap, and a faster site the same score", slices.Max(scores)))
	}
	return out
}
