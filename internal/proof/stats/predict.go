package stats

import "math"

// PredictiveUpper is the upper prediction bound for one more run of the same
// state, from m earlier runs (Hahn and Meeker 1991, section 4.7):
//
//	ȳ + t(level, m−1)·s·√(1 + 1/m)
//
// The next run exceeds it with probability 1−level. +Inf for fewer than two runs.
func PredictiveUpper(y []float64, level float64) float64 {
	m := float64(len(y))
	if m < 2 {
		return math.Inf(1)
	}
	return Mean(y) + StudentQuantile(level, m-1)*SD(y)*math.Sqrt(1+1/m)
}
