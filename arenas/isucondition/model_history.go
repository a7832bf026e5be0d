package isucondition

import "slices"

// A state is what one condition says, in a byte: three bits of Flags, whether
// someone sits, and whether the owner has read it for points.
type state uint8

const (
	sittingBit state = 1 << 3
	readBit    state = 1 << 4
)

func stateOf(sitting bool, f Flags) state {
	if sitting {
		return state(f&7) | sittingBit
	}
	return state(f & 7)
}

func (s state) flags() Flags  { return Flags(s & 7) }
func (s state) sitting() bool { return s&sittingBit != 0 }
func (s state) level() Level  { return s.flags().Level() }

// saidBits leaves what was posted: flags and sitting.
func (s state) said() state { return s & (7 | sittingBit) }

// A history remembers every condition that one ISU has offered, in ascending
// order of time, at 9 bytes each: a run offers millions. It is also the ledger
// of freshness: when each condition was first given back by the target.
type history struct {
	times  []int32 // seconds since T0
	states []state
	seen   []uint32 // when it was first given back, in ms since the clock's origin plus 1; 0 is never
	loaded int      // so many of the first are initial data: the target has them from the start
}

// since turns Unix seconds to the form stored; ok is false where it is out of range.
func since(ts int64) (t int32, ok bool) {
	d := ts - T0.Unix()
	return int32(d), d == int64(int32(d))
}

func unixOf(t int32) int64 { return int64(t) + T0.Unix() }

// add appends a condition. Its timestamp must be above the last one's.
func (h *history) add(ts int64, s state) {
	t, ok := since(ts)
	if !ok || len(h.times) > 0 && t <= h.times[len(h.times)-1] {
		panic("BUG: timestamps of an ISU must increase")
	}
	h.times = append(h.times, t)
	h.states = append(h.states, s)
	h.seen = append(h.seen, 0)
}

func (h *history) len() int { return len(h.times) }

// from is the index of the first condition at or after a timestamp.
func (h *history) from(ts int64) int {
	d := min(max(ts-T0.Unix(), -1<<31), 1<<31-1)
	i, _ := slices.BinarySearch(h.times, int32(d))
	return i
}

// find is the index of the condition with exactly this timestamp.
func (h *history) find(ts int64) (int, bool) {
	t, ok := since(ts)
	if !ok {
		return 0, false
	}
	return slices.BinarySearch(h.times, t)
}

// sight notes that the target gave a condition back at a time, in ms since
// the clock's origin. The first sighting stands.
func (h *history) sight(i int, ms int64) {
	if h.seen[i] == 0 {
		h.seen[i] = uint32(max(ms, 0)) + 1
	}
}

// known says whether a condition had been given back at or before a time, in
// ms since the clock's origin.
func (h *history) known(i int, ms int64) bool {
	return i < h.loaded || h.seen[i] != 0 && int64(h.seen[i])-1 <= ms
}
