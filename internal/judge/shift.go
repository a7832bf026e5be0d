package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/stats"
)

// ShiftRuns is how many runs of the incumbent the control chart needs.
const ShiftRuns = 4

// shifted is why the incumbent differs from before the trial, or "": a control
// chart of its runs has left its limits, so the environment of the site has
// changed. The last pair is then void and A/A pairs are due; the caller
// marks the pair and puts the new A/A runs in Case.Before.
//
// Only runs after those of Before are charted: pairs that were judged against
// an earlier Before have passed already.
func (j Judge) shifted(c Case, s sifted) string {
	before := LogScores(c.Before)
	series := s.a[s.old:]
	if len(before) < ShiftRuns || j.Prior.DF <= 0 || len(series) == 0 {
		return ""
	}
	// One run has half the variance of a difference of two.
	chart := stats.Chart(before, j.Prior.SD()/math.Sqrt2)
	if chart.Alarm(series) < 0 {
		return ""
	}
	last := series[max(0, len(series)-3):]
	return fmt.Sprintf("the incumbent itself has moved by %s since it was calibrated: the environment has shifted, "+
		"so the last pair does not count; calibrate again", percent(stats.Mean(last)-stats.Mean(before)))
}

// LogScores is ln(score) of the clean runs with a positive score.
func LogScores(runs []*iikanji.Run) []float64 {
	var y []float64
	for _, r := range runs {
		if r.Clean() && r.Score > 0 {
			y = append(y, math.Log(r.Score))
		}
	}
	return y
}

// Noise is the prior from A/A pairs and from the pairs of past trials, each
// around its own mean. Unusable pairs are left out.
func Noise(trials ...[]Pair) stats.Prior {
	series := make([][]float64, len(trials))
	for i, pairs := range trials {
		series[i] = sift(Case{Pairs: pairs}).diffs
	}
	return stats.NoisePrior(series...)
}

// PairRuns makes A/A pairs of consecutive runs of one unchanged state.
func PairRuns(runs []*iikanji.Run) []Pair {
	var pairs []Pair
	for two := range slices.Chunk(runs, 2) {
		if len(two) == 2 {
			pairs = append(pairs, Pair{A: two[0], B: two[1]})
		}
	}
	return pairs
}
