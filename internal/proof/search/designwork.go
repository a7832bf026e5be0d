package search

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// The work of a request varies a tenth as much as the score, and what changes save of it adds up,
// so that few runs of a design show which parts save some.

// A saving is what the work of a request says of a part: the probabilities that the part saves
// some, and that it costs some.
type saving struct{ saves, costs float64 }

// savings are what the work of the rows says of each part; nil if it says nothing.
func (s *State) savings(d *Design) []saving {
	if len(d.BaseWork) == 0 {
		return nil
	}
	usual := judge.MeanWork(d.BaseWork)
	moved := map[string][]float64{}
	none := make([]bool, len(d.Parts))
	var rows [][]bool
	add := func(work map[string]float64, on []bool) {
		rows = append(rows, on)
		for name, m := range judge.WorkMoved(work, usual) {
			moved[name] = append(moved[name], m)
		}
	}
	for _, w := range d.BaseWork {
		add(w, none)
	}
	for _, r := range d.Rows {
		if r.counts() {
			add(r.Work, r.On)
		}
	}
	if len(moved[judge.AllCPU]) != len(rows) || len(rows) == len(d.BaseWork) {
		return nil
	}
	says := make([]saving, len(d.Parts))
	for _, name := range slices.Sorted(maps.Keys(moved)) {
		y := moved[name]
		if len(y) == len(rows) {
			m := stats.Sparse{Rows: rows, Y: y, Noise: s.Judge.Work.Of(name), Usual: judge.UsualMoves}
			for range d.Parts {
				m.Slabs = append(m.Slabs, stats.Moves())
			}
			s.addSavings(says, m.Draws(s.rng(d), stats.FewDraws))
		}
	}
	return says
}

// addSavings adds what one kind of work says: of several the one that says most counts.
func (s *State) addSavings(says []saving, draws [][]float64) {
	n := float64(len(draws))
	for i := range says {
		saves, costs := 0.0, 0.0
		for _, draw := range draws {
			saves += float64(bit(draw[i] <= -judge.LeastMove)) / n
			costs += float64(bit(draw[i] >= judge.LeastMove)) / n
		}
		says[i].saves, says[i].costs = max(says[i].saves, saves), max(says[i].costs, costs)
	}
}
