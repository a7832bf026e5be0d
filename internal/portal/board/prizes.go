package board

import (
	"math"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Holder is the team that would get a prize now; Team is "" for none.
type Holder struct {
	Prize contest.Prize
	Team  string
	Value float64   // the score, the jump, or the number of runs
	At    time.Time // of the run that decides, or of the award
	// Reason is why staff gave it, for a prize by hand.
	Reason string
}

// Prizes are the prizes of the round with their holders so far, by the rows and results that
// the view shows to all. Teams that left the ranking hold none.
func (v *View) Prizes() []Holder {
	out := make([]Holder, len(v.data.Round.Prizes))
	for i, p := range v.data.Round.Prizes {
		out[i] = Holder{Prize: p}
		if p.Kind == "manual" {
			v.award(&out[i])
			continue
		}
		for j := range v.Rows {
			r := &v.Rows[j]
			if r.Gone != "" || r.Rank == 0 {
				continue
			}
			value, at, ok := v.claim(p, r)
			if !ok {
				continue
			}
			best := &out[i]
			better := best.Team == "" || value > best.Value || value == best.Value && at.Before(best.At)
			if p.Kind == "first_above" || p.Kind == "first_pass" {
				better = best.Team == "" || at.Before(best.At)
			}
			if better {
				best.Team, best.Value, best.At = r.Team, value, at
			}
		}
	}
	return out
}

// award fills in who has a prize by hand. Awards obey the freeze as results do.
func (v *View) award(h *Holder) {
	for _, a := range v.data.Awards {
		if a.Prize != h.Prize.ID || a.At.After(v.now) || v.Frozen && v.Reader.Role != Staff && !a.At.Before(v.FrozenAt) {
			continue
		}
		h.Team, h.At, h.Reason = a.Team, a.At, a.Reason
	}
	for i := range v.Rows {
		if r := &v.Rows[i]; r.Team == h.Team && r.Gone != "" {
			h.Team, h.At, h.Reason = "", time.Time{}, ""
		}
	}
}

// claim is what a row has to offer for a prize.
func (v *View) claim(p contest.Prize, r *Row) (value float64, at time.Time, ok bool) {
	results := v.seen[r.Team]
	switch p.Kind {
	case "best_of":
		return -float64(r.DivisionRank), r.StandingAt, r.Division == p.Of && r.DivisionRank == 1
	case "first_above", "first_pass":
		for _, x := range results {
			if x.Outcome == iikanji.Passed && x.Score >= p.At {
				return x.Score, x.At, true
			}
		}
	case "biggest_jump":
		return jump(results, p.Of == "ratio")
	case "longest_clean":
		n := 0
		for _, x := range results {
			if n++; x.Outcome != iikanji.Passed {
				n = 0
			}
			if float64(n) > value {
				value, at, ok = float64(n), x.At, true
			}
		}
	}
	return value, at, ok
}

// jump is the largest gain between consecutive passed results, and when it was made.
func jump(results []Result, ratio bool) (value float64, at time.Time, ok bool) {
	before := math.NaN()
	for _, x := range results {
		if x.Outcome != iikanji.Passed {
			continue
		}
		gain := x.Score - before
		if ratio {
			gain = x.Score / before
		}
		if before > 0 && gain > value {
			value, at, ok = gain, x.At, true
		}
		before = x.Score
	}
	return value, at, ok
}
