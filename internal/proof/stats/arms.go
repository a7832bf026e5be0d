package stats

import "math"

// RunPrior pools the variances of runs of unchanged states into a Prior for the
// difference of two runs: twice the variance of a run. Each series is one state
// under one set of conditions, centred on its own mean. The runs of a trial's two
// arms are two series.
//
// The variance within a state includes slow changes of the machine, which a
// pair partly cancels: the prior is then too large, never too small.
func RunPrior(series ...[]float64) Prior {
	ss, df := 0.0, 0
	for _, y := range series {
		if len(y) > 1 {
			ss += SumSquares(y)
			df += len(y) - 1
		}
	}
	if df == 0 {
		return Prior{}
	}
	return Prior{Var: 2 * ss / float64(df), DF: min(float64(df), MaxPriorDF)}
}

// A Sequence is runs in the order of time, some with a change and some without.
type Sequence struct {
	Y  []float64 // ln(score)
	On []bool    // with the change
}

// Effect is the least-squares effect of the change, with a linear trend over the
// sequence as a nuisance, and its variance in units of the variance of a run.
// The factor is +Inf when the runs do not separate the effect from the trend.
func (s Sequence) Effect() (effect, factor float64) {
	// The effect on what is left of On after the level and the trend.
	n := float64(len(s.Y))
	var on, y, t, tt float64
	for i := range s.Y {
		on, y = on+bit(s.On[i]), y+s.Y[i]
	}
	on, y = on/n, y/n
	center := (n - 1) / 2
	for i := range s.Y {
		d := float64(i) - center
		t += d * (bit(s.On[i]) - on)
		tt += d * d
	}
	slope := 0.0
	if tt > 0 {
		slope = t / tt
	}
	var xx, xy float64
	for i := range s.Y {
		x := bit(s.On[i]) - on - slope*(float64(i)-center)
		xx, xy = xx+x*x, xy+x*(s.Y[i]-y)
	}
	if xx < 1e-9 {
		return 0, math.Inf(1)
	}
	return xy / xx, 1 / xx
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
