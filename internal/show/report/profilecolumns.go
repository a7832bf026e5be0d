package report

import (
	"strconv"
	"time"

	"github.com/iikanji/iikanji"
)

// durationColumn is a column of durations.
func durationColumn(name, help string, of func(r *iikanji.Row) time.Duration) RowColumn {
	return RowColumn{Name: name, Help: help,
		Cell:  func(r *iikanji.Row) string { return Duration(of(r)) },
		Raw:   func(r *iikanji.Row) string { return exactSeconds(of(r)) },
		Value: func(r *iikanji.Row) float64 { return float64(of(r)) }}
}

// exactSeconds formats seconds with all digits: logs have milliseconds, sums and
// means have more.
func exactSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// countColumn is a column of whole numbers.
func countColumn(name, help string, of func(r *iikanji.Row) int64) RowColumn {
	return RowColumn{Name: name, Help: help,
		Cell:  func(r *iikanji.Row) string { return Count(of(r)) },
		Raw:   func(r *iikanji.Row) string { return strconv.FormatInt(of(r), 10) },
		Value: func(r *iikanji.Row) float64 { return float64(of(r)) }}
}

// floatColumn is a column of fractions; digits is the number of decimals for people.
func floatColumn(name, help string, digits int, of func(r *iikanji.Row) float64) RowColumn {
	return RowColumn{Name: name, Help: help,
		Cell:  func(r *iikanji.Row) string { return strconv.FormatFloat(of(r), 'f', digits, 64) },
		Raw:   func(r *iikanji.Row) string { return strconv.FormatFloat(of(r), 'f', 6, 64) },
		Value: of}
}

// sizeColumn is a column of bytes.
func sizeColumn(name, help string, of func(r *iikanji.Row) int64) RowColumn {
	c := countColumn(name, help, of)
	c.Cell = func(r *iikanji.Row) string { return iikanji.Bytes(of(r)).String() }
	return c
}

// textColumn is a column of text. A long one shrinks when a table is too wide.
func textColumn(name, help string, long bool, of func(r *iikanji.Row) string) RowColumn {
	return RowColumn{Name: name, Help: help, Cell: of, Raw: of, Left: true, Long: long}
}

// timeColumns are the columns that rows of every source have: counts and times.
func timeColumns() []RowColumn {
	all := []RowColumn{
		countColumn("count", "number of records", func(r *iikanji.Row) int64 { return r.Count }),
		durationColumn("total", "sum of times", func(r *iikanji.Row) time.Duration { return r.Total }),
		{Name: "share", Help: "of the total of all rows",
			Cell:  func(r *iikanji.Row) string { return Percent(r.Share) },
			Raw:   func(r *iikanji.Row) string { return strconv.FormatFloat(r.Share, 'f', 6, 64) },
			Value: func(r *iikanji.Row) float64 { return r.Share }},
		durationColumn("mean", "exact", func(r *iikanji.Row) time.Duration { return r.Mean }),
		durationColumn("stddev", "standard deviation (of the population)", func(r *iikanji.Row) time.Duration { return r.Stddev }),
		durationColumn("min", "exact", func(r *iikanji.Row) time.Duration { return r.Min }),
		durationColumn("p50", "median, within 1 %", func(r *iikanji.Row) time.Duration { return r.P50 }),
		durationColumn("p90", "within 1 %", func(r *iikanji.Row) time.Duration { return r.P90 }),
		durationColumn("p95", "within 1 %", func(r *iikanji.Row) time.Duration { return r.P95 }),
		durationColumn("p99", "within 1 %", func(r *iikanji.Row) time.Duration { return r.P99 }),
		durationColumn("max", "exact", func(r *iikanji.Row) time.Duration { return r.Max }),
	}
	for i := range all {
		if all[i].Name != "count" {
			all[i] = all[i].unless(untimed)
		}
	}
	return all
}

func untimed(r *iikanji.Row) bool { return r.Untimed }

// exampleColumns show the slowest record of each row and its place in the log.
func exampleColumns() []RowColumn {
	return []RowColumn{
		textColumn("example", "the slowest record", true, func(r *iikanji.Row) string { return r.Example.Text }),
		textColumn("line", "file and line of the slowest record", false, func(r *iikanji.Row) string {
			if r.Example.Line == 0 {
				return ""
			}
			return r.Example.File + ":" + strconv.FormatInt(r.Example.Line, 10)
		}),
	}
}
