package board

import (
	"cmp"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// rank makes the rows of the view and the reader's own.
func (v *View) rank(finals map[string]FinalScore) {
	v.Rows = make([]Row, 0, len(v.teams))
	for _, t := range v.teams {
		row := v.row(t, v.seen[t.ID], finals)
		v.Rows = append(v.Rows, row)
		if v.Reader.Role == Member && t.ID == v.Reader.Team {
			own := v.row(t, v.own, finals)
			v.Own = &own
		}
	}
	slices.SortStableFunc(v.Rows, v.compareListed)
	place(v.Rows, v.compare)
	v.join()
	if v.Own == nil {
		return
	}
	takesPart := ranked(v.Own)
	v.Own.Rank, v.Own.DivisionRank = 0, 0
	if !takesPart {
		return
	}
	// The own row may show a result that the rows hide: it is ranked against the others.
	v.Own.Rank, v.Own.DivisionRank = 1, 1
	for i := range v.Rows {
		if r := &v.Rows[i]; r.Team != v.Own.Team && r.Rank > 0 && v.compare(r, v.Own) < 0 {
			v.Own.Rank++
			if r.Division == v.Own.Division {
				v.Own.DivisionRank++
			}
		}
	}
}

// rankless marks a row of a team that never has a rank, between row and place.
const rankless = -1

// row sums up the results of a team.
func (v *View) row(t Team, results []Result, finals map[string]FinalScore) Row {
	row := Row{Team: t.ID, Name: t.Name, Division: t.Division, Gone: t.Gone, Runs: len(results)}
	if !t.Ranked || t.Gone != "" {
		row.Rank = rankless
	}
	var passed []float64
	for _, r := range results {
		score := 0.0
		if r.Outcome == iikanji.Passed {
			score = r.Score
			passed = append(passed, score)
		}
		row.Last, row.LastPassed, row.LastAt = score, r.Outcome == iikanji.Passed, r.At
		row.Spark = append(row.Spark, score)
		switch {
		case v.data.Round.Rules.Standing == contest.Last:
			row.Standing, row.StandingAt = score, r.At
		case row.StandingAt.IsZero() || score > row.Standing:
			row.Standing, row.StandingAt = score, r.At
		}
		row.Best = max(row.Best, score)
	}
	row.Spark = row.Spark[max(0, len(row.Spark)-sparkLength):]
	if n := len(passed); n > 1 {
		row.Trend = cmp.Compare(passed[n-1], passed[n-2])
	}
	if f, ok := finals[t.ID]; ok {
		row.Final, row.Standing = true, 0
		if f.Passed {
			row.Standing = f.Score
		}
	}
	return row
}

// ranked reports whether a row takes part in the ranking: its team does and has a result.
func ranked(r *Row) bool { return r.Rank != rankless && (r.Runs > 0 || r.Final) }

// compare orders two rows by the rules of the round: below 0 if a is before b, 0 for a tie.
func (v *View) compare(a, b *Row) int {
	if c := cmp.Compare(b.Standing, a.Standing); c != 0 {
		return c
	}
	for _, tie := range v.data.Round.Rules.Ties {
		c := 0
		switch tie {
		case contest.TieBest:
			c = cmp.Compare(b.Best, a.Best)
		case contest.TieEarlier:
			c = a.StandingAt.Compare(b.StandingAt)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// compareListed orders all rows: ranked ones first, then those without a rank or a run.
func (v *View) compareListed(a, b Row) int {
	group := func(r *Row) int {
		switch {
		case ranked(r):
			return 0
		case r.Gone != "":
			return 3
		case r.Runs > 0:
			return 1
		}
		return 2
	}
	if c := cmp.Compare(group(&a), group(&b)); c != 0 {
		return c
	}
	return cmp.Or(v.compare(&a, &b), cmp.Compare(a.Team, b.Team))
}

// place gives ranks to sorted rows; tied ones share the better rank.
func place(rows []Row, compare func(a, b *Row) int) {
	last := map[string]*Row{} // the row before by division; "*" is all divisions
	count := map[string]int{}
	for i := range rows {
		r := &rows[i]
		if !ranked(r) {
			r.Rank = 0
			continue
		}
		give := func(group string, rank func(*Row) *int) {
			count[group]++
			*rank(r) = count[group]
			if p := last[group]; p != nil && compare(p, r) == 0 {
				*rank(r) = *rank(p)
			}
			last[group] = r
		}
		give("*", func(r *Row) *int { return &r.Rank })
		give("/"+r.Division, func(r *Row) *int { return &r.DivisionRank })
	}
}

// join marks neighbours whose difference single runs do not show: at most 1.96 standard
// deviations of a difference of two runs.
func (v *View) join() {
	least := 1.96 * math.Sqrt2 * v.data.Noise
	for i := 0; i+1 < len(v.Rows); i++ {
		a, b := &v.Rows[i], &v.Rows[i+1]
		if least > 0 && a.Rank > 0 && b.Rank > 0 && b.Standing > 0 {
			a.Joined = math.Log(a.Standing/b.Standing) < least
		}
	}
}
