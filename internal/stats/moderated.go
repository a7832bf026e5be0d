package stats

import "math"

// MaxPriorDF caps the weight of what is known of the noise beforehand, so that
// eight fresh pairs can still outvote it when the machine has changed.
const MaxPriorDF = 8

// A Prior is what is known of the noise of one difference before a trial.
// The zero Prior knows nothing.
type Prior struct {
	Var float64 // s0², the variance of one paired difference
	DF  float64 // ν0, the degrees of freedom it is trusted with
}

// SD is s0.
func (p Prior) SD() float64 { return math.Sqrt(p.Var) }

// NoisePrior pools series of paired differences, each around its own mean, as
// each series (A/A pairs, a past change's pairs) has its own effect:
//
//	s0² = Σ(d_j − d̄_j)² / ν0,  ν0 = Σ(n_j − 1)
//
// The variance uses every degree of freedom; the weight is capped at [MaxPriorDF].
func NoisePrior(series ...[]float64) Prior {
	ss, df := 0.0, 0
	for _, d := range series {
		if len(d) > 1 {
			ss += SumSquares(d)
			df += len(d) - 1
		}
	}
	if df == 0 {
		return Prior{}
	}
	return Prior{Var: ss / float64(df), DF: min(float64(df), MaxPriorDF)}
}

// Differences is b_i − a_i. It panics when the lengths differ.
func Differences(a, b []float64) []float64 {
	if len(a) != len(b) {
		panic("BUG: pairs of unequal length")
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = b[i] - a[i]
	}
	return d
}

// A Moderated is the summary of n paired differences under a Prior: the
// variance is the prior's and the sample's, weighted by degrees of freedom
// (Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3(1)):
//
//	s̃² = (ν0·s0² + (n−1)·s²) / (ν0 + n − 1),  t = d̄/(s̃/√n),  ν = ν0 + n − 1
type Moderated struct {
	N    int
	Mean float64 // d̄
	SE   float64 // s̃/√n
	DF   float64 // ν; 0 when nothing is known of the noise
}

// Moderate summarises differences. With one difference and no prior DF is 0
// and every bound is infinite.
func Moderate(d []float64, p Prior) Moderated {
	n := len(d)
	if n == 0 {
		return Moderated{}
	}
	df := p.DF + float64(n-1)
	m := Moderated{N: n, Mean: Mean(d), DF: df}
	if df > 0 {
		m.SE = math.Sqrt((p.DF*p.Var + SumSquares(d)) / df / float64(n))
	}
	return m
}

// Lower is the one-sided bound d̄ − t(1−alpha, ν)·s̃/√n.
func (m Moderated) Lower(alpha float64) float64 { return m.Mean - m.width(alpha) }

// Upper is the one-sided bound d̄ + t(1−alpha, ν)·s̃/√n.
func (m Moderated) Upper(alpha float64) float64 { return m.Mean + m.width(alpha) }

func (m Moderated) width(alpha float64) float64 {
	if m.DF <= 0 {
		return math.Inf(1)
	}
	return StudentQuantile(1-alpha, m.DF) * m.SE
}

// P is the one-sided p-value of "the mean is above 0"; 1 when nothing is known
// of the noise.
func (m Moderated) P() float64 {
	switch {
	case m.DF <= 0:
		return 1
	case m.SE == 0 && m.Mean > 0:
		return 0
	case m.SE == 0:
		return 1
	}
	return StudentCDF(-m.Mean/m.SE, m.DF)
}
