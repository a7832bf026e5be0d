package index

import "github.com/iikanji/iikanji"

// Work is the work that an index saves for one query.
func (s Served) Work() float64 {
	before := s.costBefore()
	return max(0, before-s.CostAfter) * s.Query.Reads() * s.Share
}

// Work is the work that an index saves for all queries that it serves.
func (p Proposal) Work() float64 {
	sum := 0.0
	for _, s := range p.Serves {
		sum += s.Work()
	}
	return sum
}

// costBefore is the cost of one execution without the index: the planned cost,
// or the cost of the rows that the server counted if those are fewer.
func (s Served) costBefore() float64 {
	if s.Query.Examined > 0 {
		return min(s.CostBefore, CostStatement+s.Before()*(1+CostLook))
	}
	return s.CostBefore
}

// Length is the mean length of a long column: as measured, or derived from the
// size of the table if that is its only long column.
func (t *Table) Length(col string) float64 {
	if n, ok := t.Size.Lengths[col]; ok {
		return float64(n)
	}
	long := 0
	for _, c := range t.ByName {
		if c.Long() {
			long++
		}
	}
	if long == 1 {
		return max(0, float64(t.Size.Data)/t.Rows()-500)
	}
	return 0
}

// Outgrown raises the row count of a table that the run has outgrown.
func (t *Table) Outgrown(rows int64) {
	if rows > t.Size.Rows {
		t.Size.Rows = rows
		t.count()
	}
}

// OnlyCovers reports whether an index saves only look-ups in the clustered
// index, neither rows nor sorts.
func (p Proposal) OnlyCovers() bool {
	for _, s := range p.Serves {
		if s.RowsAfter < 0.9*s.RowsBefore || s.SortBefore && !s.SortAfter || s.TempBefore && !s.TempAfter {
			return false
		}
	}
	return true
}

// Before is the rows read by one execution that the query cache did not answer: as counted by the server, else as
// planned.
func (s Served) Before() float64 {
	if s.Query.Examined > 0 && s.Query.Count > 0 {
		return s.Query.Examined / s.Query.Reads()
	}
	return s.RowsBefore
}

// After is the rows read by one execution with the index. The plan is of one example, the
// rows before are a mean of all: a plan never reads more than before.
func (s Served) After() float64 { return min(s.RowsAfter, s.Before()) }

// Saving is the seconds that an index saves for one query. Time is assumed to
// be proportional to cost. Where the server counted far fewer rows than
// planned, its count is used. The lower end is half of the upper one: part of a
// statement's time is waiting, which an index does not shorten by itself.
func Saving(s Served) iikanji.Range {
	before := s.costBefore()
	if s.CostAfter >= before {
		return iikanji.Range{}
	}
	saved := s.Query.Seconds * (1 - s.CostAfter/before) * s.Share
	return iikanji.Range{Lo: saved / 2, Hi: saved}
}
