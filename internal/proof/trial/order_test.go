package trial

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// TestOpening: the first pair begins with the arm that the site is in, the second one with
// the other, and later ones by the coin. A trial that goes on has the coin from the start.
func TestOpening(t *testing.T) {
	for _, first := range []judge.Order{judge.AB, judge.BA} {
		o := Opening(first)
		if got := o.orderAfter(0, 1, 7); got != first {
			t.Errorf("the first pair of %v is %v", first, got)
		}
		if got := o.orderAfter(1, 1, 7); got == first {
			t.Errorf("the first two pairs are %v", got)
		}
	}
	coin := Opening(judge.OrderUnknown)
	for usable := range 8 {
		want := judge.NextOrder(3, 7, usable)
		if got := coin.orderAfter(usable, 3, 7); got != want {
			t.Errorf("pair %d is %v, want %v", usable+1, got, want)
		}
		if got := Opening(judge.AB).orderAfter(usable, 3, 7); usable >= 2 && got != want {
			t.Errorf("pair %d of a new trial is %v, want %v", usable+1, got, want)
		}
	}
}

// TestGoOn: the run that served an earlier pair is not the first A of the next one.
func TestGoOn(t *testing.T) {
	run := func(id int) *iikanji.Run { return &iikanji.Run{ID: iikanji.RunID(id)} }
	pairs := []judge.Pair{{A: run(1), B: run(2)}}
	for fresh, want := range map[int]bool{1: false, 3: true} {
		tr := &Trial{free: run(fresh)}
		if tr.GoOn(pairs); (tr.free != nil) != want || tr.Had != 1 || len(tr.Pairs()) != 0 {
			t.Errorf("run %d is free: %v, %d pairs, of which %d are new", fresh, tr.free != nil, tr.Had, len(tr.Pairs()))
		}
	}
}

// TestTouch: two changes touch if they alter a common place, and not by what they restart.
func TestTouch(t *testing.T) {
	of := func(ops ...iikanji.Op) *iikanji.Change { return &iikanji.Change{Do: ops} }
	file, other := iikanji.Op{Place: "/a", Expect: "1"}, iikanji.Op{Place: "/b", Expect: "1"}
	restart := iikanji.Op{Verb: iikanji.Restart, Place: "app"}
	if !Touch(of(file, restart), of(file)) || Touch(of(file, restart), of(other, restart)) {
		t.Error("a common file or a common restart is judged wrongly")
	}
}
