package stats

import "math"

// PairsNeeded is the number of pairs that detect an effect of size delta with
// the given power at a one-sided level alpha: n ≈ (z(1−α)+z(power))²·σ_d²/δ²,
// which is 6.2·σ_d²/δ² for 5 % and 80 %. sdDiff is σ_d, the standard deviation
// of one paired difference. The result is at least 2, and +Inf for delta 0.
//
// It is the normal approximation for one fixed look, good enough to schedule
// trials; no verdict depends on it.
func PairsNeeded(sdDiff, delta, alpha, power float64) float64 {
	if delta == 0 {
		return math.Inf(1)
	}
	z := NormalQuantile(1-alpha) + NormalQuantile(power)
	return max(2, math.Ceil(z*z*sdDiff*sdDiff/(delta*delta)))
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
