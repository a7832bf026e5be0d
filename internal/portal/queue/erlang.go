package queue

import (
	"math"
	"time"
)

// ErlangC is the chance that an arriving job waits, with Poisson arrivals, exponential run
// lengths and load a = arrivals × length on c slots (A. K. Erlang, 1917). It is 1 from a ≥ c on.
func ErlangC(c int, a float64) float64 {
	if c <= 0 || a >= float64(c) {
		return 1
	}
	b := 1.0 // Erlang B by its recursion, which does not overflow
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	rho := a / float64(c)
	return b / (1 - rho + rho*b)
}

// Wait is the mean wait and the 95th percentile of waits on c slots. Runs of nearly one
// length wait about half as long as exponential ones (Pollaczek and Khinchine), which the mean takes
// into account; the percentile is that of exponential runs, an upper bound.
func Wait(c int, perHour float64, length time.Duration) (mean, p95 time.Duration, ok bool) {
	a := perHour / 3600 * length.Seconds()
	if a >= float64(c) {
		return 0, 0, false
	}
	waits := ErlangC(c, a)
	free := (float64(c) - a) / length.Seconds() // rate at which the queue shrinks
	mean = time.Duration(waits / free / 2 * float64(time.Second))
	if waits > 0.05 {
		p95 = time.Duration(math.Log(waits/0.05) / free * float64(time.Second))
	}
	return mean, p95, true
}

// A Plan is how many slots a contest needs.
type Plan struct {
	Busy    float64       `json:"busy"`    // slots in use on average
	Workers int           `json:"workers"` // recommended
	Mean    time.Duration `json:"mean_wait_ns"`
	P95     time.Duration `json:"p95_wait_ns"`
}

// PlanFor finds the least number of slots with a 95th percentile of waits of at most most,
// and a tenth more slots than are busy, for the end of a contest when all run at once.
func PlanFor(teams int, perHour float64, length, most time.Duration) Plan {
	rate := float64(teams) * perHour
	busy := rate / 3600 * length.Seconds()
	for c := max(int(math.Ceil(busy*1.1)), 1); ; c++ {
		mean, p95, ok := Wait(c, rate, length)
		if ok && p95 <= most {
			return Plan{busy, c, mean, p95}
		}
	}
}
