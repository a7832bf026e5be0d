package judge

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// fastLevel is the tail probability of the fast lane: one run must score above
// 199 of 200 runs of the incumbent.
const fastLevel = 0.995

// A Provisional is the result of the fast lane: one run of a candidate far above
// what the incumbent scores makes the candidate the incumbent provisionally. The
// A runs of the next trial confirm it.
type Provisional struct {
	OK    bool
	Bound float64 // on ln(score); +Inf if the spread is unknown
	Why   string
}

// FastLane compares one run of the candidate with the incumbent's runs by
// their predictive interval, plus a margin for drift: three times the largest
// change of the incumbent's hourly mean. The spread of a single run is
// moderated by the prior, of whose pairs it is half the variance: without a
// prior two runs are needed, and they rarely suffice. Gates come first.
func (j Judge) FastLane(c Case, incumbent []*iikanji.Run, b *iikanji.Run) Provisional {
	y := LogScores(incumbent)
	p := Provisional{Bound: j.predictive(y) + 3*hourlyDrift(incumbent)}
	if len(incumbent) == 0 {
		p.Why = "the incumbent has no runs yet"
		return p
	}
	trial := c
	trial.Before, trial.Pairs = incumbent, []Pair{{A: incumbent[len(incumbent)-1], B: b}}
	var v iikanji.Verdict
	if p.Why = j.gate(trial, sift(trial), &v); p.Why != "" {
		return p
	}
	switch {
	case !b.Clean():
		p.Why = fmt.Sprintf("run %d does not count", b.ID)
	case math.IsInf(p.Bound, 1):
		p.Why = "the incumbent has too few runs: its noise is unknown"
	case math.Log(b.Score) > p.Bound:
		p.OK = true
		p.Why = fmt.Sprintf("run %d scored %.0f, above the %.0f that the incumbent could reach by chance", b.ID, b.Score, math.Exp(p.Bound))
	default:
		p.Why = fmt.Sprintf("run %d scored %.0f; the incumbent could reach %.0f by chance: pairs must decide", b.ID, b.Score, math.Exp(p.Bound))
	}
	return p
}

// predictive is the value that one more run of the same state exceeds with
// 1 − fastLevel: ȳ + t(fastLevel, ν0+m−1)·s̃·√(1+1/m), with s̃² moderated as for
// pairs; +Inf when there is nothing to know the spread by.
func (j Judge) predictive(y []float64) float64 {
	if j.Prior.DF <= 0 {
		return stats.PredictiveUpper(y, fastLevel)
	}
	if len(y) == 0 {
		return math.Inf(1)
	}
	m := float64(len(y))
	df := j.Prior.DF + m - 1
	s := math.Sqrt((j.Prior.DF*j.Prior.Var/2 + stats.SumSquares(y)) / df)
	return stats.Mean(y) + stats.StudentQuantile(fastLevel, df)*s*math.Sqrt(1+1/m)
}

// Bound is the value on ln(score) that one more run of a state exceeds by chance in 1 of 200 cases,
// by the values of its runs; +Inf if the spread is unknown.
func (j Judge) Bound(y []float64) float64 { return j.predictive(y) }

// Holds reports whether a provisional incumbent is still above its bound, by its
// runs since.
func (p Provisional) Holds(since []*iikanji.Run) bool {
	for _, r := range since {
		if Failed(r) {
			return false
		}
	}
	y := LogScores(since)
	return len(y) == 0 || stats.Mean(y) > p.Bound
}

// Confirm is the verdict on a change that the fast lane accepted, by the runs of
// the incumbent before it and those of the site with it since. They are not
// pairs: their means are compared as those of two groups. The run that qualified
// for the fast lane is not in since, because it was selected for its high score.
//
// worth is the least effect worth keeping.
func (j Judge) Confirm(c iikanji.ChangeID, worth float64, p Provisional, before, since []*iikanji.Run) iikanji.Verdict {
	v := iikanji.Verdict{Change: c, Worth: worth, Call: iikanji.Revert, Reason: iikanji.NoGain}
	for _, r := range before {
		v.Base = append(v.Base, r.ID)
	}
	for _, r := range since {
		v.Tried = append(v.Tried, r.ID)
	}
	a, b := LogScores(before), LogScores(since)
	switch {
	case !p.Holds(since):
		v.Why = "the gain of the first run did not last: the runs since are within the noise of the runs before"
		return v
	case len(a) < 2 || len(b) < 2:
		v.Why = fmt.Sprintf("%d runs before it and %d since are too few to confirm the gain of the first run", len(a), len(b))
		return v
	}
	// A run has half the variance of a difference of two.
	df := j.Prior.DF + float64(len(a)+len(b)-2)
	s2 := (j.Prior.DF*j.Prior.Var/2 + stats.SumSquares(a) + stats.SumSquares(b)) / df
	d, se := stats.Mean(b)-stats.Mean(a), math.Sqrt(s2*(1/float64(len(a))+1/float64(len(b))))
	half := se*stats.StudentQuantile(1-j.Looks.Level(j.Looks.Last()), df) + hourlyDrift(before)
	v.Effect = iikanji.Interval{Mid: d, Lo: d - half, Hi: d + half, Level: level}
	j.Effects.fill(&v, d, se, df)
	if v.P = 0; se > 0 { // identical runs have no standard error to divide by
		v.P = 1 - stats.StudentCDF(d/se, df)
	}
	if v.Effect.Lo <= 0 || d < v.Worth {
		v.Why = fmt.Sprintf("%s (%s to %s) in %d runs since: no gain is proven", percent(d), percent(v.Effect.Lo), percent(v.Effect.Hi), len(b))
		return v
	}
	v.Call, v.Reason = iikanji.Keep, iikanji.Proven
	v.Why = fmt.Sprintf("%s (%s to %s): fast lane, confirmed by %d runs since against %d before", percent(d), percent(v.Effect.Lo), percent(v.Effect.Hi), len(b), len(a))
	return v
}

// The limits of Clear.
const (
	// clearLevel is the largest probability of such a run without a gain.
	clearLevel = 0.005
	// clearNoise is how much noisier a run of the candidate may be, in units of the
	// known noise.
	clearNoise = 1.5
)

// Clear is the verdict on a candidate whose first run the fast lane accepted, for
// searches that have no time to confirm it: ok reports whether this run, b, proves the
// gain although it was selected for its high score and may be noisier than the
// incumbent's runs before. The noise is the known one: the incumbent's runs are often
// those that it is known from.
func (j Judge) Clear(c Case, incumbent []*iikanji.Run, b *iikanji.Run) (v iikanji.Verdict, ok bool) {
	y := LogScores(incumbent)
	if len(y) == 0 || j.Prior.DF <= 0 || !(b.Score > 0) {
		return v, false
	}
	v = iikanji.Verdict{Change: c.Change.ID, Worth: cmp.Or(c.Worth, Worth(&c.Change)), Tried: []iikanji.RunID{b.ID}}
	for _, r := range incumbent {
		v.Base = append(v.Base, r.ID)
	}
	d := math.Log(b.Score) - stats.Mean(y)
	se := math.Sqrt(j.Prior.Var / 2 * (1/float64(len(y)) + clearNoise*clearNoise))
	half := se*stats.StudentQuantile(1-clearLevel, j.Prior.DF) + hourlyDrift(incumbent)
	v.Effect = iikanji.Interval{Mid: d, Lo: d - half, Hi: d + half, Level: 1 - 2*clearLevel}
	j.Effects.fill(&v, d, se, j.Prior.DF)
	if v.P = 0; se > 0 {
		v.P = 1 - stats.StudentCDF(d/se, j.Prior.DF)
	}
	v.Call, v.Reason = iikanji.Keep, iikanji.Proven
	v.Why = fmt.Sprintf("%s (%s to %s) in one run against %d before: too large a gain for chance, in a search without time to repeat it", percent(d), percent(v.Effect.Lo), percent(v.Effect.Hi), len(y))
	return v, v.Effect.Lo > v.Worth
}

// hourlyDrift is the largest change of the mean of ln(score) from one hour
// with runs to the next; 0 within one hour.
func hourlyDrift(runs []*iikanji.Run) float64 {
	type hour struct {
		sum float64
		n   int
		at  time.Time
	}
	var hours []hour
	for _, r := range runs {
		if !r.Clean() || !(r.Score > 0) {
			continue
		}
		at := r.Began.Truncate(time.Hour)
		if len(hours) == 0 || !hours[len(hours)-1].at.Equal(at) {
			hours = append(hours, hour{at: at})
		}
		h := &hours[len(hours)-1]
		h.sum, h.n = h.sum+math.Log(r.Score), h.n+1
	}
	most := 0.0
	for i := 1; i < len(hours); i++ {
		was, is := hours[i-1], hours[i]
		gap := max(1, is.at.Sub(was.at).Hours())
		most = max(most, math.Abs(is.sum/float64(is.n)-was.sum/float64(was.n))/gap)
	}
	return most
}
