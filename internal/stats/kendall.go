package stats

import "math"

// Kendall is the rank correlation τ_b of two series (Kendall 1945, Biometrika
// 33): concordant minus discordant pairs, divided by the geometric mean of the
// pairs that are not tied in x and in y. 1 is the same order, −1 the opposite;
// NaN when all values of one side are tied. It panics when the lengths differ.
func Kendall(x, y []float64) float64 {
	if len(x) != len(y) {
		panic("BUG: ranks of unequal length")
	}
	var agree, notX, notY float64
	for i := range x {
		for j := range i {
			sx, sy := sign(x[i]-x[j]), sign(y[i]-y[j])
			agree += sx * sy
			notX += sx * sx
			notY += sy * sy
		}
	}
	return agree / math.Sqrt(notX*notY)
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
