package stats

import "math"

// PairSD is the standard deviation of one paired difference from that of a
// single run and the correlation within a pair: σ_d = σ·√(2(1−ρ)).
func PairSD(sigma, rho float64) float64 { return sigma * math.Sqrt(2*(1-rho)) }

// PairsNeeded is how many pairs prove an effect of size delta with the given
// power at a one-sided level: n ≈ (z(1−α)+z(power))²·σ_d²/δ², which is
// 6.2·σ_d²/δ² for 5 % and 80 %, and at least 2. It is +Inf for delta 0.
//
// This is the normal approximation of one fixed look: arithmetic for the
// scheduler, not a promise.
func PairsNeeded(sdDiff, delta, alpha, power float64) float64 {
	if delta == 0 {
		return math.Inf(1)
	}
	z := NormalQuantile(1-alpha) + NormalQuantile(power)
	return max(2, math.Ceil(z*z*sdDiff*sdDiff/(delta*delta)))
}

// FailureBound is the upper bound of the probability of a failure that n clean
// runs allow, at confidence 1−alpha: 1 − alpha^(1/n); 0.63 for 3 runs at 95 %.
func FailureBound(n int, alpha float64) float64 {
	if n <= 0 {
		return 1
	}
	return 1 - math.Pow(alpha, 1/float64(n))
}
