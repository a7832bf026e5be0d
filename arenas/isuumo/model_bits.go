package isuumo

import (
	"iter"
	"math/bits"
	"sync/atomic"
)

// A bitset is a set of positions of rows. All sets of one table have the same
// length.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// setOf returns the positions below n for which in is true.
func setOf(n int, in func(pos int32) bool) bitset {
	s := newBitset(n)
	for pos := range int32(n) {
		if in(pos) {
			s.add(pos)
		}
	}
	return s
}

func (s bitset) has(pos int32) bool { return s[pos/64]>>(pos%64)&1 != 0 }
func (s bitset) add(pos int32)      { s[pos/64] |= 1 << (pos % 64) }

// and keeps the positions that are in t too.
func (s bitset) and(t bitset) bitset {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

func (s bitset) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// all yields the positions in ascending order.
func (s bitset) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(int32(i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// A liveSet is a set of positions that many goroutines read and change.
type liveSet []atomic.Uint64

func newLiveSet(n int) liveSet { return make(liveSet, (n+63)/64) }

func (s liveSet) has(pos int32) bool { return s[pos/64].Load()>>(pos%64)&1 != 0 }
func (s liveSet) add(pos int32)      { s[pos/64].Or(1 << (pos % 64)) }
func (s liveSet) remove(pos int32)   { s[pos/64].And(^(uint64(1) << (pos % 64))) }

// copy returns the present members.
func (s liveSet) copy() bitset {
	c := make(bitset, len(s))
	for i := range s {
		c[i] = s[i].Load()
	}
	return c
}
