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

// NextOrder is the order of the pair after usable ones. Each two pairs are ABBA or
// BAAB, by a seeded coin that is thrown anew: two pairs cancel a linear drift, and
// a disturbance that comes at regular times does not always meet the same arm. A
// voided pair does not count and is repeated in its own order.
func NextOrder(seed uint64, change iikanji.ChangeID, usable int) Order {
	coin := rand.New(rand.NewPCG(seed, uint64(change)<<16+uint64(usable/2))).IntN(2)
	if (coin+usable)%2 == 0 {
		return AB
	}
	return BA
}
