package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/logs/slowlog"
	"github.com/iikanji/iikanji/internal/logs/tally"
	"github.com/iikanji/iikanji/internal/show/report"
)

// slowView returns the columns of rows of statements, or of what --by names. Each
// percentile of percentiles is a column.
func slowView(by slowlog.By, percentiles []float64) *report.View {
	v := report.StatementView()
	v.Noun = "statement"
	query := func(of func(q *iikanji.SQLRow) string) func(*iikanji.Row) string {
		return func(r *iikanji.Row) string {
			if r.Query == nil {
				return ""
			}
			return of(r.Query)
		}
	}
	text := func(name, help string, of func(*iikanji.Row) string) report.RowColumn {
		return report.RowColumn{Name: name, Help: help, Cell: of, Raw: of, Left: true}
	}
	var columns []report.RowColumn
	if by != slowlog.ByDB { // its key column has the name
		columns = append(columns, text("db", "the most frequent database", query(func(q *iikanji.SQLRow) string { return q.DB })))
	}
	columns = append(columns,
		text("tables", "of the statement", query(func(q *iikanji.SQLRow) string { return strings.Join(q.Tables, ",") })),
		text("users", "the most frequent first", query(func(q *iikanji.SQLRow) string { return namesOf(q.Users) })),
		text("hosts", "the most frequent first", query(func(q *iikanji.SQLRow) string { return namesOf(q.Hosts) })),
	)
	for _, p := range percentiles {
		name := percentileName(p)
		if _, err := v.Column(name); err == nil {
			continue
		}
		of := func(r *iikanji.Row) time.Duration { return percentileOf(r, p) }
		columns = append(columns, report.RowColumn{Name: name, Help: "within 1 %",
			Cell:  func(r *iikanji.Row) string { return report.Duration(of(r)) },
			Raw:   func(r *iikanji.Row) string { return strconv.FormatFloat(of(r).Seconds(), 'f', -1, 64) },
			Value: func(r *iikanji.Row) float64 { return float64(of(r)) }})
	}
	last := len(v.Columns) - 1
	key := v.Columns[last]
	key.Name = by.String()
	v.Columns = append(append(v.Columns[:last:last], columns...), key)
	v.Row, v.Rows = by.String(), by.String()+"s"
	if len(percentiles) > 0 || by != slowlog.ByStatement {
		v.Brief = map[int][]string{-1: {"count", "sent", "examined", key.Name}, 0: briefColumns(percentiles, key.Name)}
	}
	return v
}

// briefColumns returns the columns of a table for the terminal.
func briefColumns(percentiles []float64, key string) []string {
	names := []string{"count", "total", "share", "mean"}
	for _, p := range percentiles {
		names = append(names, percentileName(p))
	}
	if len(percentiles) == 0 {
		names = append(names, "p99")
	}
	return append(names, "max", key)
}

func namesOf(all []iikanji.Named) string {
	var names []string
	for _, n := range all {
		names = append(names, n.Name)
	}
	return strings.Join(names, ",")
}

// percentileName is the name of a percentile's column, as in p99.9.
func percentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// percentileOf computes a percentile from the sketch of a row, 0 without one.
func percentileOf(r *iikanji.Row, p float64) time.Duration {
	var s tally.Sketch
	if len(r.Time) == 0 || s.UnmarshalBinary(r.Time) != nil {
		return 0
	}
	return s.Quantile(p / 100)
}
