package stats

import "math"

// An EWMA is a control chart that notices a lasting shift of a series
// (Roberts 1959, Technometrics 1): z_t = λ·x_t + (1−λ)·z_{t−1}, with z_0 the
// centre; alarm where z leaves ±L·σ·√(λ/(2−λ)).
type EWMA struct {
	Center float64
	Sigma  float64 // of one value
	// Known is the number of values that Center is the mean of; its own
	// error σ/√m then widens the limits, or four values would alarm at every
	// second series. 0 means that Center is exact.
	Known  int
	Lambda float64 // 0.2
	L      float64 // 2.7
}

// Chart is the EWMA of method.md: λ = 0.2, L = 2.7, around the mean of in-control values.
func Chart(inControl []float64, sigma float64) EWMA {
	return EWMA{Center: Mean(inControl), Sigma: sigma, Known: len(inControl), Lambda: 0.2, L: 2.7}
}

// Limit is how far z may be from Center.
func (c EWMA) Limit() float64 {
	v := c.Lambda / (2 - c.Lambda)
	if c.Known > 0 {
		v += 1 / float64(c.Known)
	}
	return c.L * c.Sigma * math.Sqrt(v)
}

// Alarm is the index of the first value of x at which z leaves the limits, or -1.
func (c EWMA) Alarm(x []float64) int {
	z, limit := c.Center, c.Limit()
	for i, v := range x {
		z = c.Lambda*v + (1-c.Lambda)*z
		if math.Abs(z-c.Center) > limit {
			return i
		}
	}
	return -1
}
