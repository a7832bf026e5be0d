package judge

import (
	"math/rand/v2"

	"github.com/iikanji/iikanji"
)

// An Order is which run of a pair comes first.
type Order uint8

const (
	OrderUnknown Order = iota
	AB                 // the incumbent first
	BA                 // the candidate first
)

func (o Order) String() string {
	switch o {
	case AB:
		return "AB"
	case BA:
		return "BA"
	}
	return "unknown"
}

// NextOrder is the order of the pair after usable ones: the first by a seeded
// coin, then alternating, so that two pairs cancel a linear drift. A voided
// pair does not count and is repeated in its own order.
func NextOrder(seed uint64, change iikanji.ChangeID, usable int) Order {
	coin := rand.New(rand.NewPCG(seed, uint64(change))).IntN(2)
	if (coin+usable)%2 == 0 {
		return AB
	}
	return BA
}
