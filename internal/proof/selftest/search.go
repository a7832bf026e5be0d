package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// A Candidate is one candidate of a simulated search.
type Candidate struct {
	Effect float64 // true effect, as a share: 0.10 is +10 %
	// Promise is the gain on ln(score) that its finding expects; the candidate's
	// act expects 0.08 at least.
	Promise float64
}

// A Search is one kind of simulated search.
type Search struct {
	Name string
	World
	Candidates []Candidate
	Options    search.Options
	Fails      float64 // share of runs that fail their checks in any state
	Errors     float64 // median share of errors among the answers in any state
	// Overhead is the time of a run beyond its load: the reset and the rest. 0 is 3 s.
	Overhead time.Duration
	Say      func(at time.Duration, line string)
	// Trace receives each step with the state that it was decided from.
	Trace func(search.State, search.Step)
}

// candidates repeats n candidates of one effect.
func candidates(n int, effect float64) []Candidate {
	all := make([]Candidate, n)
	for i := range all {
		all[i].Effect = effect
	}
	return all
}

// options are those of iikanji tune, with a time limit; 0 is not a limit.
func options(limit time.Duration) search.Options {
	return search.Options{Time: limit, Short: 10 * time.Second, Full: time.Minute, Watch: 10 * time.Second, Pairs: 4}
}

// middle is the time from which a machine that becomes faster is faster.
func (s *Search) middle() time.Duration {
	if s.Options.Time > 0 {
		return s.Options.Time * 2 / 5
	}
	return 20 * time.Minute
}

// order is the order in which findings are listed: all promise alike unless
// their promises differ.
func (s *Search) order(rng *rand.Rand, n int) []int { return rng.Perm(n) }

// A Found is one change in force at the end of a search.
type Found struct {
	Truth  float64 // true effect on ln(score)
	Shown  float64 // the effect that iikanji expects of it
	Lo, Hi float64 // the interval shown beside it
	Alone  bool    // its gain was proven for it alone
}

// A Result is what one simulated search came to.
type Result struct {
	Found    []Found
	Possible float64 // sum of all true gains on ln(score)
	Missed   int     // candidates with a true gain that are not in force
	Final    float64 // true effect of the final state on ln(score)
	Covered  bool    // the headline's interval covers the truth
	Compared bool    // there is a headline with an interval
	Expected float64 // number of false keeps to expect, as the search states it
	Runs     int
	Took     time.Duration
	Attempts int
}

// Run runs the i-th search of a seed.
func (s *Search) Run(ctx context.Context, seed, i uint64) (*Result, error) {
	f := &site{machine: machine{World: s.World, rng: rand.New(rand.NewPCG(seed, i))}, search: *s,
		now: time.Unix(1e9, 0), files: map[string]string{}, effects: map[string]float64{}}
	f.began, f.verdicts = f.now, map[iikanji.ChangeID]iikanji.Verdict{}
	for k, c := range s.Candidates {
		f.effects[place(k)] = math.Log1p(c.Effect)
	}
	o := s.Options
	o.Seed = f.rng.Uint64()
	t := &tune.Tuner{Field: f, Acts: &change.Executor{Hands: f, Journal: f}, History: f, Options: o, Plan: f.plan,
		Now: func() time.Time { return f.now }, Say: s.say(f), Trace: s.Trace}
	out, err := t.Tune(ctx)
	if err != nil {
		return nil, fmt.Errorf("simulating search %d of %q: %w", i, s.Name, err)
	}
	return f.result(out), nil
}

// say prints the events of a search, for work on the method.
func (s *Search) say(f *site) func(string) {
	if s.Say == nil {
		return nil
	}
	return func(line string) { s.Say(f.now.Sub(f.began), line) }
}

// result compares an outcome with the truth.
func (s *site) result(out *tune.Outcome) *Result {
	r := &Result{Final: s.truth(), Runs: out.Runs, Took: out.Took, Attempts: len(out.Attempts), Expected: out.FalseKeeps}
	for _, a := range out.Attempts {
		for _, id := range a.Changes {
			name := s.changes[id-1].Do[0].Place
			if s.changes[id-1].Stage != iikanji.Kept || s.files[name] == "" {
				continue
			}
			v := s.verdicts[id]
			if len(a.Changes) == 1 {
				v = a.Verdict
			}
			r.Found = append(r.Found, Found{Truth: s.effects[name], Shown: v.Expect.Mid, Lo: v.Expect.Lo, Hi: v.Expect.Hi, Alone: len(a.Changes) == 1})
		}
	}
	for k := range s.search.Candidates {
		name := place(k)
		effect := s.effects[name]
		r.Possible += max(0, effect)
		if effect > 0 && s.files[name] == "" {
			r.Missed++
		}
	}
	if out.Ratio.Lo > 0 {
		r.Compared = true
		r.Covered = math.Log(out.Ratio.Lo) <= r.Final && r.Final <= math.Log(out.Ratio.Hi)
	}
	return r
}
