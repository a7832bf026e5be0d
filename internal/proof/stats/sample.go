package stats

import "math"

// Mean is Σx/n; NaN for no values.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// SumSquares is Σ(x−x̄)²; 0 for fewer than two values. It takes two passes,
// because the one-pass formula loses all digits when the spread is small
// compared with the mean.
func SumSquares(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean, ss := Mean(x), 0.0
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	return ss
}

// variance is the unbiased Σ(x−x̄)²/(n−1); 0 for fewer than two values.
func variance(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	return SumSquares(x) / float64(len(x)-1)
}

// SD is the square root of variance.
func SD(x []float64) float64 { return math.Sqrt(variance(x)) }

// Spread is the range max−min; 0 for no values.
func Spread(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	lo, hi := x[0], x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	return hi - lo
}

// Percent converts a difference of natural logarithms to percent: 100·(eᵈ−1).
func Percent(d float64) float64 { return 100 * math.Expm1(d) }
