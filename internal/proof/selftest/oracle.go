package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// An oracle knows all of a simulated site but the noise of its runs and which candidate is which:
// what the changes do, alone and together, of which kind each is, and that the candidates are some
// order of them. It gets the runs that the time of a search holds, but those of its last comparison
// and one to observe, chooses each as the one that tells most, and ends with the candidates that
// more likely than not belong to the best state. Where the site has services, it reads the CPU time
// of a request of each, and what the first diagnosis promises of each candidate. No search can be
// expected to do better, so that its figures say whether a goal can be reached.

// An Oracle is what the oracle comes to in the searches of one scene and budget.
type Oracle struct {
	Runs           int     `json:"runs"`
	UselessInForce Measure `json:"useless_in_force"`
	Harmful        Measure `json:"harmful"`
	Share          Measure `json:"share"` // of the best ln ratio
}

// HasOracle reports whether the oracle reads all that a search can know of a site.
func (s *Search) HasOracle() bool {
	if s.Options.Time <= 0 || s.Rounds > 1 || s.Counts || s.plainNoise() != s.Sigma || s.Sigma <= 0 {
		return false
	}
	_, works := s.truth().(Worker)
	if s.Draw != nil {
		return true
	}
	for _, c := range s.Candidates {
		if c.Kind != Index && (c.Kind == Knob || !works) || c.Differs || c.Late != 0 || c.Noise != 0 || c.Voids != 0 || c.Rows != 0 {
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
	useless, harmful := 0, 0
	var shares Moments
	for i := range n {
		if err := ctx.Err(); err != nil {
			return Oracle{}, fmt.Errorf("asking the oracle of %q: %w", s.Name, err)
		}
		o := s.newOracle(rand.New(rand.NewPCG(seed, uint64(i))))
		in := o.search()
		idle, harm := false, false
		for k := range o.candidates {
			if in.Has(k) {
				m := marginal(o.truth, in, k, 1)
				idle, harm = idle || m == 0, harm || m < 0
			}
		}
		useless, harmful = useless+one(idle), harmful+one(harm)
		if o.best.Score > 0 {
			shares.add(o.truth.Score(in, 1) / o.best.Score)
		}
	}
	return Oracle{Runs: s.oracleRuns(), UselessInForce: shareOf(useless, n), Harmful: shareOf(harmful, n), Share: shares.measure()}, nil
}

// How the oracle searches.
const (
	oracleBeliefs   = 32 // orders of the candidates that it holds for likely
	oracleSwaps     = 60 // proposals to each after a run
	oracleProposals = 24 // states of which the one is run next that tells most
	// oraclePromise is how far off promises are, on ln: by a factor of 2. Those of changes
	// that save nothing are anywhere between 0.02 and 0.3.
	oraclePromise = math.Ln2
	nullPromises  = 2.7 // that range, on ln
	// oracleWork is the least noise of the CPU time of a request that the oracle trusts: with
	// less, its beliefs would stay at the first that fits.
	oracleWork = 0.02
)

// An oracle is one search of the oracle.
type oracle struct {
	*Search
	rng        *rand.Rand
	candidates []Candidate
	truth      Truth
	best       Best
	is         []int // which change each candidate is
	states     []Set // of the runs
	y          [][]float64
	noise      []float64   // of what is read of a run
	promised   [][]float64 // ln likelihood of what a candidate promises if it is a change; nil without a diagnosis
	beliefs    [][]int     // each says which change each candidate is
}

// newOracle is a search of the oracle on which nothing was run yet.
func (s *Search) newOracle(rng *rand.Rand) *oracle {
	o := &oracle{Search: s, rng: rng, candidates: s.Candidates, noise: []float64{s.Sigma}}
	if s.Draw != nil {
		o.candidates, o.truth = s.Draw(rng)
	} else {
		o.truth = s.truth()
	}
	o.best = bestOf(o.truth, allows(o.candidates))
	o.is = o.order()
	for range oracleBeliefs {
		o.beliefs = append(o.beliefs, o.order())
	}
	if work, ok := o.truth.(Worker); ok {
		for r := range Resources {
			if r.usesCPU() {
				o.noise = append(o.noise, max(oracleWork, countNoise*s.Sigma))
			}
		}
		o.promised = o.promises(work)
	}
	return o
}

// order is a random order of the candidates that exchanges those of one kind only.
func (o *oracle) order() []int {
	is := make([]int, len(o.candidates))
	var of [kinds][]int
	for k, c := range o.candidates {
		of[c.Kind] = append(of[c.Kind], k)
	}
	for _, ks := range of {
		for i, p := range o.rng.Perm(len(ks)) {
			is[ks[i]] = ks[p]
		}
	}
	return is
}

// promises are ln likelihoods of what each candidate promises if it is each of the changes.
func (o *oracle) promises(work Worker) [][]float64 {
	n := len(o.candidates)
	gain := make([]float64, n)
	for change := range n {
		gain[change] = -math.Log1p(-min(0.99, work.Touched(0, change)))
	}
	all := make([][]float64, n)
	for k := range n {
		shown := math.Log(max(1e-3, o.candidates[o.is[k]].Promise, gain[o.is[k]]))
		for change := range n {
			l := -math.Log(nullPromises)
			if gain[change] > 0 {
				z := (shown - math.Log(gain[change])) / oraclePromise
				l = -z*z/2 - math.Log(oraclePromise*math.Sqrt(2*math.Pi))
			}
			all[k] = append(all[k], l)
		}
	}
	return all
}

// search is the state with which the search ends.
func (o *oracle) search() Set {
	n := len(o.candidates)
	o.swaps() // by what the candidates promise
	for range o.oracleRuns() {
		in := o.choose()
		y := o.reads(o.is, in)
		for i := range y {
			y[i] += o.trueNoise(i) * o.rng.NormFloat64()
		}
		o.states, o.y = append(o.states, in), append(o.y, y)
		o.swaps()
	}
	var end Set
	for k := range n {
		votes := 0
		for _, b := range o.beliefs {
			votes += one(o.best.Sets[0].Has(b[k]))
		}
		if 2*votes > len(o.beliefs) {
			end |= 1 << o.is[k]
		}
	}
	return end
}

// trueNoise is that of what is read of a run: the score, then the CPU times.
func (o *oracle) trueNoise(i int) float64 {
	if i == 0 {
		return o.Sigma
	}
	return countNoise * o.Sigma
}

// changes are those of a state if the candidates are what a belief says.
func changes(belief []int, in Set) (all Set) {
	for k, change := range belief {
		if in.Has(k) {
			all |= 1 << change
		}
	}
	return all
}

// reads is what a run of a state shows if the candidates are what a belief says, without noise:
// ln of the score, and of the CPU time of a request of each service.
func (o *oracle) reads(belief []int, in Set) []float64 {
	of := changes(belief, in)
	y := []float64{o.truth.Score(of, 1)}
	if work, ok := o.truth.(Worker); ok {
		for r, w := range work.Work(of) {
			if Resource(r).usesCPU() {
				y = append(y, math.Log(max(w, 1e-6)))
			}
		}
	}
	return y
}

// choose is the state of the next run: of some random ones that of which the beliefs differ
// most. Half of them are near the best state by one belief: what matters there may not matter
// elsewhere.
func (o *oracle) choose() (next Set) {
	most := -1.0
	for i := range oracleProposals {
		in := Set(o.rng.Uint64()) & (1<<len(o.candidates) - 1)
		if i%2 == 0 {
			in = o.near(o.beliefs[o.rng.IntN(len(o.beliefs))])
		}
		sum, square := make([]float64, len(o.noise)), make([]float64, len(o.noise))
		for _, b := range o.beliefs {
			for j, y := range o.reads(b, in) {
				sum[j], square[j] = sum[j]+y, square[j]+y*y
			}
		}
		n, v := float64(len(o.beliefs)), 0.0
		for j := range sum {
			v += (square[j]/n - sum[j]*sum[j]/n/n) / (o.noise[j] * o.noise[j])
		}
		if v > most {
			next, most = in, v
		}
	}
	return next
}

// near is the best state by a belief with a quarter of the candidates otherwise.
func (o *oracle) near(belief []int) (in Set) {
	for k, change := range belief {
		if o.best.Sets[0].Has(change) != (o.rng.IntN(4) == 0) {
			in |= 1 << k
		}
	}
	return in
}

// swaps proposes changes of each belief after a run.
func (o *oracle) swaps() {
	n := len(o.candidates)
	for _, b := range o.beliefs {
		misfit := make([]float64, len(o.states))
		for r, in := range o.states {
			misfit[r] = o.misfit(b, r, in)
		}
		for range oracleSwaps {
			o.swap(b, misfit, o.rng.IntN(n), o.rng.IntN(n))
		}
	}
}

// misfit is half the sum of squares by which a run is not what a belief expects.
func (o *oracle) misfit(belief []int, run int, in Set) float64 {
	sum := 0.0
	for j, y := range o.reads(belief, in) {
		d := (o.y[run][j] - y) / o.noise[j]
		sum += d * d / 2
	}
	return sum
}

// swap proposes that two candidates are each what a belief takes the other for (Metropolis et
// al. 1953). misfit is that of each run by the belief.
func (o *oracle) swap(belief []int, misfit []float64, i, k int) {
	if o.candidates[belief[i]].Kind != o.candidates[belief[k]].Kind || i == k {
		return
	}
	gain := 0.0
	if o.promised != nil {
		gain = o.promised[i][belief[k]] + o.promised[k][belief[i]] - o.promised[i][belief[i]] - o.promised[k][belief[k]]
	}
	belief[i], belief[k] = belief[k], belief[i]
	after := map[int]float64{}
	for r, in := range o.states {
		if in.Has(i) != in.Has(k) {
			after[r] = o.misfit(belief, r, in)
			gain += misfit[r] - after[r]
		}
	}
	if gain < 0 && o.rng.Float64() >= math.Exp(gain) {
		belief[i], belief[k] = belief[k], belief[i]
		return
	}
	for r, m := range after {
		misfit[r] = m
	}
}
