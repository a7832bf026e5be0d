package stats

import "math"

// An EWMA is a control chart (exponentially weighted moving average) that
// detects a lasting shift of a series (Roberts 1959, Technometrics 1):
// z_t = λ·x_t + (1−λ)·z_{t−1}, with z_0 the centre. It alarms when z is more
// than L·σ·√(λ/(2−λ)) from the centre.
type EWMA struct {
	Center float64
	Sigma  float64 // of one value
	// Known is m, the number of values that Center is the mean of. The standard
	// error σ/√m of that mean widens the limits: without it, a centre from four
	// values alarms at every second series. 0 means that Center is exact.
	Known  int
	Lambda float64 // 0.2
	L      float64 // 2.7
}

// Chart returns the EWMA of docs/method.md (λ = 0.2, L = 2.7) around the mean
// of in-control values. sigma is the standard deviation of one value.
func Chart(inControl []float64, sigma float64) EWMA {
	return EWMA{Center: Mean(inControl), Sigma: sigma, Known: len(inControl), Lambda: 0.2, L: 2.7}
}

// Limit is the largest distance of z from Center without an alarm.
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
