package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// designed is a state with a design of n parts and so many random rows, whose score and work are
// what of says of the parts that are on, with a noise of 3 % and of 0.3 %.
func designed(n, rows int, of func(on []bool) (score, work float64)) *State {
	rng := rand.New(rand.NewPCG(5, 6))
	s := NewState(Options{Seed: 7})
	s.Judge = judge.NewJudge(stats.Prior{Var: 2 * 0.03 * 0.03, DF: 8})
	d := &Design{Most: rows + 1}
	for i := range n {
		d.Parts = append(d.Parts, Candidate{Remedy: iikanji.Remedy{Kind: "ddl", Target: "site", Args: map[string]string{"n": fmt.Sprint(i)}}, Chance: 0.5, Gain: 0.08})
	}
	run := func(on []bool) (float64, map[string]float64) {
		score, work := of(on)
		return score + 0.03*rng.NormFloat64(), map[string]float64{"database CPU": work * (1 + 0.003*rng.NormFloat64()), "app CPU": 1}
	}
	for range 2 {
		y, work := run(make([]bool, n))
		d.Base, d.BaseWork = append(d.Base, y), append(d.BaseWork, work)
	}
	for range rows {
		r := Row{On: make([]bool, n)}
		for i := range r.On {
			r.On[i] = rng.IntN(2) == 0
		}
		r.Y, r.Work = run(r.On)
		d.Rows = append(d.Rows, r)
	}
	s.Design = d
	return s
}

// TestSavings: the work of few rows shows which parts save some, and a part that saves none is
// less likely a gain by that.
func TestSavings(t *testing.T) {
	s := designed(10, 8, func(on []bool) (score, work float64) {
		return 0.08 * float64(bit(on[0])), 1 - 0.3*float64(bit(on[0])) - 0.2*float64(bit(on[3])) + 0.2*float64(bit(on[5]))
	})
	for i, got := range s.savings(s.Design) {
		saves, costs := i == 0 || i == 3, i == 5
		if (got.saves > 0.9) != saves || (got.costs > 0.9) != costs {
			t.Errorf("part %d: %+v", i, got)
		}
	}
	with := s.Effects(s.Design)
	s.Design.BaseWork = nil
	if s.savings(s.Design) != nil {
		t.Error("work of no run without the parts says something")
	}
	without := s.Effects(s.Design)
	idle, before := 0.0, 0.0
	for _, i := range []int{1, 2, 4, 6, 7, 8, 9} {
		idle, before = idle+with[i].Gain, before+without[i].Gain
	}
	if idle > 0.6*before || with[0].Gain < without[0].Gain {
		t.Errorf("the chance of the idle parts is %.2f instead of %.2f, of the first %.2f instead of %.2f", idle, before, with[0].Gain, without[0].Gain)
	}
}
