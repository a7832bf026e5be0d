package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// An oracle knows all of a simulated site but the noise of its runs and which candidate is which:
// what the changes do, alone and together, and that the candidates are some order of them. It
// gets the runs that the time of a search holds, but those of its last comparison and one to
// observe, chooses each as the one that tells most, and ends with the candidates that more likely
// than not belong to the best state. No search can be expected to do better by scores alone, so
// that its figures say whether a goal can be reached. It does not read the work of a request, nor
// what a diagnosis promises: sites with these have no oracle.

// An Oracle is what the oracle comes to in the searches of one scene and budget.
type Oracle struct {
	Runs           int     `json:"runs"`
	UselessInForce Measure `json:"useless_in_force"`
	Harmful        Measure `json:"harmful"`
	Share          Measure `json:"share"` // of the best ln ratio
}

// HasOracle reports whether the score tells all that a search can know of a site.
func (s *Search) HasOracle() bool {
	if s.Draw != nil || s.Options.Time <= 0 || s.Rounds > 1 || s.Counts || s.plainNoise() != s.Sigma || s.Sigma <= 0 {
		return false
	}
	if _, works := s.truth().(Worker); works {
		return false
	}
	for _, c := range s.Candidates {
		if c.Kind != Index || c.Late != 0 || c.Noise != 0 || c.Voids != 0 || c.Rows != 0 {
			return false
		}
	}
	return true
}

// plainNoise is the noise of a machine without any other disturbance; 0 of one that has some.
func (s *Search) plainNoise() float64 {
	w := s.World
	w.Name, w.Sigma = "", 0
	if w != (World{}) {
		return 0
	}
	return s.Sigma
}

// oracleRuns is how many runs the oracle has.
func (s *Search) oracleRuns() int {
	run := s.Options.Short + s.overhead()
	return max(0, int(s.Options.Time/run)-2*s.Options.Pairs-1)
}

// AskOracle simulates n searches of the oracle.
func (s *Search) AskOracle(ctx context.Context, seed uint64, n int) (Oracle, error) {
	best := bestOf(s.truth(), allows(s.Candidates))
	useless, harmful := 0, 0
	var shares Moments
	for i := range n {
		if err := ctx.Err(); err != nil {
			return Oracle{}, fmt.Errorf("asking the oracle of %q: %w", s.Name, err)
		}
		in := s.oracleSearch(rand.New(rand.NewPCG(seed, uint64(i))), best)
		idle, harm := false, false
		for k := range s.Candidates {
			if in.Has(k) {
				m := marginal(s.truth(), in, k, 1)
				idle, harm = idle || m == 0, harm || m < 0
			}
		}
		useless, harmful = useless+one(idle), harmful+one(harm)
		if best.Score > 0 {
			shares.add(s.truth().Score(in, 1) / best.Score)
		}
	}
	return Oracle{Runs: s.oracleRuns(), UselessInForce: shareOf(useless, n), Harmful: shareOf(harmful, n), Share: shares.measure()}, nil
}

// How the oracle searches.
const (
	oracleBeliefs   = 32 // orders of the candidates that it holds for likely
	oracleSwaps     = 60 // proposals to each after a run
	oracleProposals = 24 // states of which the one is run next that tells most
)

// An oracle is one search of the oracle.
type oracle struct {
	*Search
	rng     *rand.Rand
	truth   Truth
	states  []Set // of the runs
	y       []float64
	beliefs [][]int // each says which change each candidate is
}

// oracleSearch is the state with which one search of the oracle ends.
func (s *Search) oracleSearch(rng *rand.Rand, best Best) Set {
	o := &oracle{Search: s, rng: rng, truth: s.truth()}
	n := len(s.Candidates)
	for range oracleBeliefs {
		o.beliefs = append(o.beliefs, rng.Perm(n))
	}
	is := rng.Perm(n)
	for range s.oracleRuns() {
		in := o.choose()
		o.states = append(o.states, in)
		o.y = append(o.y, o.score(is, in)+s.Sigma*rng.NormFloat64())
		for _, b := range o.beliefs {
			for range oracleSwaps {
				o.swap(b, rng.IntN(n), rng.IntN(n))
			}
		}
	}
	var end Set
	for k := range n {
		votes := 0
		for _, b := range o.beliefs {
			votes += one(best.Sets[0].Has(b[k]))
		}
		if 2*votes > len(o.beliefs) {
			end |= 1 << is[k]
		}
	}
	return end
}

// score is the ln(score) of a state if the candidates are what a belief says.
func (o *oracle) score(belief []int, in Set) float64 {
	var changes Set
	for k, change := range belief {
		if in.Has(k) {
			changes |= 1 << change
		}
	}
	return o.truth.Score(changes, 1)
}

// choose is the state of the next run: of some random ones that of whose score the beliefs
// differ most.
func (o *oracle) choose() (best Set) {
	most := -1.0
	for range oracleProposals {
		in := Set(o.rng.Uint64()) & (1<<len(o.Candidates) - 1)
		var sum, square float64
		for _, b := range o.beliefs {
			y := o.score(b, in)
			sum, square = sum+y, square+y*y
		}
		n := float64(len(o.beliefs))
		if v := square/n - sum*sum/n/n; v > most {
			best, most = in, v
		}
	}
	return best
}

// swap proposes that two candidates are each what a belief takes the other for (Metropolis et
// al. 1953).
func (o *oracle) swap(belief []int, i, k int) {
	gain := 0.0
	for r, in := range o.states {
		if in.Has(i) == in.Has(k) {
			continue
		}
		before := o.y[r] - o.score(belief, in)
		belief[i], belief[k] = belief[k], belief[i]
		after := o.y[r] - o.score(belief, in)
		belief[i], belief[k] = belief[k], belief[i]
		gain += (before*before - after*after) / (2 * o.Sigma * o.Sigma)
	}
	if gain >= 0 || o.rng.Float64() < math.Exp(gain) {
		belief[i], belief[k] = belief[k], belief[i]
	}
}
