package isucondition

import (
	"math/rand/v2"
	"sync/atomic"
)

// The random walk of an ISU's state, per slot of a virtual minute.
const (
	sittingToggles                  = 0.11
	overweightComes, overweightRest = 2.0 / 5000, 12 * hourSeconds // only while someone sits
	dirtyComes, dirtyRest           = 2.0 / 5000, 18 * hourSeconds
	brokenComes, brokenRest         = 2.0 / 10000, 24 * hourSeconds
)

// A walk is the state of one ISU as it moves on. It starts all good; a bad
// flag stays until its owner repairs it, and does not come back for the flag's
// rest. Each slot takes the same number of draws, whatever was repaired, so
// that runs of one seed meet the same luck.
//
// A walk belongs to its poster; only repair may be called by others.
type walk struct {
	rng     *rand.Rand
	slot    int64 // of the state: Unix seconds / slotSeconds
	sitting bool
	flags   Flags
	rested  [3]int64 // slot from which on each of Broken, Overweight, Dirty may come
	repairs atomic.Uint32
}

// newWalk starts at a slot, all good and just repaired.
func newWalk(rng *rand.Rand, slot int64) *walk {
	w := &walk{rng: rng, slot: slot}
	w.mend(Broken|Overweight|Dirty, slot)
	return w
}

// repair asks for flags to be mended in the next slot.
func (w *walk) repair(f Flags) { w.repairs.Or(uint32(f)) }

func (w *walk) mend(f Flags, slot int64) {
	w.flags &^= f
	for i, rest := range [3]int64{brokenRest, overweightRest, dirtyRest} {
		if f&(1<<i) != 0 {
			w.rested[i] = slot + rest/slotSeconds
		}
	}
}

// step moves to the next slot and returns its report: a timestamp within 5 s
// of the slot, and the state.
func (w *walk) step() (ts int64, state state) {
	w.slot++
	jitter := int64(w.rng.IntN(11)) - 5
	if w.rng.Float64() < sittingToggles {
		w.sitting = !w.sitting
	}
	var luck [3]bool
	for i, p := range [3]float64{brokenComes, overweightComes, dirtyComes} {
		luck[i] = w.rng.Float64() < p
	}
	if f := w.repairs.Swap(0); f != 0 {
		w.mend(Flags(f), w.slot)
	}
	luck[1] = luck[1] && w.sitting
	for i := range luck {
		if luck[i] && w.slot >= w.rested[i] {
			w.flags |= 1 << i
		}
	}
	return w.slot*slotSeconds + jitter, stateOf(w.sitting, w.flags)
}

// newestSlot is the newest slot whose timestamp has surely passed at a virtual time.
func newestSlot(now int64) int64 { return (now - 5) / slotSeconds }
