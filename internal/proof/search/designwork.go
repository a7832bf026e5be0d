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

// A follower is the CPU time of a request of a service, or of all, in the runs of a design. The score
// follows it as far as it is the limit, which few slopes say of all parts at once: a part is expected
// to bring what it saves of it, and that is known from few runs.
type follower struct {
	column []float64   // what each run, those before the design included, saves of it
	moves  [][]float64 // draws of what each part saves of it
}

// followers are the CPU times of the services; nil if the work of the runs is not known.
func (s *State) followers(d *Design) (all []follower) {
	if len(d.BaseWork) == 0 || len(d.BaseWork) != len(d.Base) {
		return nil
	}
	usual := judge.MeanWork(d.BaseWork)
	rows, works := d.counting()
	columns := map[string][]float64{}
	for _, w := range works {
		for name, saved := range judge.CPUSaved(w, usual) {
			columns[name] = append(columns[name], saved)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		column := columns[name]
		if len(column) != len(rows) || len(rows) == len(d.Base) {
			continue
		}
		m := stats.Sparse{Rows: rows, Y: column, Noise: s.Judge.Work.OfShare(name, usual), Usual: judge.UsualMoves}
		for range d.Parts {
			m.Slabs = append(m.Slabs, stats.Moves())
		}
		all = append(all, follower{column, m.Draws(s.rng(d), stats.FewDraws)})
	}
	return all
}

// counting are the rows that count, after the runs before the design, with the work of each.
func (d *Design) counting() (rows [][]bool, works []map[string]float64) {
	none := make([]bool, len(d.Parts))
	for _, w := range d.BaseWork {
		rows, works = append(rows, none), append(works, w)
	}
	for _, r := range d.Rows {
		if r.counts() {
			rows, works = append(rows, r.On), append(works, r.Work)
		}
	}
	return rows, works
}

// follow adds to the effect of each part in each draw what it saves of the followers, by their
// slopes, which come after the effects.
func follow(draws [][]float64, parts int, followers []follower) {
	for i, draw := range draws {
		for k, f := range followers {
			slope, moves := draw[parts+k], f.moves[i%len(f.moves)]
			for part := range parts {
				draw[part] += slope * moves[part]
			}
		}
		draws[i] = draw[:parts]
	}
}
