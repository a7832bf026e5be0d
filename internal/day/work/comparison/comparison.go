// Package comparison says what single runs, made one after the other by people, show about
// a score, and never more than they show.
//
// The model: the natural logarithm of a score is that of its state, plus a drift that is
// linear in time, plus noise. The noise is measured from the repeated states of the same
// history, and pooled with a prior of 8 % until there are four repetitions. The drift is
// measured from one state at different times and drawn towards none, as far as a prior of
// 2 % an hour and the data demand.
//
// A gain or a loss is said when the 90 % interval excludes no effect; otherwise the result
// is open, with how many runs would decide an effect of +10 %. "Proven" is a word for
// interleaved pairs only (package judge). It is pure: no clock, no I/O.
package comparison

import (
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

const (
	// PriorSD is the spread of ln(score) of one run before a history has shown its own: the
	// upper third of what contest machines show.
	PriorSD = 0.08
	// PriorRuns is how many repetitions replace the prior.
	PriorRuns = 4
	// driftSD is the drift of ln(score) an hour that is expected before any was seen.
	driftSD = 0.02
	// level is the quantile of the two-sided 90 % interval.
	level = 0.95
	// least is the smallest effect in percent that is called a gain or a loss: the interval
	// is shown in whole percents, and one that shows 0 does not exclude 0.
	least = 0.5
	// costSD is PriorSD for costs per request, which are steadier than scores.
	costSD = 0.03
	// target and power are the effect that should be decided, and how surely.
	target = 0.10
	power  = 0.80
	// mostRuns bounds the advice: more runs are no advice.
	mostRuns = 20
)

// A Point is a run with one number that is compared, a score or a cost.
type Point struct {
	Run   iikanji.RunID
	State iikanji.Fingerprint // "" is a state of its own
	At    time.Time
	Value float64 // above 0
}

// A Word is what a comparison says.
type Word string

const (
	Gain Word = "gain"
	Loss Word = "loss"
	Open Word = "open"
	None Word = "" // nothing can be compared
)

// A Result is the comparison of some runs with the runs of the kept state.
type Result struct {
	Word Word `json:"word,omitempty"`
	// Effect is on the natural logarithm; Ratio is its exponential.
	Effect iikanji.Interval `json:"effect"`
	// Now and Kept are geometric means, without the drift.
	Now      float64 `json:"now"`
	Kept     float64 `json:"kept"`
	NowRuns  int     `json:"now_runs"`
	KeptRuns int     `json:"kept_runs"`
	// SD is the spread of one run on ln, Repeats how many repetitions it is measured from.
	SD      float64 `json:"spread"`
	Repeats int     `json:"repeats"`
	// Drift is the change of ln an hour that was taken out.
	Drift float64 `json:"drift_per_hour"`
	// More is how many further runs of this state would decide an effect of +10 %; 0 if
	// no number of them would, because the kept state has too few. Pairs is how many
	// interleaved pairs would.
	More  int `json:"more_runs,omitempty"`
	Pairs int `json:"pairs,omitempty"`
}

// Score compares scores: the runs of now with those of the kept state. history are all
// runs whose scores count, those of both states among them.
func Score(history []Point, kept, now []iikanji.RunID) Result {
	return compare(history, kept, now, PriorSD)
}

// Cost compares costs per request in the same way.
func Cost(history []Point, kept, now []iikanji.RunID) Result {
	return compare(history, kept, now, costSD)
}

// A group is the points of one state.
type group struct {
	n    int
	x, y float64 // means: hours and ln
}

func compare(history []Point, kept, now []iikanji.RunID, prior float64) Result {
	points := slices.DeleteFunc(slices.Clone(history), func(p Point) bool {
		return !(p.Value > 0) || math.IsInf(p.Value, 0)
	})
	in := func(ids []iikanji.RunID) (sel []Point) {
		for _, p := range points {
			if slices.Contains(ids, p.Run) {
				sel = append(sel, p)
			}
		}
		return sel
	}
	a, b := in(kept), in(now)
	if len(a) == 0 || len(b) == 0 {
		return Result{KeptRuns: len(a), NowRuns: len(b)}
	}
	end := b[len(b)-1].At
	ga, gb := meanOf(a, end), meanOf(b, end)
	fit := within(points, a, b, end, prior)
	d := gb.y - ga.y - fit.slope*(gb.x-ga.x)
	se := fit.error(ga, gb)
	t := stats.StudentQuantile(level, fit.df)
	r := Result{Effect: iikanji.Interval{Lo: d - t*se, Mid: d, Hi: d + t*se, Level: 2*level - 1}, Now: math.Exp(gb.y), Kept: math.Exp(ga.y),
		NowRuns: gb.n, KeptRuns: ga.n, SD: fit.sd, Repeats: fit.repeats, Drift: fit.slope, Word: Open}
	switch {
	case stats.Percent(r.Effect.Lo) >= least:
		r.Word = Gain
	case stats.Percent(r.Effect.Hi) <= -least:
		r.Word = Loss
	default:
		r.More, r.Pairs = fit.needed(ga, gb)
	}
	return r
}

func meanOf(points []Point, end time.Time) group {
	g := group{n: len(points)}
	for _, p := range points {
		g.x += p.At.Sub(end).Hours() / float64(g.n)
		g.y += math.Log(p.Value) / float64(g.n)
	}
	return g
}

// A fit is the noise and the drift within the states of a history.
type fit struct {
	sd      float64
	df      float64
	repeats int
	slope   float64
	// information is the sum of squared hours within the states, with that of the prior.
	information float64
}

// within measures noise and drift from the repetitions of states. Runs of now and of the
// kept state are each one state, whatever their fingerprints are.
func within(points, kept, now []Point, end time.Time, prior float64) fit {
	groups := map[string][]Point{}
	name := func(p Point, i int) string {
		switch {
		case slices.Contains(now, p):
			return "now"
		case slices.Contains(kept, p):
			return "kept"
		case p.State == "":
			return "alone " + string(rune(i))
		}
		return "state " + string(p.State)
	}
	for i, p := range points {
		key := name(p, i)
		groups[key] = append(groups[key], p)
	}
	var xx, xy, yy float64
	repeats := 0
	for _, members := range groups {
		g := meanOf(members, end)
		for _, p := range members {
			x, y := p.At.Sub(end).Hours()-g.x, math.Log(p.Value)-g.y
			xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
		}
		repeats += g.n - 1
	}
	// The prior of the slope is an observation of slope 0 with the variance driftSD²: of
	// the noise's own scale it counts as λ = σ²/driftSD². Both are found in turns.
	f := fit{sd: prior, df: PriorRuns, repeats: repeats}
	for range 8 {
		lambda := f.sd * f.sd / (driftSD * driftSD)
		f.information = xx + lambda
		f.slope = xy / f.information
		rest := math.Max(0, yy-xy*xy/f.information)
		if repeats >= PriorRuns {
			f.sd, f.df = math.Sqrt(rest/float64(repeats)), float64(repeats)
		} else {
			f.sd = math.Sqrt((rest + float64(PriorRuns-repeats)*prior*prior) / PriorRuns)
		}
		f.sd = math.Max(f.sd, leastSD)
	}
	return f
}

// leastSD is the least spread that is believed: equal scores of an idle limiter are no proof
// of a machine without noise.
const leastSD = 0.001

// error is the standard error of the difference of two states.
func (f fit) error(a, b group) float64 {
	apart := b.x - a.x
	return f.sd * math.Sqrt(1/float64(a.n)+1/float64(b.n)+apart*apart/f.information)
}

// needed is how many more runs of now would decide an effect of +10 % with a chance of
// 80 %, and how many pairs.
func (f fit) needed(a, b group) (more, pairs int) {
	effect := math.Log(1 + target)
	quantiles := stats.StudentQuantile(level, f.df) + stats.StudentQuantile(power, f.df)
	for m := 1; m <= mostRuns && more == 0; m++ {
		then := group{n: b.n + m, x: b.x, y: b.y}
		if quantiles*f.error(a, then) <= effect {
			more = m
		}
	}
	if n := stats.PairsNeeded(f.sd*math.Sqrt2, effect, 1-level, power, f.df); n <= mostRuns {
		pairs = int(math.Ceil(n))
	}
	return more, pairs
}
