package judge

import (
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// Effects is what is known of the true effects of changes on ln(score), before
// the runs of one of them: a share of them has none, and those of the others are
// normal around 0 (a spike and a slab; Mitchell and Beauchamp 1988).
type Effects struct {
	Share float64 // of the changes that have an effect
	Tau   float64 // standard deviation of their effects
}

// UsualEffects is what is assumed before any change was tried. With it, a change
// that does nothing and is kept by a trial at 5 % noise is shown as less than
// +3 % on average, and one of +10 % as more than +7 % (iikanji selftest).
func UsualEffects() Effects { return Effects{Share: 0.055, Tau: 0.30} }

// A Tried is the measured effect of one change and its standard error.
type Tried struct{ Effect, SE float64 }

// usualWeight is how many changes the usual effects count as.
const usualWeight = 40

// Learn estimates the effects from the changes that were tried (empirical Bayes,
// by expectation maximisation), with UsualEffects as pseudo-observations.
func Learn(tried []Tried) Effects {
	usual := UsualEffects()
	e := usual
	for range 20 {
		share, weight, square := usual.Share*usualWeight, usual.Share*usualWeight, usual.Share*usualWeight*usual.Tau*usual.Tau
		for _, t := range tried {
			p, mean, v := e.posterior(t.Effect, t.SE)
			share += p
			weight += p
			square += p * (mean*mean + v)
		}
		e = Effects{Share: share / (usualWeight + float64(len(tried))), Tau: math.Sqrt(square / weight)}
	}
	return e
}

// posterior is the probability that a measured effect is real, and the mean and
// the variance of the true effect if it is.
func (e Effects) posterior(d, se float64) (p, mean, variance float64) {
	if se <= 0 {
		return 1, d, 0
	}
	t2, s2 := e.Tau*e.Tau, se*se
	factor := t2 / (t2 + s2)
	bayes := math.Log(s2/(t2+s2))/2 + d*d/(2*s2)*factor // the logarithm: a score without noise has no bound
	odds := (1 - e.Share) / e.Share * math.Exp(min(700, -bayes))
	return 1 / (1 + odds), d * factor, s2 * factor
}

// Gain is the probability that a measured effect is a gain.
func (e Effects) Gain(d, se float64) float64 {
	p, mean, v := e.posterior(d, se)
	if v <= 0 {
		return p * min(1, max(0, math.Copysign(1, mean)))
	}
	return p * stats.NormalCDF(mean/math.Sqrt(v))
}

// Expect is the true effect to expect of a change, and its 90 % credible interval.
// The interval includes 0 unless the data exclude that the change has no effect; its
// upper end is that of an effect that is real. It is as wide as Student's t of the
// noise's degrees of freedom demands.
func (e Effects) Expect(d, se, df float64) iikanji.Interval {
	if se <= 0 || df <= 0 {
		return iikanji.Interval{Mid: d, Lo: d, Hi: d, Level: level}
	}
	p, mean, v := e.posterior(d, se)
	m := mixture{p, mean, math.Sqrt(v), df}
	tail := (1 - level) / 2
	return iikanji.Interval{Mid: p * mean, Lo: m.quantile(tail), Hi: max(0, mean+m.scale*stats.StudentQuantile(1-tail, df)), Level: level}
}

// fill sets the fields of a verdict about later runs.
func (e Effects) fill(v *iikanji.Verdict, d, se, df float64) {
	p, _, _ := e.posterior(d, se)
	v.SE, v.Expect, v.Doubt = se, e.Expect(d, se, df), 1-p
	v.Shrunk = v.Expect.Mid
}

// pooledDF is the degrees of freedom of an effect from two trials: each has at
// least three pairs or a prior.
const pooledDF = 12

// Pool adds the evidence of a second trial of the same change to a verdict: what
// to expect of it rests on the pairs of both.
func (e Effects) Pool(v *iikanji.Verdict, again iikanji.Verdict) {
	if v.SE <= 0 || again.SE <= 0 {
		return
	}
	w1, w2 := 1/(v.SE*v.SE), 1/(again.SE*again.SE)
	e.fill(v, (w1*v.Effect.Mid+w2*again.Effect.Mid)/(w1+w2), math.Sqrt(1/(w1+w2)), pooledDF)
}

// A mixture is an atom at 0 with weight 1−p and Student's t around a mean.
type mixture struct{ p, mean, scale, df float64 }

func (m mixture) quantile(q float64) float64 {
	below := m.p * stats.StudentCDF(-m.mean/m.scale, m.df) // of 0, without the atom
	switch {
	case q < below:
		return m.mean + m.scale*stats.StudentQuantile(q/m.p, m.df)
	case q <= below+1-m.p:
		return 0
	}
	return m.mean + m.scale*stats.StudentQuantile((q-(1-m.p))/m.p, m.df)
}
