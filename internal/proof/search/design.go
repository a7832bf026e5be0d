package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A Design is an experiment under way in which each run has some of several candidates. What
// the runs say of each is their fit by a linear model, so that it orders and suggests: an
// interaction of two candidates can look like the effect of a third.
type Design struct {
	Parts []Candidate `json:"parts"` // those that were planned
	Rows  []Row       `json:"rows,omitempty"`
	// Base is ln(score) of the runs without any of them right before.
	Base []float64 `json:"base,omitempty"`
	// BaseWork is the work per request of these runs.
	BaseWork []map[string]float64 `json:"base_work,omitempty"`
	// Most is how many rows it may have.
	Most int `json:"most,omitempty"`
	// Stopped is why the design cannot be finished. Learned: because of what the search did
	// not know, that initialize makes tables anew.
	Stopped string `json:"stopped,omitempty"`
	Learned bool   `json:"learned,omitempty"`
}

// A Row is one run of a design.
type Row struct {
	Run iikanji.RunID `json:"run"`
	On  []bool        `json:"on"`          // which parts it had
	Y   float64       `json:"y,omitempty"` // ln(score)
	// Work is the work per request, by its name.
	Work map[string]float64 `json:"work,omitempty"`
	// Void is why the run does not count, and Failed why it shows that a part breaks the site.
	Void   string `json:"void,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// NewDesign is a design of some candidates that begins now; base are ln(score) of the latest
// runs without them, of which there are at most MostBase.
func (s *State) NewDesign(parts []Candidate, base []float64) *Design {
	return &Design{Parts: parts, Base: base, Most: max(s.count(FewestRows), s.designRuns(parts))}
}

// MostBase is how many of the incumbent's latest runs a design begins with.
func (s *State) MostBase() int { return s.count(MostBase) }

func (r Row) counts() bool { return r.Void == "" && r.Failed == "" }

// counted is how many rows count.
func (d *Design) counted() int {
	n := 0
	for _, r := range d.Rows {
		n += bit(r.counts())
	}
	return n
}

// clears reports whether a row that counts had a part.
func (d *Design) clears(part int) bool {
	return slices.ContainsFunc(d.Rows, func(r Row) bool { return r.counts() && r.On[part] })
}

// Culprits are the parts that break the site, with the reason: a row with them failed whose
// other parts did not fail elsewhere. Suspects are the parts of which one or more must be.
func (d *Design) Culprits() (culprits map[int]string, suspects []int) {
	culprits = map[int]string{}
	for range d.Parts { // each culprit may explain other rows
		suspects = nil
		for _, r := range d.Rows {
			if r.Failed == "" {
				continue
			}
			var of []int
			for i, on := range r.On {
				if _, known := culprits[i]; on && known {
					of = nil
					break
				}
				if on && !d.clears(i) {
					of = append(of, i)
				}
			}
			if len(of) == 1 {
				culprits[of[0]] = r.Failed
			}
			suspects = append(suspects, of...)
		}
	}
	slices.Sort(suspects)
	return culprits, slices.Compact(suspects)
}

// voids reports whether rows with a part are void more often than those without it. Such a part
// is tried in pairs, in which the judge decides.
func (s *State) voids(d *Design, part int) bool {
	var with, without, runsWith, runsWithout int
	for _, r := range d.Rows {
		void := bit(r.Void != "")
		if r.On[part] {
			with, runsWith = with+void, runsWith+1
		} else {
			without, runsWithout = without+void, runsWithout+1
		}
	}
	chance := stats.Fisher(with, runsWith, without, runsWithout+len(d.Base))
	return with >= s.count(LeastVoidRows) && chance <= s.constant(VoidChance)
}

// A PartEffect is what a design says of one of its parts.
type PartEffect struct {
	Mean float64 `json:"mean"`           // of the effect on ln(score)
	Gain float64 `json:"gain"`           // probability that it is above 0
	Harm float64 `json:"harm"`           // probability that it is below 0
	Size float64 `json:"size,omitempty"` // mean of the effect if it has one
	Off  bool    `json:"off,omitempty"`  // it breaks the site, or is void more often
}

// draws are samples of the effects of the parts from what the rows say. The same rows have the
// same draws.
func (s *State) draws(d *Design) [][]float64 {
	m := stats.Sparse{Noise: s.Judge.Prior}
	none := make([]bool, len(d.Parts))
	for _, y := range d.Base {
		m.Rows, m.Y = append(m.Rows, none), append(m.Y, y)
	}
	for _, r := range d.Rows {
		if r.counts() {
			m.Rows, m.Y = append(m.Rows, r.On), append(m.Y, r.Y)
		}
	}
	followers := s.followers(d)
	for _, f := range followers {
		m.Columns, m.Slopes = append(m.Columns, f.column), append(m.Slopes, stats.Slope())
	}
	odds := 1.0
	if len(followers) > 0 { // what the work explains is no effect of the parts
		odds = judge.WorkOdds(0, 0)
	}
	for _, p := range d.Parts {
		m.Slabs = append(m.Slabs, s.slabs(p, odds))
	}
	draws := m.Draws(s.rng(d), s.count(Samples))
	follow(draws, len(d.Parts), followers)
	return draws
}

// rng is the source of the choices of a design.
func (s *State) rng(d *Design) *rand.Rand {
	return rand.New(rand.NewPCG(s.Options.Seed, uint64(len(d.Rows))+1))
}

// slabs is what is known of a candidate's effect before the scores of the design: it has one by
// its chance, whose odds have a factor by the work of its runs, and a large one by its expected
// gain.
func (s *State) slabs(c Candidate, odds float64) stats.Slabs {
	chance := judge.WithOdds(min(s.constant(MostActive), max(s.constant(LeastActive), c.Chance)), odds)
	large := chance * min(s.constant(MostLarge), s.constant(LeastLarge)+c.Gain)
	return stats.Slabs{Small: chance - large, Large: large, Tau: max(s.constant(LargeTau), c.Gain)}
}

// Effects are what a design says of its parts.
func (s *State) Effects(d *Design) []PartEffect {
	return s.effectsOf(d, s.draws(d))
}

func (s *State) effectsOf(d *Design, draws [][]float64) []PartEffect {
	culprits, _ := d.Culprits()
	all := make([]PartEffect, len(d.Parts))
	n := float64(len(draws))
	for i := range all {
		e := &all[i]
		for _, draw := range draws {
			b := draw[i]
			e.Mean += b / n
			e.Gain += float64(bit(b > 0)) / n
			e.Harm += float64(bit(b < 0)) / n
		}
		if some := e.Gain + e.Harm; some > 0 {
			e.Size = e.Mean / some
		}
		_, broke := culprits[i]
		e.Off = broke || s.voids(d, i)
	}
	return all
}

// regret is what is lost on average if the design ends now and the parts with a gain by
// expectation stay.
func regret(draws [][]float64) float64 {
	sum := 0.0
	for i := range draws[0] {
		up, down := 0.0, 0.0
		for _, draw := range draws {
			up, down = up+max(0, draw[i]), down+max(0, -draw[i])
		}
		sum += min(up, down) / float64(len(draws))
	}
	return sum
}

// inDesign is the next step of the design under way.
func (s *State) inDesign() Step {
	d := s.Design
	if d.Stopped != "" {
		return Step{Do: EndScreen, Why: d.Stopped}
	}
	draws := s.draws(d)
	if why := s.designIsOver(d, draws); why != "" {
		return Step{Do: EndScreen, Why: why, Row: s.keptBy(d, draws)}
	}
	return Step{Do: RunRow, Row: s.nextRow(d, draws),
		Why: fmt.Sprintf("run %d of at most %d with some of %d candidates", len(d.Rows)+1, d.Most, len(d.Parts))}
}

// designIsOver is why a design has no further row; "" if it has one.
func (s *State) designIsOver(d *Design, draws [][]float64) string {
	failed := 0
	for _, r := range d.Rows {
		failed += bit(r.Failed != "")
	}
	n := d.counted()
	_, suspects := d.Culprits()
	switch {
	case len(d.Rows)-n-failed >= s.count(RowsOfPair)*s.count(MostVoids):
		return "too many of its runs do not count"
	case failed > s.count(RowsOfPair)*s.count(MostFailed):
		return "too many of its runs failed"
	case n >= d.Most:
		return "it has all of its runs"
	case s.TimeFor() < s.Cost:
		return timeIsUp
	case n >= s.count(FewestRows) && len(suspects) == 0 && regret(draws) < s.constant(LeastRegret):
		return "what is left to learn is not worth a run"
	case s.Scarce() && len(d.Base) >= s.count(ConfirmRuns) && n >= s.count(FewestRows) && s.sureGain(d, draws) >= s.constant(LookAgain) &&
		s.runsLeft() >= s.leastObserved()+s.constant(ConfirmRuns):
		return "the site is so much faster that another limit may bind"
	}
	return ""
}

// keptBy are the parts that a design without pairs after it keeps: in a scarce search. They
// have a gain by expectation, those with the least risk of harm first, and the chances of
// harm add up to no more than it may be. What is not seen to save work must likely have a gain.
func (s *State) keptBy(d *Design, draws [][]float64) []bool {
	if !s.Scarce() {
		return nil
	}
	effects, savings := s.effectsOf(d, draws), s.savings(d)
	var order []int
	for i, e := range effects {
		idle := savings != nil && 2*savings[i].saves < 1
		if !e.Off && d.clears(i) && e.Mean >= s.constant(LeastMean) && (!idle || e.Gain >= s.constant(Favours)) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(effects[a].Harm/effects[a].Mean, effects[b].Harm/effects[b].Mean)
	})
	var row []bool
	harm := 0.0
	for _, i := range order {
		if harm += effects[i].Harm; harm > s.constant(MostHarm) {
			break
		}
		if row == nil {
			row = make([]bool, len(d.Parts))
		}
		row[i] = true
	}
	if row == nil {
		return s.bestRow(d)
	}
	return row
}

// bestRow is the row that scored most, if that is above what the site without its parts reaches by
// chance; nil if there is none. It is a set that was measured, whatever the sum of the effects of
// its parts is expected to be.
func (s *State) bestRow(d *Design) (best []bool) {
	if len(d.Base) == 0 {
		return nil
	}
	least := s.Judge.Bound(d.Base)
	for _, r := range d.Rows {
		if r.counts() && r.Y > least {
			best, least = r.On, r.Y
		}
	}
	return best
}

// partsOf are the parts that a row has.
func (d *Design) partsOf(row []bool) (parts []Candidate) {
	for i, on := range row {
		if on {
			parts = append(parts, d.Parts[i])
		}
	}
	return parts
}

// sureGain is the gain on ln(score) that the parts which the design would keep now have at
// least: their sum is known better than each.
func (s *State) sureGain(d *Design, draws [][]float64) float64 {
	row := s.keptBy(d, draws)
	if row == nil {
		return 0
	}
	mean := 0.0
	for i, e := range s.effectsOf(d, draws) {
		mean += float64(bit(row[i])) * e.Mean
	}
	return mean - s.constant(SureErrors)*math.Sqrt(variance(row, draws))
}

// nextRow is the row that teaches most: of many random ones the one whose score is known
// least. Parts that certainly help are in each, and those that harm in none.
func (s *State) nextRow(d *Design, draws [][]float64) []bool {
	rng := s.rng(d)
	effects := s.effectsOf(d, draws)
	culprits, suspects := d.Culprits()
	var best []bool
	most := -1.0
	for range s.count(Proposals) {
		row := make([]bool, len(d.Parts))
		least := s.constant(LeastOn)
		share := least + (1-2*least)*rng.Float64()
		room := shareUp(len(suspects), s.constant(SuspectShare))
		for _, i := range rng.Perm(len(row)) {
			_, broken := culprits[i]
			e := effects[i]
			switch row[i] = rng.Float64() < share; {
			case broken || e.Off:
				row[i] = false
			case slices.Contains(suspects, i):
				room--
				row[i] = room >= 0
			case e.Gain >= s.constant(Sure):
				row[i] = true
			case e.Harm >= s.constant(Sure):
				row[i] = false
			}
		}
		if v := variance(row, draws); v > most {
			best, most = row, v
		}
	}
	return best
}

// variance is how little is known of the score of a row.
func variance(row []bool, draws [][]float64) float64 {
	var sum, square float64
	for _, draw := range draws {
		y := 0.0
		for i, on := range row {
			if on {
				y += draw[i]
			}
		}
		sum, square = sum+y, square+y*y
	}
	n := float64(len(draws))
	return math.Max(0, square/n-sum*sum/n/n)
}
