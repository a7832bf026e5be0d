package search

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

const (
	// provablePower is the chance with which an effect must be proven to be called
	// provable.
	provablePower = 0.8
	// provableTrials is how many simulated trials measure it, to 2 points.
	provableTrials = 400
	// provableMost is the largest effect on ln(score) that is announced: × 4. What is
	// larger needs more pairs, or the fast lane.
	provableMost = 1.4
	// provableSteps halve that interval to 0.003.
	provableSteps = 9
)

// A Forecast predicts what trials can prove.
type Forecast struct {
	Judge   judge.Judge
	Seed    uint64
	Cost    time.Duration // of a run
	Left    time.Duration // for trials
	Bounded bool          // Left is a limit
}

// Forecast is that of a search.
func (s *State) Forecast() Forecast {
	return Forecast{s.Judge, s.Options.Seed, s.Cost, s.TimeFor(), s.bounded()}
}

// Provable says which effects trials can prove with the noise and the time that
// there are.
func (f Forecast) Provable() string {
	sizes := f.Judge.Looks.Sizes
	fits := slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > sizes[0] && f.pairTime(n) > f.Left })
	var first, last string
	for i, n := range fits {
		if first != "" && i < len(fits)-1 { // the first and the last say enough
			continue
		}
		effect := f.leastProven(n)
		if effect >= provableMost {
			continue
		}
		last = fmt.Sprintf("%+.0f %% and more in %d pairs (%s)", math.Ceil(stats.Percent(effect)), n, f.pairTime(n).Round(time.Second))
		if first == "" {
			first = last
		}
	}
	says := "with this noise a trial can prove " + cmp.Or(first, "only effects of × 4 and more")
	if last != first {
		says += ", " + last
	}
	if f.Bounded {
		says += fmt.Sprintf("; there are %s for trials", max(0, f.Left).Round(time.Second))
	}
	return says
}

// leastProven is the least effect that the judge proves in n pairs with a chance of
// 80 %, by simulated trials.
func (f Forecast) leastProven(n int) float64 {
	lo, hi := 0.0, provableMost
	for range provableSteps {
		if mid := (lo + hi) / 2; f.proves(mid, n) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// proves reports whether enough of the simulated trials of an effect are kept after n
// pairs or earlier. It ends when the rest cannot change that.
func (f Forecast) proves(effect float64, n int) bool {
	need := int(math.Ceil(provablePower * provableTrials))
	kept := 0
	for tried, keep := range f.trials(effect, n) {
		if keep {
			kept++
		}
		if kept == need {
			return true
		}
		if tried+1-kept > provableTrials-need {
			return false
		}
	}
	return false
}

// trials simulates trials of an effect, and tells of each whether it is kept after n
// pairs or earlier.
func (f Forecast) trials(effect float64, n int) iter.Seq2[int, bool] {
	return func(yield func(int, bool) bool) {
		rng := rand.New(rand.NewPCG(f.Seed, uint64(n))) // the same noise for each effect
		j := judge.NewJudge(f.Judge.Prior)
		sigma := f.Judge.Prior.SD() / math.Sqrt2 // of a run
		run := func(id int, effect float64) *iikanji.Run {
			return &iikanji.Run{ID: iikanji.RunID(id), Outcome: iikanji.Passed, Score: 1000 * math.Exp(effect+sigma*rng.NormFloat64())}
		}
		for i := range provableTrials {
			var c judge.Case
			for i := range 2 * CalibrationPairs.count() {
				c.Before = append(c.Before, run(i+1, 0))
			}
			for i := range n {
				at := len(c.Before) + 2*i
				p := judge.Pair{A: run(at+1, 0), B: run(at+2, effect)}
				if i%2 == 1 {
					p.A.ID, p.B.ID = p.B.ID, p.A.ID
				}
				c.Pairs = append(c.Pairs, p)
			}
			if !yield(i, keeps(j, c)) {
				return
			}
		}
	}
}

// keeps reports whether a judge, asked after each pair, keeps a change.
func keeps(j judge.Judge, c judge.Case) bool {
	for i := range c.Pairs {
		early := c
		early.Pairs = c.Pairs[:i+1]
		if call := j.Call(early); call != iikanji.CallUnknown {
			return call == iikanji.Keep
		}
	}
	return false
}

func (f Forecast) pairTime(n int) time.Duration { return time.Duration(2*n) * f.Cost }
