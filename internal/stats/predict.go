package stats

import "math"

// PredictiveUpper is the value that one more run of the same thing exceeds
// with probability 1−level only:
//
//	ȳ + t(level, m−1)·s·√(1 + 1/m)
//
// from m earlier runs (Hahn and Meeker 1991, section 4.7). Fewer than two
// runs bound nothing: +Inf.
func PredictiveUpper(y []float64, level float64) float64 {
	m := float64(len(y))
	if m < 2 {
		return math.Inf(1)
	}
	return Mean(y) + StudentQuantile(level, m-1)*SD(y)*math.Sqrt(1+1/m)
}
