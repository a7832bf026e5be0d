package judge

import (
	"math"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A noiseRatio is a hypothesis on the noise of a trial's runs: how many times the
// standard deviation that was known before, in each arm. A calibration in a quieter
// hour makes both ratios larger, a change that makes the score itself noisier that
// of the candidate.
type noiseRatio struct {
	incumbent, candidate float64
	first, later         ratioTerms // at the first look, and at later ones
}

// ratioTerms are the weight of a hypothesis before any run, and the factor on its
// p-value: the weights are no more than a guess.
type ratioTerms struct{ weight, factor float64 }

// leastSquares keeps the likelihood finite where scores have no noise.
const leastSquares = 1e-12

// firstLook is the number of pairs at the first look.
const firstLook = 2

// noiseRatios were found by simulation (docs/method.md, "How good the rule is"):
// among those that keep a change that does nothing in at most 6 % of trials in every
// world of iikanji selftest, these keep most changes of a large effect after two
// pairs.
var noiseRatios = []noiseRatio{
	{1, 1, ratioTerms{0.737, 1}, ratioTerms{0.668, 1}},
	{1.5, 1.5, ratioTerms{0.009, 1.25}, ratioTerms{0.003, 3.0}},
	{2, 2, ratioTerms{0.045, 1.25}, ratioTerms{0.010, 3.0}},
	{3, 3, ratioTerms{0.081, 1.25}, ratioTerms{0.130, 3.0}},
	{1, 1.5, ratioTerms{0.025, 0.8}, ratioTerms{0.055, 1.8}},
	{1, 2, ratioTerms{0.065, 0.8}, ratioTerms{0.064, 1.8}},
	{1, 3, ratioTerms{0.038, 0.8}, ratioTerms{0.070, 1.8}},
}

// noGain is the probability of an effect as large as the one measured if there is
// none, averaged over the noise ratios by their weights and the likelihood of the
// trial's runs. With the known variance s0² of a run and its degrees of freedom ν0,
// the sums of squares SS of the arms around their means, and m degrees of freedom
// in each arm, the likelihood of the ratios a and b is
//
//	a^−m · b^−m · (ν0·s0² + SSA/a² + SSB/b²)^−(ν0+2m)/2
//
// because ν0·s0² and both SS are multiples of χ² of one variance, which is
// integrated out with the density 1/σ². It is never less than the probability at
// equal noise.
func (s sifted) noGain(e stats.Moderated, factor float64) float64 {
	if e.DF <= 0 || s.prior.DF <= 0 {
		return e.P()
	}
	ssA, ssB, m := s.squares()
	n := float64(s.n())
	ofB := 1 / (factor * n) // the candidate's share of the variance of the effect
	known := s.prior.DF * s.prior.Var / 2
	var sum, p, most float64
	most = math.Inf(-1)
	for _, r := range noiseRatios {
		a2, b2 := r.incumbent*r.incumbent, r.candidate*r.candidate
		ss := max(leastSquares, known+ssA/a2+ssB/b2)
		// ln of the likelihood, relative to the largest so far
		l := -m/2*math.Log(a2*b2) - e.DF/2*math.Log(ss)
		if l > most {
			scale := math.Exp(most - l)
			sum, p, most = sum*scale, p*scale, l
		}
		under := e
		under.SE = math.Hypot(math.Sqrt(ss/e.DF*factor*(ofB*b2+(1-ofB)*a2)), s.slopeError)
		terms := r.later
		if s.n() <= firstLook {
			terms = r.first
		}
		w := terms.weight * math.Exp(l-most)
		sum, p = sum+w, p+w*min(1, terms.factor*under.P())
	}
	return max(e.P(), p/sum)
}

// squares are the sums of squares of the arms around their means, and the degrees
// of freedom of each. Runs before and after a new calibration have means of their
// own.
func (s sifted) squares() (ssA, ssB, df float64) {
	for _, part := range [][2]int{{0, s.old}, {s.old, s.n()}} {
		if a, b := s.a[part[0]:part[1]], s.b[part[0]:part[1]]; len(a) > 1 {
			ssA, ssB, df = ssA+stats.SumSquares(a), ssB+stats.SumSquares(b), df+float64(len(a)-1)
		}
	}
	return ssA, ssB, df
}
