package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// delta is the change of the total time of a pair.
func (p RowPair) delta() (d time.Duration) {
	if p.After != nil {
		d += p.After.Total
	}
	if p.Before != nil {
		d -= p.Before.Total
	}
	return d
}

// slowPairs pairs rows by fingerprint, the largest change of total time first.
func slowPairs(before, after *iikanji.Profile) []RowPair {
	at := map[string]int{}
	var pairs []RowPair
	for i := range before.Rows {
		r := &before.Rows[i]
		at[r.Key] = len(pairs)
		pairs = append(pairs, RowPair{Key: r.Key, Before: r})
	}
	for i := range after.Rows {
		r := &after.Rows[i]
		if j, ok := at[r.Key]; ok {
			pairs[j].After = r
			continue
		}
		pairs = append(pairs, RowPair{Key: r.Key, After: r})
	}
	slices.SortFunc(pairs, func(a, b RowPair) int {
		return cmp.Or(cmp.Compare(b.delta().Abs(), a.delta().Abs()), strings.Compare(a.Key, b.Key))
	})
	return pairs
}

// SlowDiff compares two profiles by digest (count, total, mean, p99), with new
// and gone digests. exact is for programs: seconds and whole numbers.
func SlowDiff(before, after *iikanji.Profile, limit int, exact bool) *Table {
	dur, num := Duration, Count
	if exact {
		dur, num = seconds, func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	t := &Table{Columns: []Column{{Name: "change"}, {Name: "total"}, {Name: "was"}, {Name: "count"}, {Name: "was"}, {Name: "mean"}, {Name: "was"}, {Name: "p99"}, {Name: "was"}, {Name: "what", Left: true}, {Name: "statement", Left: true, Shrink: true}}}
	if exact { // names must differ
		for i, n := range []string{"total_before", "count_before", "mean_before", "p99_before"} {
			t.Columns[2+2*i].Name = n
		}
	} else { // fits 80 columns
		t.Columns = []Column{{Name: "change"}, {Name: "total"}, {Name: "was"}, {Name: "count"}, {Name: "was"}, {Name: "mean"}, {Name: "was"}, {Name: "statement", Left: true, Shrink: true}}
	}
	for _, p := range head(slowPairs(before, after), limit) {
		t.Rows = append(t.Rows, diffCells(p, exact, dur, num))
	}
	return t
}

func diffCells(p RowPair, exact bool, dur func(time.Duration) string, num func(int64) string) []string {
	what, key, delta := p.state(), p.Key, p.delta()
	b, a := &iikanji.Row{}, &iikanji.Row{}
	if p.Before != nil {
		b = p.Before
	}
	if p.After != nil {
		a = p.After
	}
	took := func(r *iikanji.Row, d time.Duration) string {
		switch {
		case !r.Untimed:
			return dur(d)
		case exact:
			return ""
		}
		return "-"
	}
	sign, either := "", &iikanji.Row{Untimed: a.Untimed || b.Untimed}
	if delta > 0 && !exact && !either.Untimed {
		sign = "+"
	}
	cells := []string{sign + took(either, delta), took(a, a.Total), took(b, b.Total), num(a.Count), num(b.Count), took(a, a.Mean), took(b, b.Mean)}
	if exact {
		return append(cells, took(a, a.P99), took(b, b.P99), what, key)
	}
	if what != "both" {
		key = what + ": " + key
	}
	return append(cells, key)
}

// SlowDiffText writes the comparison for people.
func SlowDiffText(w io.Writer, before, after *iikanji.Profile, f Format, cols, limit int) error {
	o := &out{w: w}
	o.line("before:")
	intake(o, before, f)
	o.line("after:")
	intake(o, after, f)
	o.blank()
	o.table(SlowDiff(before, after, limit, false), f, cols)
	if n := len(slowPairs(before, after)); limit > 0 {
		o.more(n - limit)
	}
	return o.err
}
