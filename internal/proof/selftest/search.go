package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/tune"
)

// A Search is one kind of simulated search.
type Search struct {
	Name string
	World
	Candidates []Candidate
	// Truth is what the states of the site score; nil is the sum of the candidates' effects.
	Truth Truth
	// Draw makes the candidates and the truth of each single search; nil uses those above.
	Draw    func(rng *rand.Rand) ([]Candidate, Truth)
	Options search.Options
	// Rounds is how many searches in a row have one history; 0 is one. The result is that of
	// the last one.
	Rounds int
	Counts bool    // the database counts the rows that it examines
	Fails  float64 // share of runs that fail their checks in any state
	Errors float64 // median share of errors among the answers in any state
	// Overhead is the time of a run beyond its load: the reset and the rest. 0 is 3 s.
	Overhead time.Duration
	Say      func(at time.Duration, line string)
	// Trace receives each step with the state that it was decided from.
	Trace func(search.State, search.Step)

	best *Best // of Truth, if it was computed before
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

// between is the time between two searches of one history.
const between = 10 * time.Minute

// truth is that of the search, if no single one has its own.
func (s *Search) truth() Truth {
	if s.Truth != nil {
		return s.Truth
	}
	return sumOf(s.Candidates)
}

// Run runs the i-th search of a seed.
func (s *Search) Run(ctx context.Context, seed, i uint64) (*Result, error) {
	f := s.site(rand.New(rand.NewPCG(seed, i)))
	var out *tune.Outcome
	runs := 0
	for round := range max(1, s.Rounds) {
		if round > 0 {
			f.pass(between)
		}
		f.began = f.now
		o := s.Options
		o.Seed = f.rng.Uint64()
		t := &tune.Tuner{Field: f, Acts: &change.Executor{Hands: f, Journal: f}, History: f, Options: o, Plan: f.plan,
			Now: func() time.Time { return f.now }, Say: s.say(f), Trace: s.Trace}
		var err error
		if out, err = t.Tune(ctx); err != nil {
			return nil, fmt.Errorf("simulating search %d of %q: %w", i, s.Name, err)
		}
		runs += out.Runs
	}
	r := f.result(out)
	r.Runs = runs
	return r, nil
}

// site is a site on which nothing was done yet.
func (s *Search) site(rng *rand.Rand) *site {
	f := &site{machine: machine{World: s.World, rng: rng}, search: *s, now: time.Unix(1e9, 0), files: map[string]string{},
		candidates: s.Candidates, keys: map[string]int{}}
	f.verdicts = map[iikanji.ChangeID]iikanji.Verdict{}
	switch {
	case s.Draw != nil:
		f.candidates, f.truth = s.Draw(rng)
	default:
		f.truth = s.truth()
	}
	if s.Sine > 0 {
		f.drawSine()
	}
	for k, c := range f.candidates {
		f.keys[search.KeyOf(c.remedy(k))] = k
	}
	return f
}

// say prints the events of a search, for work on the method.
func (s *Search) say(f *site) func(string) {
	if s.Say == nil {
		return nil
	}
	return func(line string) { s.Say(f.now.Sub(f.began), line) }
}
