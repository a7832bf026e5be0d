package selftest

import (
	"math"
	"math/rand/v2"
	"time"
)

// A World holds the parameters of a simulated machine. The zero value of each
// field except Sigma is what the method assumes: independent normal noise of
// ln(score), the same for all runs.
type World struct {
	Name  string
	Sigma float64 // SD of ln(score) of a single run
	// PriorSigma is the Sigma of the runs before the first trial, if above 0.
	PriorSigma float64
	NoPrior    bool // a trial starts without runs before it
	Shape      Shape
	Together   float64 // correlation of a run's noise with that of the run before
	Drift      float64 // drift of ln(score) from one run to the next
	Outliers   float64 // share of runs that score 30 % less
	Lucky      bool    // one of a trial's first four runs scores 30 % more
	Modes      float64 // distance on ln(score) between two modes, equally likely
	// Candidate is the factor of the noise of runs with a candidate; 0 means 1.
	Candidate float64
	// EveryFourth: every fourth run loses 10 %. The disturbance comes every 52 s, which
	// is the time of four runs without a rest.
	EveryFourth bool
	// Faster: the machine becomes 10 % faster in the middle of the search.
	Faster bool

	// Of whole searches only:
	EveryThird float64       // every third run loses this share, in a fixed rhythm
	Sine       float64       // amplitude on ln(score) of a disturbance that comes and goes
	Period     time.Duration // of the sine; 0 is one from 13 s to 60 s, drawn for each search
	Voids      float64       // share of the runs that do not count
	Step       float64       // scores come in steps of this share
	Whole      bool          // scores are whole numbers
	// Bursts is a further noise of runs of the short load, which falls with the load: what comes
	// at random in the first seconds.
	Bursts float64
}

// A Shape is the distribution of the noise of a run, with variance 1.
type Shape uint8

const (
	Normal Shape = iota
	StudentT3
	Skewed // an exponential distribution of losses
)

// draw returns one value of the shape.
func (s Shape) draw(rng *rand.Rand) float64 {
	switch s {
	case StudentT3:
		chi2 := 0.0
		for range 3 {
			z := rng.NormFloat64()
			chi2 += z * z
		}
		return rng.NormFloat64() / math.Sqrt(chi2/3) / math.Sqrt(3) // t3 has variance 3
	case Skewed:
		return 1 - rng.ExpFloat64()
	}
	return rng.NormFloat64()
}

// A machine generates the noise of runs in sequence.
type machine struct {
	World
	rng  *rand.Rand
	ran  int
	last float64 // noise of the previous run
}

// noise is the deviation of the next run's ln(score) from the truth. prior
// reports whether the run is before the first trial.
func (m *machine) noise(candidate, prior bool) float64 {
	m.last = m.Together*m.last + math.Sqrt(1-m.Together*m.Together)*m.Shape.draw(m.rng)
	sigma := m.Sigma
	if prior && m.PriorSigma > 0 {
		sigma = m.PriorSigma
	}
	if candidate && m.Candidate > 0 {
		sigma *= m.Candidate
	}
	y := sigma*m.last + m.Drift*float64(m.ran)
	if m.Outliers > 0 && m.rng.Float64() < m.Outliers {
		y += math.Log(0.7)
	}
	if m.Modes > 0 && m.rng.IntN(2) == 0 && !(prior && m.PriorSigma > 0) {
		y += m.Modes
	}
	m.ran++
	return y
}

// The periodic disturbance of a search.
const (
	disturbEvery = 52 * time.Second
	disturbLoss  = 0.10
)

// disturbed reports whether the disturbance comes within a load.
func disturbed(began time.Time, load time.Duration) bool {
	phase := time.Duration(began.UnixNano() % int64(disturbEvery))
	return phase+load > disturbEvery || phase == 0
}
