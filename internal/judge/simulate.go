package judge

import (
	"math"
	"math/rand/v2"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/stats"
)

// A World holds the parameters of simulated trials: the true effect and the
// noise of runs. The zero value of each field except Sigma is what the method
// assumes.
type World struct {
	Name   string
	Effect float64 // true effect of the change, as a share: 0.10 is +10 %
	Sigma  float64 // SD of ln(score) of a single run
	// NoPrior: the trial starts without A/A pairs. Otherwise the noise is
	// estimated from nine of them. If PriorSigma is above 0, it is the Sigma of
	// those pairs, as if they ran at another time, without drift and other
	// disturbances.
	NoPrior    bool
	PriorSigma float64
	Drift      float64 // drift of ln(score) from one run to the next
	Outliers   float64 // share of runs that score 30 % less
	Modes      float64 // distance on ln(score) between two modes, equally likely
	Together   float64 // correlation of a run's noise with that of the run before
}

// aaPairs is the number of A/A pairs for a simulated prior: eight degrees of
// freedom.
const aaPairs = stats.MaxPriorDF + 1

// A Trial is the result of one simulated trial.
type Trial struct {
	Call  iikanji.Call
	Pairs int
}

// A Rule decides a trial in a World, with as many runs as it needs.
type Rule func(w World, rng *rand.Rand) Trial

// JudgeRule is the real judge with simulated runs.
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
			panic("BUG: the judge neither decides nor needs more pairs")
		}
	}
}

// SingleRunRule keeps a change if one run scores better than one earlier run by
// more than a share, as is common practice.
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

// A simulation generates runs in sequence.
type simulation struct {
	World
	rng  *rand.Rand
	ran  int
	last float64 // noise of the previous run
	coin uint64
}

// run generates a run of the incumbent or of the candidate.
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

// pair generates the n-th pair (from 0), in the order that the method
// prescribes.
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

// prior generates A/A pairs and returns their prior.
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

// A Tally counts the results of simulated trials.
type Tally struct {
	Trials, Kept, Reverted, Inconclusive, Pairs int
}

// Add counts one trial.
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

// Join adds the counts of another tally.
func (t *Tally) Join(o Tally) {
	t.Trials, t.Kept, t.Reverted = t.Trials+o.Trials, t.Kept+o.Kept, t.Reverted+o.Reverted
	t.Inconclusive, t.Pairs = t.Inconclusive+o.Inconclusive, t.Pairs+o.Pairs
}

// KeptShare is the share of trials that kept the change, 0…1.
func (t Tally) KeptShare() float64 { return float64(t.Kept) / float64(t.Trials) }

// MeanPairs is the mean number of pairs per trial.
func (t Tally) MeanPairs() float64 { return float64(t.Pairs) / float64(t.Trials) }

// Simulate runs trials first … first+n−1 of a world. Each trial has its own
// seed, so the sum over parts does not depend on how the trials are split.
func Simulate(w World, rule Rule, seed uint64, first, n int) Tally {
	var t Tally
	for i := first; i < first+n; i++ {
		t.Add(rule(w, rand.New(rand.NewPCG(seed, uint64(i)))))
	}
	return t
}
