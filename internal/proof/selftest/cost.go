package selftest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/iikanji/iikanji"
)

// A PairCost is the least effect that a trial keeps with a chance of 80 % within some pairs.
type PairCost struct {
	Noise   float64   `json:"noise_of_a_pair"`
	Effects []float64 `json:"least_effects"` // as shares, for each of CostPairs
}

// CostPairs are the numbers of pairs of a PairCost.
var CostPairs = [...]int{2, 3, 4, 5, 6, 8}

// costNoises are the noises of a pair for which a cost is measured.
var costNoises = [...]float64{0.03, 0.05, 0.10, 0.20, 0.30}

const (
	costPower = 0.8 // chance with which an effect must be kept
	mostCost  = 1.2 // largest effect on ln(score) that is looked for
	costSteps = 9   // halvings of it
)

// costs measures what effects cost, on all CPUs.
func (m *measurement) costs() error {
	m.pairs = make([]PairCost, len(costNoises))
	n := m.times(1000)
	type job struct{ noise, pairs int }
	jobs := make(chan job)
	var wg sync.WaitGroup
	for i, noise := range costNoises {
		m.pairs[i] = PairCost{noise, make([]float64, len(CostPairs))}
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				m.pairs[j.noise].Effects[j.pairs] = leastEffect(costNoises[j.noise], CostPairs[j.pairs], m.seed+7000, n)
			}
		})
	}
	m.tell("what effects cost", 0, 0)
	for i := range costNoises {
		for k := range CostPairs {
			if m.ctx.Err() == nil {
				jobs <- job{i, k}
			}
		}
	}
	close(jobs)
	wg.Wait()
	return m.ctx.Err()
}

// leastEffect is the least effect, as a share, that n trials keep with the power within some
// pairs.
func leastEffect(noise float64, pairs int, seed uint64, n int) float64 {
	w := World{Sigma: noise / math.Sqrt2}
	lo, hi := 0.0, mostCost
	for range costSteps {
		mid := (lo + hi) / 2
		kept := 0
		for i := range n {
			r := JudgeRule(w, math.Expm1(mid), rand.New(rand.NewPCG(seed, uint64(i)))) // the same noise for each effect
			kept += one(r.Call == iikanji.Keep && r.Pairs <= pairs)
		}
		if float64(kept) >= costPower*float64(n) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Expm1(hi)
}
