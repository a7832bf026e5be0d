package judge

import (
	"math"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// nearRuns is how many of the incumbent's runs right before a trial add to its
// evidence.
const nearRuns = 8

// An estimate is the effect of a trial's pairs.
type estimate struct {
	stats.Moderated         // with the prior
	noGain          float64 // probability of such an effect without a gain
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
	ssA, ssB, m := s.squares()
	df := 2 * m
	e := estimate{Moderated: stats.Moderated{N: n, Mean: mean, DF: s.prior.DF + df}}
	if e.DF > 0 {
		e.SE = math.Hypot(math.Sqrt((s.prior.DF*s.prior.Var/2+ssA+ssB)/e.DF*factor), s.slopeError)
	}
	e.noGain = s.noGain(e.Moderated, factor)
	return e
}

// proves reports whether the gain is proven at a level, also if the trial's runs are
// noisier than those that the noise is known from.
func (e estimate) proves(level float64) bool { return e.noGain <= level }

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
