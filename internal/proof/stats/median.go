package stats

import (
	"math"
	"slices"
)

// Median is the middle value, or the mean of the two middle ones; NaN for no
// values.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	y := slices.Sorted(slices.Values(x))
	n := len(y)
	return (y[(n-1)/2] + y[n/2]) / 2
}
