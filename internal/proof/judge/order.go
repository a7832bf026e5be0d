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

// FinalOrder is the order of a pair of the last comparison after usable ones. Two pairs are
// ABBA or BAAB by a coin. More have their own order in blocks of four: a pair is opposite to
// the one two before it, and to the one three before it wherever two of a block are. What
// happens in each third or fourth run then meets both arms, as does a steady drift.
func FinalOrder(seed uint64, pairs, usable int) Order {
	if pairs <= 2 {
		return NextOrder(seed, 0, usable)
	}
	coin := rand.New(rand.NewPCG(seed, uint64(usable/4))).IntN(2)
	if (coin+usable%4/2)%2 == 0 {
		return AB
	}
	return BA
}

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
