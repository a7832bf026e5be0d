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

// A RowColumn is one column of the rows of profiles.
type RowColumn struct {
	Name string
	Help string
	// Cell is for people, Raw for programs: times in seconds, sizes in bytes,
	// shares of 1.
	Cell, Raw func(r *iikanji.Row) string
	// Value sorts; nil where the text does.
	Value func(r *iikanji.Row) float64
	Left  bool
	Long  bool // of text that may be cut in a table
}

// A View is how profiles of one kind are shown.
type View struct {
	Columns []RowColumn
	// Brief names the columns of a text table of at least so many terminal
	// columns; the widest that fits is taken.
	Brief map[int][]string
	Noun  string // of a record: "line"
	// Row and Rows are what the rows are about, one and many: "route", "routes".
	Row, Rows string
}

// ProfileOptions say how to write a profile.
type ProfileOptions struct {
	Format  Format
	Sort    string   // a column, ":asc" behind it for the smallest first; "" keeps the order
	Limit   int      // rows; 0 for all
	Columns []string // names, or "all"; nil chooses by format and width
	Cols    int      // width of text tables
	Zone    *time.Location
}

// Column finds a column by name.
func (v *View) Column(name string) (*RowColumn, error) {
	for i := range v.Columns {
		if v.Columns[i].Name == name {
			return &v.Columns[i], nil
		}
	}
	return nil, fmt.Errorf("there is no column %q, but %s", name, strings.Join(v.Names(), ", "))
}

// Names lists the columns.
func (v *View) Names() (names []string) {
	for _, c := range v.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Check finds mistakes in the options before any work is done.
func (v *View) Check(o ProfileOptions) error {
	if o.Sort != "" {
		if _, err := v.Column(strings.TrimSuffix(o.Sort, ":asc")); err != nil {
			return fmt.Errorf("sorting: %w", err)
		}
	}
	_, err := v.chosen(o, nil)
	return err
}

// Write writes a profile: its rows and, in every format, what was read.
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

// Sort orders rows by a column as in ProfileOptions.Sort, ties by what they
// were before.
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
			order = strings.Compare(c.Raw(&a), c.Raw(&b)) // names from a to z
		}
		if rising {
			return -order
		}
		return order
	})
	return nil
}

// chosen lists the columns to show. p is nil while only names are checked.
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

// brief picks the columns that fit, and leaves out those about times where no
// row has any.
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

// more says what the limit left out.
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
	if total > 0 { // a log without times has none
		with += " and " + Duration(total) + " in all"
	}
	return []string{fmt.Sprintf("%s more %s with %s %s not shown: --limit 0 shows all", Count(int64(len(left))), rows, with, are)}
}

// intake tells in a few lines what was read.
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

// writeProfileJSON writes the profile as it is, with these rows and without
// the sketches: they are for merging, and only --save keeps them.
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
