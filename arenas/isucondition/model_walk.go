package isucondition

import (
	"math/rand/v2"
	"sync/atomic"
)

// The random walk of an ISU's state, with one slot per virtual minute.
const (
	sittingToggles                  = 0.11
	overweightComes, overweightRest = 2.0 / 5000, 12 * hourSeconds // only while someone sits
	dirtyComes, dirtyRest           = 2.0 / 5000, 18 * hourSeconds
	brokenComes, brokenRest         = 2.0 / 10000, 24 * hourSeconds
)

// A walk is the changing state of one ISU. It starts without flags. A flag stays
// until the owner repairs it, and cannot return during the flag's rest. Each slot
// takes the same number of random draws, whatever was repaired, so that runs of
// one seed get the same random events.
//
// A walk belongs to its poster; other goroutines may call repair only.
type walk struct {
	rng     *rand.Rand
	slot    int64 // slot of the current state: Unix seconds / slotSeconds
	sitting bool
	flags   Flags
	rested  [3]int64 // first slot in which each of Broken, Overweight, Dirty may return
	repairs atomic.Uint32
}

// newWalk starts at a slot, without flags and with all rests beginning there.
func newWalk(rng *rand.Rand, slot int64) *walk {
	w := &walk{rng: rng, slot: slot}
	w.mend(Broken|Overweight|Dirty, slot)
	return w
}

// repair clears flags in the next slot.
func (w *walk) repair(f Flags) { w.repairs.Or(uint32(f)) }

func (w *walk) mend(f Flags, slot int64) {
	w.flags &^= f
	for i, rest := range [3]int64{brokenRest, overweightRest, dirtyRest} {
		if f&(1<<i) != 0 {
			w.rested[i] = slot + rest/slotSeconds
		}
	}
}

// step moves to the next slot and returns its condition: a timestamp within 5 s of
// the slot, and the state.
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

// newestSlot returns the newest slot whose timestamp is certainly past at a
// virtual time.
func newestSlot(now int64) int64 { return (now - 5) / slotSeconds }
