package judge

import (
	"math"
	"math/rand/v2"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/stats"
)

// A World is where simulated trials happen: what is true, and how noisy runs
// are. The zero value of each field but Sigma is what the method assumes.
type World struct {
	Name   string
	Effect float64 // of the change, as a share: 0.10 is +10 %
	Sigma  float64 // of ln(score) of a single run
	// NoPrior tries without any A/A pairs; otherwise the noise is estimated
	// from nine of them. PriorSigma above 0 says that they were run at another
	// time, when that was the noise of a run and nothing else disturbed it.
	NoPrior    bool
	PriorSigma float64
	Drift      float64 // of ln(score) from one run to the next
	Outliers   float64 // share of runs that score 30 % less
	Modes      float64 // distance on ln(score) of two modes, equally likely
	Together   float64 // correlation of one run's noise with the one before
}

// aaPairs is how many A/A pairs a simulated prior comes from: eight degrees of freedom.
const aaPairs = stats.MaxPriorDF + 1

// A Trial is the end of one simulated trial.
type Trial struct {
	Call  iikanji.Call
	Pairs int
}

// A Rule decides in a World by running as many runs as it needs.
type Rule func(w World, rng *rand.Rand) Trial

// JudgeRule is the real judge, fed with runs like any other.
func JudgeRule(w World, rng *rand.Rand) Trial {
	sim := &simulation{World: w, rng: rng}
	var prior stats.Prior
	if !w.NoPrior {
		prior = sim.prior()
	}
	j := NewJudge(prior)
	c := Case{Change: iikanji.Change{ID: 1}, Pairs: make([]Pair, 0, 8)}
	for {
		c.Pairs = append(c.Pairs, sim.pair(len(c.Pairs)))
		if v := j.Decide(c); v.Call != iikanji.CallUnknown {
			return Trial{v.Call, len(c.Pairs)}
		} else if v.Needed == 0 {
			panic("BUG: the judge neither decides nor asks for more")
		}
	}
}

// SingleRunRule keeps a change when one run scores better than one run before
// by more than a share, as people and other tools do.
func SingleRunRule(better float64) Rule {
	return func(w World, rng *rand.Rand) Trial {
		sim := &simulation{World: w, rng: rng}
		a, b := sim.run(false), sim.run(true)
		if b.Score > a.Score*(1+better) {
			return Trial{iikanji.Keep, 1}
		}
		return Trial{iikanji.Revert, 1}
	}
}

// A simulation makes runs one after the other.
type simulation struct {
	World
	rng  *rand.Rand
	ran  int
	last float64 // noise of the run before
	coin uint64
}

// run makes a run of the incumbent or of the candidate.
func (s *simulation) run(candidate bool) *iikanji.Run {
	s.last = s.Together*s.last + math.Sqrt(1-s.Together*s.Together)*s.rng.NormFloat64()
	y := math.Log(10_000) + s.Sigma*s.last + s.Drift*float64(s.ran)
	if candidate {
		y += math.Log1p(s.Effect)
	}
	if s.Outliers > 0 && s.rng.Float64() < s.Outliers {
		y += math.Log(0.7)
	}
	if s.Modes > 0 && s.rng.IntN(2) == 0 {
		y += s.Modes
	}
	s.ran++
	return &iikanji.Run{ID: iikanji.RunID(s.ran), Outcome: iikanji.Passed, Score: math.Exp(y)}
}

// pair runs the n-th pair (from 0) in the order that the method gives.
func (s *simulation) pair(n int) Pair {
	if n == 0 {
		s.coin = s.rng.Uint64()
	}
	if NextOrder(s.coin, 1, n) == BA {
		b := s.run(true)
		return Pair{A: s.run(false), B: b}
	}
	a := s.run(false)
	return Pair{A: a, B: s.run(true)}
}

// prior runs A/A pairs.
func (s *simulation) prior() stats.Prior {
	quiet := *s
	if s.PriorSigma > 0 {
		quiet.World = World{Sigma: s.PriorSigma}
	}
	quiet.Effect = 0
	pairs := make([]Pair, aaPairs)
	for i := range pairs {
		pairs[i] = quiet.pair(i)
	}
	s.ran, s.last = quiet.ran, quiet.last
	return Noise(pairs)
}

// A Tally counts how simulated trials ended.
type Tally struct {
	Trials, Kept, Reverted, Inconclusive, Pairs int
}

// Add counts one more.
func (t *Tally) Add(r Trial) {
	t.Trials++
	t.Pairs += r.Pairs
	switch r.Call {
	case iikanji.Keep:
		t.Kept++
	case iikanji.Revert:
		t.Reverted++
	case iikanji.Inconclusive:
		t.Inconclusive++
	}
}

// Join adds another tally's counts.
func (t *Tally) Join(o Tally) {
	t.Trials, t.Kept, t.Reverted = t.Trials+o.Trials, t.Kept+o.Kept, t.Reverted+o.Reverted
	t.Inconclusive, t.Pairs = t.Inconclusive+o.Inconclusive, t.Pairs+o.Pairs
}

// KeptShare is the share of trials that kept the change, 0…1.
func (t Tally) KeptShare() float64 { return float64(t.Kept) / float64(t.Trials) }

// MeanPairs is the mean number of pairs per trial.
func (t Tally) MeanPairs() float64 { return float64(t.Pairs) / float64(t.Trials) }

// Simulate runs trials first … first+n−1 of a world. Each trial has a seed of
// its own, so that a sum over parts is the same however it is cut.
func Simulate(w World, rule Rule, seed uint64, first, n int) Tally {
	var t Tally
	for i := first; i < first+n; i++ {
		t.Add(rule(w, rand.New(rand.NewPCG(seed, uint64(i)))))
	}
	return t
}
