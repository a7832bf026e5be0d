package selftest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTwoLimits: on each site the indexes bring about × 4 together and each × 1.4 to 2.6 alone, a
// rewrite brings nothing before them and something after them, and the harmful changes harm.
func TestTwoLimits(t *testing.T) {
	for i := range uint64(200) {
		cs, truth := drawTwoLimits(rand.New(rand.NewPCG(4, i)))
		var indexes, rewrites, harmful, nulls Set
		for k, c := range cs {
			switch acts := truth.(*Stack).Acts[k]; {
			case acts == nil:
				nulls |= 1 << k
			case acts[0].Factor > 1:
				harmful |= 1 << k
			case c.Kind == Rewrite:
				rewrites |= 1 << k
			default:
				indexes |= 1 << k
			}
		}
		if n := nulls.Count(); n < 8 || n > 15 || harmful.Count() < 1 || harmful.Count() > 2 {
			t.Errorf("site %d: %d nulls, %d harmful", i, n, harmful.Count())
		}
		ratio := func(in Set) float64 { return math.Exp(truth.Score(in, 1)) }
		if r := ratio(indexes); r < 3 || r > 5 {
			t.Errorf("site %d: the indexes bring × %.2f", i, r)
		}
		all := indexes | rewrites
		for k := range cs {
			alone, last := ratio(setOf(k)), ratio(all|setOf(k))/ratio(all.Without(k))
			switch {
			case indexes.Has(k) && (alone < 1.4 || alone > 2.6),
				rewrites.Has(k) && (alone > 1.03 || last < 1.04),
				harmful.Has(k) && last > 0.95,
				nulls.Has(k) && last != 1:
				t.Errorf("site %d, change %d: alone × %.3f, at the end × %.3f", i, k, alone, last)
			}
		}
	}
}
