package stats

// Shrink corrects an effect that was kept because it was large (the winner's
// curse): d·τ²/(τ² + se²), the posterior mean of an effect from N(0, τ²) (James
// and Stein 1961; Gelman and Carlin 2014). tau2 is τ², se2 the squared standard
// error of d. With se2 0 it is d.
func Shrink(d, tau2, se2 float64) float64 {
	if se2 == 0 {
		return d
	}
	return d * tau2 / (tau2 + se2)
}
