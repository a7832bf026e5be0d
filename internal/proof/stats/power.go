package stats

import "math"

// PairsNeeded is the number of pairs that detect an effect of size delta with the
// given power at a one-sided level alpha: the least n with
// n ≥ (t(1−α)+t(power))²·σ_d²/δ². sdDiff is σ_d, the standard deviation of one
// paired difference. t has priorDF + 2(n−1) degrees of freedom, those of the noise
// after n pairs; with priorDF +Inf the formula is 6.2·σ_d²/δ² for 5 % and 80 %. The
// result is at least 2, and +Inf for delta 0.
//
// It is for one fixed look, good enough to schedule trials; no verdict depends on
// it.
func PairsNeeded(sdDiff, delta, alpha, power, priorDF float64) float64 {
	if delta == 0 {
		return math.Inf(1)
	}
	const tried = 100 // from there on t is normal
	for n := 2.0; n < tried; n++ {
		df := priorDF + 2*(n-1)
		if t := StudentQuantile(1-alpha, df) + StudentQuantile(power, df); n >= t*t*sdDiff*sdDiff/(delta*delta) {
			return n
		}
	}
	z := NormalQuantile(1-alpha) + NormalQuantile(power)
	return max(tried, math.Ceil(z*z*sdDiff*sdDiff/(delta*delta)))
}

// FailureBound is the upper confidence bound, at confidence 1−alpha, of the
// probability that a run fails, after n runs without a failure: 1 − alpha^(1/n).
// It is 0.63 for 3 runs at 95 %, and 1 for no run.
func FailureBound(n int, alpha float64) float64 {
	if n <= 0 {
		return 1
	}
	return 1 - math.Pow(alpha, 1/float64(n))
}
