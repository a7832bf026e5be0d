package selftest

import (
	"math"
	"math/rand/v2"

	"github.com/iikanji/iikanji/internal/proof/judge"
)

// headlinePairs is how many pairs of full runs the last comparison has.
const headlinePairs = 4

// Headline simulates n last comparisons in a world and counts those whose 90 %
// interval covers the true ratio.
func Headline(w World, seed uint64, n int) (covered int) {
	truth := math.Log(2)
	for i := range n {
		t := newTrial(w, 1, rand.New(rand.NewPCG(seed, uint64(i))))
		pairs := make([]judge.Pair, headlinePairs)
		for k := range pairs {
			pairs[k] = t.pair(k)
		}
		if c := judge.Compare(pairs); c.Effect.Lo <= truth && truth <= c.Effect.Hi {
			covered++
		}
	}
	return covered
}
