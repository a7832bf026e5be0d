package isucondition

import "slices"

// A state is the content of one condition in a byte: three bits of Flags, a bit
// for sitting, and a bit that is set when the owner has read it for points.
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

// said returns the posted part: flags and sitting.
func (s state) said() state { return s & (7 | sittingBit) }

// A history holds every condition that one ISU has offered, in ascending order of
// time. An entry takes 9 bytes, because a run offers millions. It also records
// when the target first returned each condition.
type history struct {
	times  []int32 // seconds since T0
	states []state
	seen   []uint32 // when the target first returned it, in ms since the clock's origin plus 1; 0 means never
	loaded int      // number of leading entries that are initial data: the target has them from the start
}

// since converts Unix seconds to the stored form. ok is false if they are out of
// range.
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

// from returns the index of the first condition at or after a timestamp.
func (h *history) from(ts int64) int {
	d := min(max(ts-T0.Unix(), -1<<31), 1<<31-1)
	i, _ := slices.BinarySearch(h.times, int32(d))
	return i
}

// find returns the index of the condition with exactly this timestamp.
func (h *history) find(ts int64) (int, bool) {
	t, ok := since(ts)
	if !ok {
		return 0, false
	}
	return slices.BinarySearch(h.times, t)
}

// sight records that the target returned a condition at a time, in ms since the
// clock's origin. Only the first time is kept.
func (h *history) sight(i int, ms int64) {
	if h.seen[i] == 0 {
		h.seen[i] = uint32(max(ms, 0)) + 1
	}
}

// known reports whether the target had returned a condition at or before a time,
// in ms since the clock's origin.
func (h *history) known(i int, ms int64) bool {
	return i < h.loaded || h.seen[i] != 0 && int64(h.seen[i])-1 <= ms
}
