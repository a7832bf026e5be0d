package stats

import "math"

// MaxPriorDF caps the degrees of freedom of a Prior, so that eight new pairs
// outweigh it when the machine's noise has changed.
const MaxPriorDF = 8

// A Prior is an estimate, made before a trial, of the variance of one paired
// difference. The zero Prior means that there is no estimate.
type Prior struct {
	Var float64 // s0², the variance of one paired difference
	DF  float64 // ν0, its degrees of freedom
}

// SD is s0.
func (p Prior) SD() float64 { return math.Sqrt(p.Var) }

// NoisePrior pools the variances of series of paired differences (A/A pairs, a
// past change's pairs). Each series is centred on its own mean, because each has
// its own effect:
//
//	s0² = Σ(d_j − d̄_j)² / ν,  ν = Σ(n_j − 1),  ν0 = min(ν, MaxPriorDF)
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

// A Moderated is the summary of n paired differences under a Prior. Its variance
// s̃² is the mean of the prior's and the sample's variance, weighted by their
// degrees of freedom (Smyth 2004, Statistical Applications in Genetics and
// Molecular Biology 3(1)):
//
//	s̃² = (ν0·s0² + (n−1)·s²) / (ν0 + n − 1),  t = d̄/(s̃/√n),  ν = ν0 + n − 1
type Moderated struct {
	N    int
	Mean float64 // d̄
	SE   float64 // s̃/√n
	DF   float64 // ν; 0 when the variance is unknown
}

// Moderate summarises differences. With one difference and the zero Prior, DF
// is 0 and both bounds are infinite.
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

// P is the one-sided p-value for "the mean is above 0"; 1 when the variance is
// unknown.
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
