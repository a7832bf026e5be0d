package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
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
//
// A move below LeastWorth is none, however small the noise: it is less than what any
// trial is to prove, and pairs are interleaved. Runs of a machine with a limit of CPU
// can agree within 0.1 %, and each step of the score would leave such limits.
func (j Judge) shifted(c Case, s sifted) string {
	before := LogScores(c.Before)
	series := s.a[s.old:]
	if len(before) < ShiftRuns || j.Prior.DF <= 0 || len(series) == 0 {
		return ""
	}
	// One run has half the variance of a difference of two.
	chart := stats.Chart(before, j.Prior.SD()/math.Sqrt2)
	last := series[max(0, len(series)-3):]
	if chart.Alarm(series) < 0 || math.Abs(stats.Mean(last)-stats.Mean(before)) < LeastWorth {
		return ""
	}
	return fmt.Sprintf("the incumbent itself has moved by %s since it was calibrated: the environment has shifted, "+
		"so the last pair does not count; calibrate again", percent(stats.Mean(last)-stats.Mean(before)))
}

// MeanScore is the geometric mean of the scores of the clean runs; 0 for none.
func MeanScore(runs []*iikanji.Run) float64 {
	var scores []float64
	for _, r := range runs {
		if r.Clean() && r.Score > 0 {
			scores = append(scores, r.Score)
		}
	}
	return stats.GeometricMean(scores)
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

// noiseDF is how many degrees of freedom the noise is estimated from: older
// trials are left out, because the machine's noise changes with the hour.
const noiseDF = 24

// Noise is the prior from runs of one unchanged state and from the pairs of past
// trials, each arm around its own mean. The latest trials come last; aa are older.
// Unusable pairs are left out.
func Noise(aa []*iikanji.Run, trials ...[]Pair) stats.Prior {
	var series [][]float64
	df := 0
	for _, pairs := range slices.Backward(trials) {
		if s := sift(Case{Pairs: pairs}); s.n() > 1 && df < noiseDF {
			series = append(series, s.a, s.b)
			df += 2 * (s.n() - 1)
		}
	}
	if df < noiseDF {
		series = append(series, LogScores(aa))
	}
	return stats.RunPrior(series...)
}
