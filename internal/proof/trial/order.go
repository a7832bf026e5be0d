package trial

import (
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// MostRest bounds the random rest before each second pair: without it, a
// disturbance that comes at regular times always meets the same run of a pair.
const MostRest = 5 * time.Second

// restBefore draws the rest before the pair after usable ones, if it has one.
func restBefore(rng *rand.Rand, usable int) (rest time.Duration, drawn bool) {
	if usable%2 != 0 {
		return 0, false
	}
	return time.Duration(rng.Int64N(int64(MostRest))), true
}

// An Opening is the order of the first two pairs of a trial, which saves a switch between
// the arms; a trial that goes on with earlier pairs has none.
type Opening judge.Order

// orderAfter is the order of the pair after usable ones.
func (o Opening) orderAfter(usable int, seed uint64, change iikanji.ChangeID) judge.Order {
	first := judge.Order(o)
	switch {
	case first == judge.OrderUnknown || usable >= 2:
		return judge.NextOrder(seed, change, usable)
	case usable == 1:
		return judge.AB + judge.BA - first
	}
	return first
}
