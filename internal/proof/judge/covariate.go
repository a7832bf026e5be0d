package judge

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// Disturbances that are too small to void a run add noise. Where the noise follows
// a number that was measured, that part is taken out (regression adjustment as in
// CUPED, Deng et al. 2013, and in the analysis of covariance):
//
//	d = δ + β·x + e
//
// d is the pair's difference of ln(score), x its difference of capacity, δ the
// effect and β the slope. β is estimated from pairs whose effect does not matter:
// A/A pairs and past trials, each around its own means.
//
// Three rules keep the adjustment from making an effect:
//
//   - Only what no program of the machine controls is adjusted for: steal, as a
//     share of the time that the run asked for, and the frequency. What another
//     program uses depends on what the site leaves idle, and how much a quota
//     throttles on what the site needs: a candidate's loss would be explained
//     away.
//   - β is used only if it is positive and proven at 5 %. Its error widens the
//     interval.
//   - It is not used at a look where the mean of x is off 0 by more than one of its
//     standard errors, because the candidate may be the cause, nor where the plain
//     numbers alone do not point to a gain at 5 %: whatever the cause of x, a
//     candidate is kept at most as often as that test is wrong.

// A Slope is the effect on ln(score) of one unit of capacity, or none.
type Slope struct {
	beta   float64
	se     float64     // standard error of beta
	spread float64     // standard deviation of x in pairs of one state
	prior  stats.Prior // of the noise of d − β·x
	used   bool
}

const (
	// slopeDF is the least number of degrees of freedom of an estimated slope.
	slopeDF = 6
	// slopeLevel is the one-sided level at which a slope must differ from 0.
	slopeLevel = 0.05
	// fairShift is the mean of x in a trial, in its standard errors, beyond which the
	// candidate is taken for its cause.
	fairShift = 1
	// plainLevel is the one-sided level at which the plain numbers must point to a
	// gain.
	plainLevel = 0.05
)

// capacity is ln of the CPU capacity that the hardware and the hypervisor left to
// a run.
func capacity(r *iikanji.Run) (x float64, ok bool) {
	e := r.Environment
	if e == nil {
		return 0, false
	}
	got := 1 - share(e.Steal, e.Used+e.Steal)
	return math.Log(max(got, 0.01)) + math.Log(max(e.MHz, 1)), true
}

// capacities are the differences of capacity of pairs; ok is false if one was not
// measured.
func capacities(pairs []Pair) (xs []float64, ok bool) {
	for _, p := range pairs {
		a, okA := capacity(p.A)
		b, okB := capacity(p.B)
		if !okA || !okB {
			return nil, false
		}
		xs = append(xs, b-a)
	}
	return xs, true
}

// PairRuns makes A/A pairs of consecutive runs of one unchanged state.
func PairRuns(runs []*iikanji.Run) []Pair {
	var pairs []Pair
	for two := range slices.Chunk(runs, 2) {
		if len(two) == 2 {
			pairs = append(pairs, Pair{A: two[0], B: two[1]})
		}
	}
	return pairs
}

// LearnSlope estimates the slope from A/A pairs and from the pairs of past trials.
func LearnSlope(trials ...[]Pair) Slope {
	var xx, xy, yy float64
	df := -1 // of the residuals: one less for the slope
	for _, pairs := range trials {
		s := sift(Case{Pairs: pairs})
		x, ok := capacities(s.pairs)
		if !ok || s.n() < 2 {
			continue
		}
		mx, my := stats.Mean(x), stats.Mean(s.diffs)
		for i, d := range s.diffs {
			xx += (x[i] - mx) * (x[i] - mx)
			xy += (x[i] - mx) * (d - my)
			yy += (d - my) * (d - my)
		}
		df += s.n() - 1
	}
	if df < slopeDF || xx <= 0 {
		return Slope{}
	}
	beta := xy / xx
	rest := max(yy-beta*xy, 0) / float64(df)
	l := Slope{beta: beta, spread: math.Sqrt(xx / float64(df+1)),
		prior: stats.Prior{Var: rest, DF: min(float64(df), stats.MaxPriorDF)}, se: math.Sqrt(rest / xx)}
	l.used = beta > stats.StudentQuantile(1-slopeLevel, float64(df))*l.se
	return l
}

// adjust takes the part of the differences out that their capacities explain, and
// sets the prior of their noise.
func (j Judge) adjust(s sifted) sifted {
	s.prior = j.Prior
	x, ok := capacities(s.pairs)
	if !j.Slope.used || !ok || len(x) == 0 {
		return s
	}
	if math.Abs(stats.Mean(x)) > fairShift*j.Slope.spread/math.Sqrt(float64(len(x))) {
		return s
	}
	if stats.Moderate(s.diffs, j.Prior).P() > plainLevel {
		return s
	}
	s.slopeError = j.Slope.se * math.Abs(stats.Mean(x))
	usual := 0.0 // mean capacity of the incumbent in the pairs
	for _, p := range s.pairs {
		at, _ := capacity(p.A)
		usual += at / float64(len(s.pairs))
	}
	for i, p := range s.pairs {
		atA, _ := capacity(p.A)
		s.a[i] -= j.Slope.beta * (atA - usual)
		s.b[i] -= j.Slope.beta * (atA + x[i] - usual)
		s.diffs[i] -= j.Slope.beta * x[i]
	}
	for i, r := range s.nearby {
		at, ok := capacity(r)
		if !ok {
			s.near = nil // not comparable with the adjusted pairs
			break
		}
		s.near[i] -= j.Slope.beta * (at - usual)
	}
	s.prior = j.Slope.prior
	return s
}
