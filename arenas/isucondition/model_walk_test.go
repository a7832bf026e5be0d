package isucondition

import (
	"math"
	"math/rand/v2"
	"testing"
)

func testWalk(seed uint64) *walk { return newWalk(rand.New(rand.NewPCG(seed, 1)), 1000) }

// TestWalkRates compares the shares of a long walk with the
// probabilities that the rules give.
func TestWalkRates(t *testing.T) {
	const steps = 2_000_000
	w := testWalk(1)
	toggles, sat, came := 0, 0, [3]int{}
	was := false
	for range steps {
		w.rested, w.flags = [3]int64{}, 0 // repaired at once, without rest
		_, s := w.step()
		if s.sitting() != was {
			toggles++
		}
		if was = s.sitting(); was {
			sat++
		}
		for i := range came {
			if s.flags()&(1<<i) != 0 {
				came[i]++
			}
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > want*0.1 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	near("sitting toggles", float64(toggles)/steps, sittingToggles)
	near("broken comes", float64(came[0])/steps, brokenComes)
	near("overweight comes while sitting", float64(came[1])/float64(sat), overweightComes)
	near("dirty comes", float64(came[2])/steps, dirtyComes)
}

// TestWalkRules checks each slot of a long walk against the rules.
func TestWalkRules(t *testing.T) {
	w := testWalk(2)
	rests := [3]int64{brokenRest, overweightRest, dirtyRest}
	var mended [3]int64
	for i := range mended {
		mended[i] = w.slot
	}
	last, before := int64(0), Flags(0)
	repairing := Flags(0)
	seen := Flags(0)
	for range 500_000 {
		ts, s := w.step()
		if ts <= last || ts < w.slot*slotSeconds-5 || ts > w.slot*slotSeconds+5 {
			t.Fatalf("timestamp %d in slot %d after %d", ts, w.slot, last)
		}
		last = ts
		for i, rest := range rests {
			f := Flags(1 << i)
			if repairing&f != 0 {
				mended[i] = w.slot
			}
			switch is, was := s.flags()&f != 0, before&f != 0; {
			case is && !was && w.slot < mended[i]+rest/slotSeconds:
				t.Fatalf("flag %d came in slot %d, mended in %d", f, w.slot, mended[i])
			case is && !was && f == Overweight && !s.sitting():
				t.Fatal("overweight while the seat is empty")
			case !is && was && repairing&f == 0:
				t.Fatalf("flag %d went away without repair", f)
			case is && repairing&f != 0:
				t.Fatalf("flag %d stayed in spite of repair", f)
			}
		}
		before, repairing = s.flags(), 0
		seen |= before
		if before == 7 {
			repairing = before
			w.repair(before)
		}
	}
	if seen != 7 {
		t.Errorf("only the flags %d came in half a million slots", seen)
	}
}

// TestWalkLuck checks that the random events of each slot are the same whatever
// the owners repair, and when.
func TestWalkLuck(t *testing.T) {
	a, b := testWalk(3), testWalk(3)
	for i := range 20_000 {
		if i%7 == 0 {
			b.repair(7)
		}
		tsA, sA := a.step()
		tsB, sB := b.step()
		if tsA != tsB || sA.sitting() != sB.sitting() {
			t.Fatalf("slot %d: the walks parted", i)
		}
	}
}
