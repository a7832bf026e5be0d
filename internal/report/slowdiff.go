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

// A slowPair is one digest before and after; nil where it is not.
type slowPair struct{ before, after *iikanji.Row }

func (p slowPair) row() *iikanji.Row {
	if p.after != nil {
		return p.after
	}
	return p.before
}

func (p slowPair) change() time.Duration {
	var d time.Duration
	if p.after != nil {
		d += p.after.Total
	}
	if p.before != nil {
		d -= p.before.Total
	}
	return d
}

// slowPairs matches rows by fingerprint, the largest change of total time first.
func slowPairs(before, after *iikanji.Profile) []slowPair {
	at := map[string]int{}
	var pairs []slowPair
	for i := range before.Rows {
		at[before.Rows[i].Key] = len(pairs)
		pairs = append(pairs, slowPair{before: &before.Rows[i]})
	}
	for i := range after.Rows {
		r := &after.Rows[i]
		if j, ok := at[r.Key]; ok {
			pairs[j].after = r
			continue
		}
		pairs = append(pairs, slowPair{after: r})
	}
	slices.SortFunc(pairs, func(a, b slowPair) int {
		return cmp.Or(cmp.Compare(b.change().Abs(), a.change().Abs()), strings.Compare(a.row().Key, b.row().Key))
	})
	return pairs
}

// SlowDiff compares two profiles by digest: count, total, mean, p99; new and
// gone ones too. exact is for programs: seconds and whole numbers.
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
	} else { // what fits 80 columns
		t.Columns = []Column{{Name: "change"}, {Name: "total"}, {Name: "was"}, {Name: "count"}, {Name: "was"}, {Name: "mean"}, {Name: "was"}, {Name: "statement", Left: true, Shrink: true}}
	}
	for _, p := range head(slowPairs(before, after), limit) {
		t.Rows = append(t.Rows, diffCells(p, exact, dur, num))
	}
	return t
}

func diffCells(p slowPair, exact bool, dur func(time.Duration) string, num func(int64) string) []string {
	what, key := "both", p.row().Key
	switch {
	case p.before == nil:
		what, p.before = "new", &iikanji.Row{}
	case p.after == nil:
		what, p.after = "gone", &iikanji.Row{}
	}
	b, a := p.before, p.after
	if exact {
		return []string{dur(p.change()), dur(a.Total), dur(b.Total), num(a.Count), num(b.Count), dur(a.Mean), dur(b.Mean), dur(a.P99), dur(b.P99), what, key}
	}
	sign := ""
	if p.change() > 0 {
		sign = "+"
	}
	if what != "both" {
		key = what + ": " + key
	}
	return []string{sign + dur(p.change()), dur(a.Total), dur(b.Total), num(a.Count), num(b.Count), dur(a.Mean), dur(b.Mean), key}
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
