package choose

import (
	"math"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Spread is the standard deviation of ln(score) among runs of one state.
type Spread struct {
	Sigma float64 `json:"sigma"`
	DF    float64 `json:"degrees_of_freedom"`
	// Assumed: fewer than fewDF repeated runs; the rest is priorSigma.
	Assumed bool `json:"assumed,omitempty"`
}

// The spread of a history with few repeated runs is pooled with a prior.
const (
	priorSigma = 0.08 // 8 %, usual for benchmarkers of contests
	fewDF      = 4    // from here on the history's own spread is used alone
)

// spreadOf pools the spread of the states' scores around the means of the states.
func spreadOf(groups []*group) Spread {
	squares, df := 0.0, 0.0
	for _, g := range groups {
		if y := logs(g.scores()); len(y) > 1 {
			squares += stats.SumSquares(y)
			df += float64(len(y) - 1)
		}
	}
	if df < fewDF {
		squares += (fewDF - df) * priorSigma * priorSigma
		return Spread{Sigma: math.Sqrt(squares / fewDF), DF: fewDF, Assumed: true}
	}
	return Spread{Sigma: math.Sqrt(squares / df), DF: df}
}

func logs(scores []float64) []float64 {
	y := make([]float64, 0, len(scores))
	for _, s := range scores {
		if s > 0 {
			y = append(y, math.Log(s))
		}
	}
	return y
}

// passes is the chance that the next run of a state passes: the mean of
// Beta(k + ½, n − k + ½), Jeffreys' posterior, for k of n runs. failed may be a half.
func passes(passed int, failed float64) float64 {
	return (float64(passed) + 0.5) / (float64(passed) + failed + 1)
}

// againNext is the chance that, of two runs of one state, the later one reaches the
// floor times the score of the earlier one: the difference of their logarithms has the
// variance 2σ².
func (s Spread) againNext(floor float64) float64 {
	return s.below(-math.Log(floor), 2)
}

// againBest is the chance that the next run of a state reaches the floor times the score
// that is registered. The registered score is the highest of several, hence too high by
// selection. It is compared with the mean of all n scores of the state, which is not:
// the next ln(score) less that mean has the variance σ²(1 + 1/n).
func (s Spread) againBest(scores []float64, registered, floor float64) float64 {
	y := logs(scores)
	if len(y) == 0 || registered <= 0 {
		return 0
	}
	return s.below(stats.Mean(y)-math.Log(floor*registered), 1+1/float64(len(y)))
}

// below is the chance that a deviation with the variance σ²·times is below a distance.
func (s Spread) below(distance, times float64) float64 {
	if s.Sigma == 0 {
		if distance >= 0 {
			return 1
		}
		return 0
	}
	return stats.StudentCDF(distance/(s.Sigma*math.Sqrt(times)), s.DF)
}

// registers is the expected registered score of a state after n runs that passed, times
// the chance that one more run reaches the floor, in units of the state's median: the
// highest of n runs is registered, so each further run raises the score and lowers that
// chance. With z the highest of n standard normal deviations,
//
//	∫ n·φ(z)·Φ(z)^(n−1) · exp(σz) · Φ(−ln(floor)/σ − z) dz
func (s Spread) registers(n int, floor float64) float64 {
	if s.Sigma == 0 {
		return 1
	}
	sum := 0.0
	for i := range integralSteps { // midpoints
		z := -integralEnd + (float64(i)+0.5)*integralStep
		highest := float64(n) * normalDensity(z) * math.Pow(stats.NormalCDF(z), float64(n-1))
		sum += highest * math.Exp(s.Sigma*z) * stats.NormalCDF(-math.Log(floor)/s.Sigma-z)
	}
	return sum * integralStep
}

// The integral goes over ±9 standard deviations; beyond are less than 1e-18.
const (
	integralEnd   = 9.0
	integralSteps = 3600
	integralStep  = 2 * integralEnd / integralSteps
)

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
