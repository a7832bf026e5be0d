package report

import (
	"time"

	"github.com/iikanji/iikanji"
)

// StatementView is the view of statement profiles, as merge and diff show them.
// SlowText, the full report of a slow log, is sorted by these columns too.
func StatementView() *View {
	v := &View{Noun: "statement", Row: "statement", Rows: "statements", Columns: timeColumns()}
	query := func(r *iikanji.Row) *iikanji.SQLRow {
		if r.Query == nil {
			return &iikanji.SQLRow{}
		}
		return r.Query
	}
	v.Columns = append(v.Columns,
		durationColumn("lock", "sum of lock waits", func(r *iikanji.Row) time.Duration { return query(r).Lock }).unless(noExamined),
		countColumn("sent", "rows", func(r *iikanji.Row) int64 { return query(r).Sent }).unless(noSent),
		countColumn("examined", "rows", func(r *iikanji.Row) int64 { return query(r).Examined }).unless(noExamined),
		floatColumn("examined/sent", "rows examined per row sent", 1, func(r *iikanji.Row) float64 {
			return float64(query(r).Examined) / float64(max(query(r).Sent, 1))
		}).unless(func(r *iikanji.Row) bool { return noSent(r) || noExamined(r) }),
		sizeColumn("bytes", "sent", func(r *iikanji.Row) int64 { return int64(query(r).BytesSent) }),
		countColumn("errors", "failed executions", func(r *iikanji.Row) int64 { return r.Errors }),
		countColumn("prepares", "PREPARE commands for the statement", func(r *iikanji.Row) int64 { return query(r).Prepares }),
		floatColumn("v/m", "variance to mean, in seconds", 3, func(r *iikanji.Row) float64 { return query(r).VM }).unless(untimed),
		textColumn("digest", "of the statement", false, func(r *iikanji.Row) string { return query(r).Digest }),
	)
	v.Columns = append(v.Columns, exampleColumns()...)
	v.Columns = append(v.Columns, textColumn("statement", "the normalised statement", true, func(r *iikanji.Row) string { return r.Key }))
	v.Brief = map[int][]string{
		-1:  {"count", "total", "sent", "examined", "statement"},
		0:   {"count", "total", "share", "mean", "p99", "statement"},
		100: {"count", "total", "share", "mean", "p50", "p99", "max", "sent", "examined", "statement"},
	}
	return v
}

func noSent(r *iikanji.Row) bool     { return r.Query != nil && r.Query.NoSent }
func noExamined(r *iikanji.Row) bool { return r.Query != nil && r.Query.NoExamined }

// unless shows a dash, and nothing to programs, where the value is unknown.
func (c RowColumn) unless(unknown func(*iikanji.Row) bool) RowColumn {
	cell, raw := c.Cell, c.Raw
	c.Cell = func(r *iikanji.Row) string {
		if unknown(r) {
			return "-"
		}
		return cell(r)
	}
	c.Raw = func(r *iikanji.Row) string {
		if unknown(r) {
			return ""
		}
		return raw(r)
	}
	return c
}
