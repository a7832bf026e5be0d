package cause

import "github.com/iikanji/iikanji"

// work is the work that an index saves for one query.
func (s Served) work() float64 {
	before := s.costBefore()
	return max(0, before-s.CostAfter) * s.Query.reads() * s.Share
}

// work is the work that an index saves for all queries that it serves.
func (p Proposal) work() float64 {
	sum := 0.0
	for _, s := range p.Serves {
		sum += s.work()
	}
	return sum
}

// costBefore is the cost of one execution without the index: the planned cost,
// or the cost of the rows that the server counted if those are fewer.
func (s Served) costBefore() float64 {
	if s.Query.Examined > 0 {
		return min(s.CostBefore, costStatement+s.before()*(1+costLook))
	}
	return s.CostBefore
}

// length is the mean length of a long column: as measured, or derived from the
// size of the table if that is its only long column.
func (t *table) length(col string) float64 {
	if n, ok := t.size.Lengths[col]; ok {
		return float64(n)
	}
	long := 0
	for _, c := range t.columns {
		if c.Long() {
			long++
		}
	}
	if long == 1 {
		return max(0, float64(t.size.Data)/t.rows()-500)
	}
	return 0
}

// outgrown raises the row count of a table that the run has outgrown.
func (t *table) outgrown(rows int64) {
	if rows > t.size.Rows {
		t.size.Rows = rows
		t.count()
	}
}

// onlyCovers reports whether an index saves only look-ups in the clustered
// index, neither rows nor sorts.
func (p Proposal) onlyCovers() bool {
	for _, s := range p.Serves {
		if s.RowsAfter < 0.9*s.RowsBefore || s.SortBefore && !s.SortAfter || s.TempBefore && !s.TempAfter {
			return false
		}
	}
	return true
}

// before is the rows read by one execution that the query cache did not answer: as counted by the server, else as
// planned.
func (s Served) before() float64 {
	if s.Query.Examined > 0 && s.Query.Count > 0 {
		return s.Query.Examined / s.Query.reads()
	}
	return s.RowsBefore
}

// after is the rows read by one execution with the index. The plan is of one example, the
// rows before are a mean of all: a plan never reads more than before.
func (s Served) after() float64 { return min(s.RowsAfter, s.before()) }

// saving is the seconds that an index saves for one query. Time is assumed to
// be proportional to cost. Where the server counted far fewer rows than
// planned, its count is used. The lower end is half of the upper one: part of a
// statement's time is waiting, which an index does not shorten by itself.
func saving(s Served) iikanji.Range {
	before := s.costBefore()
	if s.CostAfter >= before {
		return iikanji.Range{}
	}
	saved := s.Query.Seconds * (1 - s.CostAfter/before) * s.Share
	return iikanji.Range{Lo: saved / 2, Hi: saved}
}
