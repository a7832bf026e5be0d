package mine

import "math/rand"

// Depths is the number of levels of a normal world, and Best are the levels at which the
// value for the time of digging can be highest.
const (
	Depths    = 10
	leastBest = 3
	bestRange = 5
)

// BestDepth is the level at which a seed's treasures are worth the most for the time of
// digging: 3 to 7. It has a generator of its own.
func BestDepth(seed int64) int { return leastBest + rand.New(rand.NewSource(seed)).Intn(bestRange) }

// firstValue is the value of a treasure at depth 1, and step is by how much the value for the
// time grows with each level up to the best one, and falls behind it.
const (
	firstValue = 4
	step       = 1.1
)

// digMillis is the nominal time of a dig at a depth in ms; digging down to a depth takes the
// sum.
func digMillis(depth int) float64 { return 1 + 0.1*float64(depth-1) }

// Values are the values of treasures by depth, the first at depth 1. A treasure pays about its
// value.
func Values(best int) []int {
	values := []int{firstValue}
	for depth := 2; depth <= Depths; depth++ {
		c := step
		if depth > best {
			c = 1 / step
		}
		last := float64(values[depth-2])
		values = append(values, int(last/untilMillis(depth-1)*c*untilMillis(depth)))
	}
	return values
}

// untilMillis is the nominal time of digging from the surface down to a depth, in ms.
func untilMillis(depth int) float64 {
	t := 0.0
	for d := 1; d <= depth; d++ {
		t += digMillis(d)
	}
	return t
}

// A payout is what a treasure may pay, both ends included.
type payout struct{ least, most int }

// payouts are those of a world by depth.
func payouts(s Size, values []int) []payout {
	all := make([]payout, 0, len(values))
	for _, v := range values {
		if s.Test {
			all = append(all, payout{v, 2 * v})
			continue
		}
		all = append(all, payout{v - v/4, v + v/4})
	}
	return all
}

// valuesOf are the values of a seed's world.
func valuesOf(s Size, seed int64) []int {
	if !s.Test {
		return Values(BestDepth(seed))
	}
	var values []int
	for v := 1; v <= s.Depth; v++ {
		values = append(values, v)
	}
	return values
}

// Supply is the number of coins of a world: enough if every treasure pays the most that any
// may pay.
func supply(s Size, pay []payout) int { return s.Treasures() * pay[len(pay)-1].most }
