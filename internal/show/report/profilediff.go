package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A RowPair holds the rows of one key in two profiles. A row is nil when its
// profile lacks the key.
type RowPair struct {
	Key           string
	Before, After *iikanji.Row
}

// WriteDiff writes the changes from one profile to another by row: counts,
// totals, means and p99 of both, and which rows are new or gone. The order of
// the pairs is kept.
func (v *View) WriteDiff(w io.Writer, before, after *iikanji.Profile, pairs []RowPair, o ProfileOptions) error {
	left := 0
	if o.Limit > 0 && len(pairs) > o.Limit {
		pairs, left = pairs[:o.Limit], len(pairs)-o.Limit
	}
	switch o.Format {
	case JSON:
		return writeDiffJSON(w, before, after, pairs)
	case TSV, CSV:
		return diffFull(pairs).Write(w, o.Format, 0)
	}
	if err := diffBrief(before, after, pairs).Write(w, o.Format, o.Cols); err != nil {
		return err
	}
	b := strings.Builder{}
	b.WriteString("\n")
	if left > 0 {
		fmt.Fprintf(&b, "%d more of the %s not shown: --limit 0 shows all\n", left, v.Rows)
	}
	for i, p := range []*iikanji.Profile{before, after} {
		for _, line := range v.intake(p, o.Zone) {
			b.WriteString(Clean([]string{"before: ", "after:  "}[i]+line) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// diffBrief is the table for people: both totals, and relative changes of the
// other values. Without times it has counts only.
func diffBrief(before, after *iikanji.Profile, pairs []RowPair) *Table {
	var timed [2]bool
	var all [2]iikanji.Row
	for i, p := range []*iikanji.Profile{before, after} {
		for _, r := range p.Rows {
			all[i].Count += r.Count
			all[i].Total += r.Total
			timed[i] = timed[i] || r.Total > 0
		}
	}
	names := []string{"before", "after", "total", "count", "mean", "p99"}
	if !timed[0] && !timed[1] {
		names = []string{"before", "after", "count"}
	}
	t := &Table{}
	for _, n := range names {
		t.Columns = append(t.Columns, Column{Name: n})
	}
	t.Columns = append(t.Columns, Column{Name: "", Left: true, Shrink: true})
	pairs = append(pairs[:len(pairs):len(pairs)], RowPair{"(all)", &all[0], &all[1]})
	for _, p := range pairs {
		key := p.Key
		a, b := p.Before, p.After
		switch {
		case a == nil:
			key, a = "new: "+key, &iikanji.Row{}
		case b == nil:
			key, b = "gone: "+key, &iikanji.Row{}
		}
		if !timed[0] && !timed[1] {
			t.Rows = append(t.Rows, []string{Count(a.Count), Count(b.Count), change(float64(a.Count), float64(b.Count)), key})
			continue
		}
		cells := []string{Duration(a.Total), Duration(b.Total), change(float64(a.Total), float64(b.Total)),
			change(float64(a.Count), float64(b.Count)), change(float64(a.Mean), float64(b.Mean)), change(float64(a.P99), float64(b.P99)), key}
		if key == "(all)" {
			cells[4], cells[5] = change(perOne(a), perOne(b)), ""
		}
		withoutTimes(cells, [2]bool{timed[0] && !a.Untimed, timed[1] && !b.Untimed})
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// withoutTimes replaces the times of a log that has none, and what they would be compared
// with.
func withoutTimes(cells []string, timed [2]bool) {
	for i, has := range timed {
		if !has {
			cells[i], cells[2], cells[4], cells[5] = "-", "-", "-", "-"
		}
	}
}

func perOne(r *iikanji.Row) float64 { return float64(r.Total) / float64(max(r.Count, 1)) }

// change formats the change from a to b, as in "-12%", "×3.4", "÷20"; "new" when
// a is 0, "gone" when b is 0.
func change(a, b float64) string {
	switch {
	case a == 0 && b == 0:
		return "0"
	case a == 0:
		return "new"
	case b == 0:
		return "gone"
	case b >= 2*a:
		return "×" + three(b/a)
	case a >= 3*b:
		return "÷" + three(a/b)
	}
	return fmt.Sprintf("%+.1f%%", 100*(b-a)/a)
}

// diffFull is the table for programs: all columns of both rows, in seconds and
// whole numbers.
func diffFull(pairs []RowPair) *Table {
	t := &Table{Columns: []Column{{Name: "key"}, {Name: "state"}}}
	columns := timeColumns()
	for _, side := range []string{"before", "after"} {
		for _, c := range columns {
			t.Columns = append(t.Columns, Column{Name: side + "-" + c.Name})
		}
	}
	for _, p := range pairs {
		cells := []string{p.Key, p.state()}
		for _, r := range []*iikanji.Row{p.Before, p.After} {
			for _, c := range columns {
				cell := ""
				if r != nil {
					cell = c.Raw(r)
				}
				cells = append(cells, cell)
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

func (p RowPair) state() string {
	switch {
	case p.Before == nil:
		return "new"
	case p.After == nil:
		return "gone"
	}
	return "both"
}

// writeDiffJSON writes both rows of each pair, and what was read on both sides.
func writeDiffJSON(w io.Writer, before, after *iikanji.Profile, pairs []RowPair) error {
	type pair struct {
		Key    string         `json:"key"`
		State  string         `json:"state"`                    // both, new, gone
		Delta  *time.Duration `json:"total_delta_ns,omitempty"` // nil if a side has no times
		Before *iikanji.Row   `json:"before,omitempty"`
		After  *iikanji.Row   `json:"after,omitempty"`
	}
	out := struct {
		Before iikanji.Intake `json:"before"`
		After  iikanji.Intake `json:"after"`
		Pairs  []pair         `json:"pairs"`
	}{before.Intake, after.Intake, []pair{}}
	bare := func(r *iikanji.Row, delta *time.Duration, sign time.Duration) *iikanji.Row {
		if r == nil {
			return nil
		}
		c := *r
		c.Time = nil
		*delta += sign * r.Total
		return &c
	}
	for _, p := range pairs {
		q := pair{Key: p.Key, State: p.state()}
		var delta time.Duration
		q.Before = bare(p.Before, &delta, -1)
		q.After = bare(p.After, &delta, 1)
		if known := func(r *iikanji.Row) bool { return r == nil || !r.Untimed }; known(p.Before) && known(p.After) {
			q.Delta = &delta
		}
		out.Pairs = append(out.Pairs, q)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
