package stats

// Shrink takes the winner's curse off an effect that was kept because it was
// large: d̂ = d·τ²/(τ² + se²), the posterior mean under effects ~ N(0, τ²)
// (James and Stein 1961; Gelman and Carlin 2014). With tau2 and se2 0 it is d.
func Shrink(d, tau2, se2 float64) float64 {
	if se2 == 0 {
		return d
	}
	return d * tau2 / (tau2 + se2)
}

// EffectVariance is τ² from past effects and their squared standard errors,
// by moments: mean(d²) − mean(se²), not below 0 (DerSimonian and Laird 1986,
// around a mean of 0). ok is false for fewer than five effects.
func EffectVariance(effects, se2 []float64) (tau2 float64, ok bool) {
	if len(effects) != len(se2) {
		panic("BUG: effects of unequal length")
	}
	if len(effects) < 5 {
		return 0, false
	}
	sum := 0.0
	for i, d := range effects {
		sum += d*d - se2[i]
	}
	return max(0, sum/float64(len(effects))), true
}
