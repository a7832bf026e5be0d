package tally

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
)

// A Table maps keys to values with a limit of keys, which bounds the memory
// that a hostile log can use. If there are more keys, those with the smallest
// hashes are kept and all others are folded into one overflow value. A key
// among the smallest of the whole log is among the smallest of every part of
// it, so a kept key was counted from its first occurrence on, and merging
// tables gives the same keys and values in any order.
//
// A Table is not safe for concurrent use. Keys are copied on insertion only.
type Table[V any] struct {
	limit    int
	fold     func(into, from *V)
	slots    []slot[V] // open addressing, a power of two
	n        int
	ceiling  uint64 // hashes above it overflow; 0 for none
	overflow *V
	spilled  bool
}

type slot[V any] struct {
	hash  uint64 // 0 marks an empty slot
	entry *entry[V]
}

type entry[V any] struct {
	key   []byte
	value V
}

// NewTable returns an empty table. fold adds one value to another; it is called
// when keys overflow and when tables merge, and must not keep from.
func NewTable[V any](limit int, fold func(into, from *V)) *Table[V] {
	return &Table[V]{limit: max(limit, 1), fold: fold, slots: make([]slot[V], 64), overflow: new(V)}
}

// At returns the value of a key and creates it if needed. Keys that do not fit
// share the overflow value. The pointer is valid until the next At.
func (t *Table[V]) At(key []byte) *V {
	h := Hash(key, 0) | 1
	mask := uint64(len(t.slots) - 1)
	i := h >> 1 & mask
	for ; t.slots[i].hash != 0; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == h && bytes.Equal(s.entry.key, key) {
			return &s.entry.value
		}
	}
	if t.ceiling != 0 && h > t.ceiling {
		t.spilled = true
		return t.overflow
	}
	e := &entry[V]{key: bytes.Clone(key)}
	t.slots[i] = slot[V]{h, e}
	if t.n++; t.n*2 > len(t.slots) {
		t.rehash(2 * len(t.slots))
	}
	if t.n >= 2*t.limit {
		t.shrink()
		return t.At(key) // the key may have overflowed
	}
	return &e.value
}

func (t *Table[V]) rehash(size int) {
	old := t.slots
	t.slots = make([]slot[V], size)
	for _, s := range old {
		if s.hash != 0 {
			t.place(s)
		}
	}
}

func (t *Table[V]) place(s slot[V]) {
	mask := uint64(len(t.slots) - 1)
	i := s.hash >> 1 & mask
	for t.slots[i].hash != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// shrink keeps the limit of keys with the smallest hashes. Keys of equal hash
// are kept or dropped together, so that the choice does not depend on order.
func (t *Table[V]) shrink() {
	if t.n <= t.limit {
		return
	}
	all := make([]slot[V], 0, t.n)
	for _, s := range t.slots {
		if s.hash != 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b slot[V]) int { return cmp.Compare(a.hash, b.hash) })
	keep := t.limit
	for keep > 0 && all[keep-1].hash == all[keep].hash {
		keep--
	}
	t.ceiling = all[keep].hash - 1
	t.spilled = true
	for _, s := range all[keep:] {
		t.fold(t.overflow, &s.entry.value)
	}
	t.slots, t.n = make([]slot[V], len(t.slots)), keep
	for _, s := range all[:keep] {
		t.place(s)
	}
}

// Merge adds all of o, which must not be used afterwards.
func (t *Table[V]) Merge(o *Table[V]) {
	if o.ceiling != 0 && (t.ceiling == 0 || o.ceiling < t.ceiling) {
		t.ceiling = o.ceiling
		t.lower()
	}
	for _, s := range o.slots {
		if s.hash != 0 {
			t.fold(t.At(s.entry.key), &s.entry.value)
		}
	}
	if o.spilled {
		t.fold(t.overflow, o.overflow)
		t.spilled = true
	}
}

// lower moves the keys above a ceiling from another table to the overflow.
func (t *Table[V]) lower() {
	old := t.slots
	t.slots, t.n = make([]slot[V], len(old)), 0
	for _, s := range old {
		switch {
		case s.hash == 0:
		case s.hash > t.ceiling:
			t.fold(t.overflow, &s.entry.value)
			t.spilled = true
		default:
			t.place(s)
			t.n++
		}
	}
}

// Settle reduces the table to its limit; before, it holds up to twice as many
// keys. Call it once after the last Merge.
func (t *Table[V]) Settle() { t.shrink() }

// Overflow returns the value of all keys that did not fit; ok reports whether
// there were any.
func (t *Table[V]) Overflow() (v *V, ok bool) { return t.overflow, t.spilled }

// All yields keys and values in no order; the keys must not be changed.
func (t *Table[V]) All() iter.Seq2[[]byte, *V] {
	return func(yield func([]byte, *V) bool) {
		for _, s := range t.slots {
			if s.hash != 0 && !yield(s.entry.key, &s.entry.value) {
				return
			}
		}
	}
}
