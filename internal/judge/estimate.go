package judge

import (
	"math"

	"github.com/iikanji/iikanji/internal/stats"
)

// Limits on trusting the noise that was known before a trial.
const (
	// noisierLevel and noisierArm are the levels of the tests (F) that the runs of
	// the trial, or those of the candidate alone, vary more than the prior explains.
	noisierLevel = 0.33
	noisierArm   = 0.33
	// ownLevel is the share of a look's level at which the runs of the trial must
	// prove the gain by themselves, once they vary more.
	ownLevel = 0.5
)

// nearRuns is how many of the incumbent's runs right before a trial add to its
// evidence.
const nearRuns = 4

// An estimate is the effect of a trial's pairs.
type estimate struct {
	stats.Moderated                 // with the prior
	own             stats.Moderated // by the trial's runs alone
	noisier         bool            // the trial's runs vary more than the prior explains
}

// estimate is the effect of the change and its standard error. The effect is that
// of a least-squares fit with a trend over the trial's runs and the incumbent's
// runs right before it; the noise is the variance of the runs of each arm,
// moderated by the prior. Runs before and after a new calibration are two
// sequences, each with its own level and trend.
func (s sifted) estimate() estimate {
	n := s.n()
	if n == 0 {
		return estimate{}
	}
	mean, factor := s.effect()
	own := stats.RunPrior(s.a[:s.old], s.b[:s.old], s.a[s.old:], s.b[s.old:])
	df := float64(max(0, s.old-1)+max(0, n-s.old-1)) * 2
	e := estimate{own: stats.Moderated{N: n, Mean: mean, DF: df, SE: math.Sqrt(own.Var * factor / 2)}}
	e.Moderated = stats.Moderated{N: n, Mean: mean, DF: s.prior.DF + df}
	if e.DF > 0 {
		e.SE = math.Sqrt((s.prior.DF*s.prior.Var + df*own.Var) / e.DF * factor / 2)
	}
	e.SE, e.own.SE = math.Hypot(e.SE, s.slopeError), math.Hypot(e.own.SE, s.slopeError)
	e.noisier = exceeds(own.Var, df, s.prior, noisierLevel)
	if arm := stats.RunPrior(s.b[:s.old], s.b[s.old:]); !e.noisier {
		e.noisier = exceeds(arm.Var, df/2, s.prior, noisierArm)
	}
	return e
}

// exceeds reports whether a variance is larger than the prior's at a level of the
// F test.
func exceeds(v, df float64, p stats.Prior, level float64) bool {
	return df > 0 && p.DF > 0 && p.Var > 0 && v > p.Var && stats.FCDF(v/p.Var, df, p.DF) > 1-level
}

// proves reports whether the gain is proven at a level.
func (e estimate) proves(level float64) bool {
	return e.Lower(level) > 0 && (!e.noisier || e.own.Lower(level*ownLevel) > 0)
}

// effect is the mean effect and its variance in units of the variance of a run.
func (s sifted) effect() (mean, factor float64) {
	var sum, weight float64
	for _, part := range []struct {
		before []float64
		pairs  []Pair
		a, b   []float64
	}{{nil, s.pairs[:s.old], s.a[:s.old], s.b[:s.old]}, {s.near, s.pairs[s.old:], s.a[s.old:], s.b[s.old:]}} {
		if len(part.pairs) == 0 {
			continue
		}
		d, f := sequence(part.before, part.pairs, part.a, part.b)
		sum, weight = sum+d/f, weight+1/f
	}
	return sum / weight, 1 / weight
}

// sequence is the effect of consecutive pairs with the incumbent's runs right
// before them. Without such runs it is the mean difference of the pairs.
func sequence(before []float64, pairs []Pair, a, b []float64) (mean, factor float64) {
	if len(before) == 0 {
		return stats.Mean(b) - stats.Mean(a), 2 / float64(len(pairs))
	}
	q := stats.Sequence{Y: before, On: make([]bool, len(before), len(before)+2*len(pairs))}
	for i, p := range pairs {
		if p.A.ID < p.B.ID {
			q.Y, q.On = append(q.Y, a[i], b[i]), append(q.On, false, true)
		} else {
			q.Y, q.On = append(q.Y, b[i], a[i]), append(q.On, true, false)
		}
	}
	return q.Effect()
}
