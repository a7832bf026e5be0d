package search

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// The runs of a design say two things more than the plain sum of effects. The work of a request
// varies a tenth as much as the score and adds up exactly, so that few runs show which parts save
// some. And a part may bring something beside a large one only, or without it only: what counts
// is its effect where the large one is, because that one stays.

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

// elsewhere adds to the model of a design that its parts may have other effects in the rows
// without a part that is certainly large: what the model says of a part is then its effect beside
// that one. It reports whether there is such a part and such rows.
func (s *State) elsewhere(d *Design, m *stats.Sparse) bool {
	draws := m.Draws(s.rng(d), stats.FewDraws)
	n := float64(len(draws))
	large := make([]bool, len(d.Parts))
	for i := range large {
		mean, gain := 0.0, 0.0
		for _, draw := range draws {
			mean, gain = mean+draw[i]/n, gain+float64(bit(draw[i] > 0))/n
		}
		large[i] = gain >= s.constant(Sure) && mean >= s.constant(Solid)
	}
	without := func(row []bool) bool {
		for i, is := range large {
			if is && !row[i] {
				return true
			}
		}
		return false
	}
	var parts []int // with a run without a large one
	for i, is := range large {
		for _, row := range m.Rows {
			if !is && row[i] && without(row) {
				parts = append(parts, i)
				break
			}
		}
	}
	for k, row := range m.Rows {
		longer := append(make([]bool, 0, len(row)+len(parts)), row...)
		for _, i := range parts {
			longer = append(longer, row[i] && without(row))
		}
		m.Rows[k] = longer
	}
	for range parts {
		m.Slabs = append(m.Slabs, stats.Elsewhere())
	}
	return len(parts) > 0
}
