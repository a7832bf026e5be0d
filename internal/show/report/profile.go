package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// A RowColumn is one column of a table of profile rows.
type RowColumn struct {
	Name string
	Help string
	// Cell formats for people, Raw for programs: times in seconds, sizes in
	// bytes, shares as 0..1.
	Cell, Raw func(r *iikanji.Row) string
	// Value is what rows are sorted by; nil sorts by the text of Raw.
	Value func(r *iikanji.Row) float64
	Left  bool
	Long  bool // text that may be shortened to fit a table
}

// A View describes how profiles of one kind are shown.
type View struct {
	Columns []RowColumn
	// Brief lists the columns of a text table by the least terminal width that
	// they need; the widest list that fits is used. Key -1 is for profiles
	// without times.
	Brief map[int][]string
	Noun  string // of a record of the log: "line"
	// Row and Rows name what a row stands for: "route", "routes".
	Row, Rows string
}

// ProfileOptions are the options for writing a profile.
type ProfileOptions struct {
	Format  Format
	Sort    string   // a column, with suffix ":asc" for ascending; "" keeps the order
	Limit   int      // rows; 0 for all
	Columns []string // names, or "all"; nil chooses by format and width
	Cols    int      // terminal columns of text tables
	Zone    *time.Location
}

// Column returns the column with a name.
func (v *View) Column(name string) (*RowColumn, error) {
	for i := range v.Columns {
		if v.Columns[i].Name == name {
			return &v.Columns[i], nil
		}
	}
	return nil, fmt.Errorf("no column %q; the columns are %s", name, strings.Join(v.Names(), ", "))
}

// Names lists the names of all columns.
func (v *View) Names() (names []string) {
	for _, c := range v.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Check validates the names in the options, before any log is read.
func (v *View) Check(o ProfileOptions) error {
	if o.Sort != "" {
		if _, err := v.Column(strings.TrimSuffix(o.Sort, ":asc")); err != nil {
			return fmt.Errorf("sorting: %w", err)
		}
	}
	_, err := v.chosen(o, nil)
	return err
}

// Write writes a profile: its rows and, in every format, a summary of what was read.
func (v *View) Write(w io.Writer, p *iikanji.Profile, o ProfileOptions) error {
	rows := slices.Clone(p.Rows)
	if err := v.Sort(rows, o.Sort); err != nil {
		return err
	}
	left := rows[:0]
	if o.Limit > 0 && len(rows) > o.Limit {
		rows, left = rows[:o.Limit], rows[o.Limit:]
	}
	if o.Format == JSON {
		return writeProfileJSON(w, p, rows)
	}
	columns, err := v.chosen(o, p)
	if err != nil {
		return err
	}
	t := v.table(rows, columns, o.Format)
	if err := t.Write(w, o.Format, o.Cols); err != nil {
		return err
	}
	b := strings.Builder{}
	lead := map[Format]string{TSV: "# ", CSV: "# "}[o.Format]
	if lead == "" {
		b.WriteString("\n")
	}
	for _, line := range append(v.more(left), v.intake(p, o.Zone)...) {
		if o.Format == Markdown {
			line = "- " + line
		}
		b.WriteString(lead + Clean(line) + "\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// Sort sorts rows by a column, given as in ProfileOptions.Sort. The sort is stable.
func (v *View) Sort(rows []iikanji.Row, by string) error {
	if by == "" {
		return nil
	}
	name, rising := strings.CutSuffix(by, ":asc")
	c, err := v.Column(name)
	if err != nil {
		return fmt.Errorf("sorting: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b iikanji.Row) int {
		order := 0
		if c.Value != nil {
			order = cmp.Compare(c.Value(&b), c.Value(&a))
		} else {
			order = strings.Compare(c.Raw(&a), c.Raw(&b)) // text ascends by default
		}
		if rising {
			return -order
		}
		return order
	})
	return nil
}

// chosen lists the columns to show. p is nil when only names are checked.
func (v *View) chosen(o ProfileOptions, p *iikanji.Profile) (columns []*RowColumn, err error) {
	names := o.Columns
	switch {
	case slices.Contains(names, "all"), len(names) == 0 && o.Format != Text && o.Format != "" && o.Format != Markdown:
		names = v.Names()
	case len(names) == 0:
		names = v.brief(o, p)
	}
	for _, n := range names {
		c, err := v.Column(strings.TrimSpace(n))
		if err != nil {
			return nil, fmt.Errorf("choosing columns: %w", err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// brief picks the columns that fit; for a profile without times, those of key -1.
func (v *View) brief(o ProfileOptions, p *iikanji.Profile) []string {
	cols := o.Cols
	if cols == 0 || o.Format == Markdown {
		cols = math.MaxInt
	}
	best := -1
	for min := range v.Brief {
		if min <= cols && min > best {
			best = min
		}
	}
	names := v.Brief[best]
	timed := p == nil || slices.ContainsFunc(p.Rows, func(r iikanji.Row) bool { return r.Total > 0 })
	if timed {
		return names
	}
	return v.Brief[-1]
}

func (v *View) table(rows []iikanji.Row, columns []*RowColumn, f Format) *Table {
	t := &Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, Column{Name: c.Name, Left: c.Left, Shrink: c.Long})
	}
	raw := f == TSV || f == CSV
	for i := range rows {
		cells := make([]string, len(columns))
		for k, c := range columns {
			if cells[k] = ""; raw {
				cells[k] = c.Raw(&rows[i])
			} else {
				cells[k] = c.Cell(&rows[i])
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// more describes the rows that the limit left out.
func (v *View) more(left []iikanji.Row) []string {
	if len(left) == 0 {
		return nil
	}
	var count int64
	var total time.Duration
	for i := range left {
		count += left[i].Count
		total += left[i].Total
	}
	rows, are := v.Rows, "are"
	if len(left) == 1 {
		rows, are = v.Row, "is"
	}
	with := "a count of " + Count(count)
	if total > 0 { // 0 in a log without times
		with += " and " + Duration(total) + " in all"
	}
	return []string{fmt.Sprintf("%s more %s with %s %s not shown: --limit 0 shows all", Count(int64(len(left))), rows, with, are)}
}

// intake describes in a few lines what was read.
func (v *View) intake(p *iikanji.Profile, zone *time.Location) (lines []string) {
	in := &p.Intake
	if zone == nil {
		zone = time.UTC
	}
	lines = append(lines, fmt.Sprintf("%s: %s, %s, %s", strings.Join(in.Files, ", "), in.Format, Number(in.Lines, v.Noun), in.Bytes))
	if !in.First.IsZero() {
		const form = "2006-01-02 15:04:05"
		lines = append(lines, fmt.Sprintf("from %s to %s", in.First.In(zone).Format(form), in.Last.In(zone).Format(form+" -0700")))
	}
	if in.Left > 0 {
		lines = append(lines, fmt.Sprintf("%s of the %ss left out by the conditions", Count(in.Left), v.Noun))
	}
	if in.Bad > 0 {
		lines = append(lines, fmt.Sprintf("%s of the %ss did not parse (%.2g %%):", Count(in.Bad), v.Noun, 100*float64(in.Bad)/float64(max(in.Lines, 1))))
		for _, b := range in.BadLines {
			lines = append(lines, fmt.Sprintf("  %s:%d: %s: %s", b.File, b.Line, b.Why, Shorten(Clean(b.Text), 60)))
		}
	}
	for _, n := range p.Notes {
		lines = append(lines, "note: "+n)
	}
	return lines
}

// writeProfileJSON writes the profile with these rows and without their
// sketches, which only merging needs and only --save keeps.
func writeProfileJSON(w io.Writer, p *iikanji.Profile, rows []iikanji.Row) error {
	cut := *p
	cut.Rows = slices.Clone(rows)
	for i := range cut.Rows {
		cut.Rows[i].Time = nil
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(&cut)
}
