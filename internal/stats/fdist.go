package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// FCDF is P(F ≤ x) of the F distribution with d1 and d2 degrees of freedom
// (Abramowitz and Stegun 1964, 26.6.2).
func FCDF(x, d1, d2 float64) float64 {
	switch {
	case math.IsNaN(x) || !(d1 > 0) || !(d2 > 0):
		return math.NaN()
	case x <= 0:
		return 0
	case math.IsInf(x, 1):
		return 1
	}
	return mathext.RegIncBeta(d1/2, d2/2, d1*x/(d1*x+d2))
}
