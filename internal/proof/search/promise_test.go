package search

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// TestPromise checks the probability of a decision at the next look: high after a
// clear first pair, low after an unclear one, and 0 after the last look.
func TestPromise(t *testing.T) {
	after := func(pairs int, mid float64) iikanji.Verdict {
		v := iikanji.Verdict{Effect: iikanji.Interval{Mid: mid}, Worth: 0.01}
		v.Tried = make([]iikanji.RunID, pairs)
		return v
	}
	s := NewState(Options{})
	s.Judge.Prior.Var = 0.03 * 0.03
	looks := stats.PairLooks()
	if got := s.promiseOf(after(1, 0.35), looks); got < 0.17 || got > 0.18 { // 0.35 by two more runs, nearly certain
		t.Errorf("a plain gain promises %.3f a run, want 0.175", got)
	}
	plain, small, none := s.promiseOf(after(1, 0.35), looks), s.promiseOf(after(1, 0.02), looks), s.promiseOf(after(4, -0.02), looks)
	if !(plain > 5*small && small > 5*none) {
		t.Errorf("plain %.4f, small %.4f, none %.4f a run", plain, small, none)
	}
	if got := s.promiseOf(after(8, 0.35), looks); got != 0 {
		t.Errorf("after the last look: %v", got)
	}
}
