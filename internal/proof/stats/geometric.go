package stats

import "math"

// GeometricMean is the mean of ratios: each value counts by its factor to the others. All
// values are above 0; without values the result is 0.
func GeometricMean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(x)))
}
