package selftest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
)

// A Goal is one limit that the method must keep, and what was measured.
type Goal struct {
	What     string `json:"what"`
	Goal     string `json:"goal"`
	Measured string `json:"measured"`
	OK       bool   `json:"ok"`
	Trials   int    `json:"trials,omitempty"`
	Searches int    `json:"searches,omitempty"`
}

// A measurement collects goals.
type measurement struct {
	ctx   context.Context
	seed  uint64
	scale float64 // of the numbers of trials and searches
	tell  Teller
	goals []Goal
	rows  []Row // of the scenes
	pairs []PairCost

	searches, errors int // simulated, and those that ended with an error
	firstError       string
}

// A Full is everything that a full self-test measures.
type Full struct {
	Goals []Goal
	Rows  []Row      // what the searches of each scene came to
	Costs []PairCost // how many pairs an effect costs
}

// A Teller is told what is measured; done and all count the worlds with their budgets, all is 0
// for other things.
type Teller func(what string, done, all int)

// MeasureAll measures every goal. scale multiplies the numbers of trials and searches; 1 is what
// the documentation's tables have. What was measured before an error is returned with it.
func MeasureAll(ctx context.Context, seed uint64, scale float64, tell Teller) (Full, error) {
	m := &measurement{ctx: ctx, seed: seed, scale: scale, tell: tell}
	for _, part := range []func() error{m.searchGoals, m.noops, m.powers, m.intervals, m.headlines, m.costs, m.scenes, m.noErrors} {
		if err := part(); err != nil {
			return Full{m.goals, m.rows, m.pairs}, err
		}
	}
	return Full{m.goals, m.rows, m.pairs}, nil
}

func (m *measurement) times(n int) int { return max(3, int(m.scale*float64(n))) }

// percent is a share with its interval.
func (s Share) percent() string {
	return fmt.Sprintf("%.2f %% (%.2f to %.2f)", 100*s.Mid, 100*s.Lo, 100*s.Hi)
}

// atMost reports whether a share is at most a limit. With fewer trials or searches than the
// goal is for, it is missed only if its whole interval is above the limit.
func (m *measurement) atMost(s Share, limit float64) bool {
	if m.scale < 1 {
		return s.Lo <= limit
	}
	return s.Mid <= limit
}

// atLeast reports likewise whether a share is at least a limit.
func (m *measurement) atLeast(s Share, limit float64) bool {
	if m.scale < 1 {
		return s.Hi >= limit
	}
	return s.Mid >= limit
}

// search measures one kind of search.
func (m *measurement) search(s Search, n int) (Tally, error) {
	m.tell(s.Name, 0, 0)
	t, err := s.Simulate(m.ctx, m.seed+1000, m.times(n), nil)
	m.note(&t)
	return t, err
}

func (m *measurement) add(what, goal, measured string, ok bool, trials, searches int) {
	m.goals = append(m.goals, Goal{what, goal, measured, ok, trials, searches})
}

// searchGoals measures the goals of whole searches.
func (m *measurement) searchGoals() error {
	three, five := World{Sigma: 0.03}, World{Sigma: 0.05}
	for _, limit := range []time.Duration{quarter, hour, 0} {
		t, err := m.search(nulls(five, limit), 1000)
		if err != nil {
			return err
		}
		s := share(t.AnyNull, t.Searches)
		m.add("15 × 0 %, 5 % noise, "+limitText(limit)+": one without effect in force", "≤ 8 %", s.percent(), m.atMost(s, 0.08), 0, t.Searches)
	}
	for _, w := range []World{three, five, {Sigma: 0.10}} {
		for _, limit := range []time.Duration{quarter, hour} {
			t, err := m.search(mixed(w, limit, 15, -0.03, 0, 0), 1000)
			if err != nil {
				return err
			}
			s := share(t.AnyHarm, t.Searches)
			m.add("15 × −3 %, "+w.label()+", "+limitText(limit)+": a harmful one in force", "≤ 1 %", s.percent(), m.atMost(s, 0.01), 0, t.Searches)
		}
	}
	t, err := m.search(mixed(three, quarter, 12, -0.03, 3, 0.20), 1000)
	if err != nil {
		return err
	}
	n := float64(t.Searches)
	m.add("12 × −3 %, 3 × +20 %, 15 min, 3 % noise: harmful ones in force", "≤ 0.2", fmt.Sprintf("%.3f", float64(t.Harmful)/n), float64(t.Harmful)/n <= 0.2, 0, t.Searches)
	s := share(t.AllGood, t.Searches)
	m.add("the same: all 3 good ones in force", "≥ 90 %", s.percent(), m.atLeast(s, 0.90), 0, 0)
	if t, err = m.search(mixed(three, quarter, 12, 0, 3, 0.08), 1000); err != nil {
		return err
	}
	n = float64(t.Searches)
	m.add("12 × 0 %, 3 × +8 %, 15 min, 3 % noise: ones without effect in force", "≤ 0.6", fmt.Sprintf("%.3f", float64(t.Null)/n), float64(t.Null)/n <= 0.6, 0, t.Searches)
	m.add("the same: good ones in force", "≥ 2.4", fmt.Sprintf("%.3f", float64(t.Good)/n), float64(t.Good)/n >= 2.4, 0, 0)
	for _, k := range []Search{mixed(five, quarter, 0, 0, 1, 0.15), mixed(five, hour, 0, 0, 6, 0.15)} {
		if t, err = m.search(k, 1000); err != nil {
			return err
		}
		s := share(t.Good, t.Good+t.Missed)
		m.add(fmt.Sprintf("%d × +15 %%, 5 %% noise, %s: in force", len(k.Candidates), limitText(k.Options.Time)), "≥ 98 %", s.percent(), m.atLeast(s, 0.98), 0, t.Searches)
	}
	return nil
}

// trials simulates n trials on all CPUs.
func (m *measurement) trials(w World, effect float64, seed uint64, n int) (TrialTally, error) {
	var all TrialTally
	var mu sync.Mutex
	var wg sync.WaitGroup
	n = m.times(n)
	const block = 500
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for first := range next {
				t := SimulateTrials(w, effect, JudgeRule, m.seed+seed, first, min(block, n-first))
				mu.Lock()
				all.Join(t)
				mu.Unlock()
			}
		})
	}
	for first := 0; first < n && m.ctx.Err() == nil; first += block {
		next <- first
	}
	close(next)
	wg.Wait()
	return all, m.ctx.Err()
}

// noops measures how often a change that does nothing is kept by one trial.
func (m *measurement) noops() error {
	for i, w := range Worlds() {
		m.tell("no-op: "+w.label(), 0, 0)
		t, err := m.trials(w, 0, 2000+uint64(i), 40_000)
		if err != nil {
			return err
		}
		s := share(t.Kept, t.Trials)
		m.add("one trial of a no-op, "+w.label()+": kept", "≤ 6 %", s.percent(), m.atMost(s, 0.06), t.Trials, 0)
	}
	return nil
}

// powers measures how often a gain of 10 % is kept by one trial, and how often × 1.8
// after two pairs on a noisy machine.
func (m *measurement) powers() error {
	m.tell("+10 %", 0, 0)
	t, err := m.trials(World{Sigma: 0.05}, 0.10, 3000, 40_000)
	if err != nil {
		return err
	}
	s := share(t.Kept, t.Trials)
	m.add("one trial of +10 %, 5 % noise: kept", "≥ 93 %", s.percent(), m.atLeast(s, 0.93), t.Trials, 0)
	m.add("the same: mean pairs", "≤ 4.5", fmt.Sprintf("%.2f", t.MeanPairs()), t.MeanPairs() <= 4.5, 0, 0)
	m.tell("× 1.8", 0, 0)
	if t, err = m.trials(World{Sigma: 0.20 / math.Sqrt2}, 0.80, 3001, 40_000); err != nil {
		return err
	}
	s = share(t.InTwo, t.Trials)
	m.add("one trial of × 1.8, a pair's noise of 20 %: kept after two pairs", "≥ 80 %", s.percent(), m.atLeast(s, 0.80), t.Trials, 0)
	return nil
}

// intervals measures the number and the interval shown for kept changes.
func (m *measurement) intervals() error {
	for _, x := range []struct {
		effect float64
		n      int
	}{{0, 60_000}, {0.02, 20_000}, {0.05, 8000}, {0.10, 8000}, {0.15, 8000}, {0.20, 8000}} {
		m.tell(fmt.Sprintf("intervals of %+.0f %%", 100*x.effect), 0, 0)
		t, err := m.trials(World{Sigma: 0.05}, x.effect, 4000, x.n)
		if err != nil {
			return err
		}
		s := share(t.Covered, t.Kept)
		m.add(fmt.Sprintf("the interval of a kept change of %+.0f %%, 5 %% noise: covers", 100*x.effect), "≥ 85 %", s.percent(), m.atLeast(s, 0.85), t.Trials, 0)
		if x.effect == 0 || x.effect == 0.02 || x.effect == 0.10 {
			shown := math.Expm1(t.Shown / float64(max(1, t.Kept)))
			m.add(fmt.Sprintf("the effect shown for a kept change of %+.0f %%, mean", 100*x.effect), "± 3 points", fmt.Sprintf("%+.2f %%", 100*shown), math.Abs(shown-x.effect) <= 0.03, 0, 0)
		}
	}
	return nil
}

// headlines measures the 90 % interval of the last comparison.
func (m *measurement) headlines() error {
	for i, w := range Worlds() {
		if w.Lucky { // a property of a trial's first runs
			continue
		}
		m.tell("headline: "+w.label(), 0, 0)
		n := m.times(20_000)
		s := share(Headline(w, m.seed+5000+uint64(i), n), n)
		m.add("the headline's 90 % interval, "+w.label()+": covers", "88 to 93 %", s.percent(), m.atLeast(s, 0.88) && m.atMost(s, 0.93), n, 0)
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
	}
	return nil
}
