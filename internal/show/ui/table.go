package ui

import (
	"cmp"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji/internal/show/report"
)

// A Cell is one cell of a Table.
type Cell struct {
	Text  string
	Href  string
	Class string
	// Value is what a number sorts by; cells without one sort by their text.
	Value   float64
	Numeric bool
	// Bar is a share of 0..1 that is drawn beside the text; 0 for none.
	Bar float64
}

// BarWidth is the width of the bar, of 60.
func (c Cell) BarWidth() int { return int(60*min(max(c.Bar, 0), 1) + 0.5) }

func text(s string) Cell                  { return Cell{Text: s} }
func link(s, href string) Cell            { return Cell{Text: s, Href: href} }
func number(v float64, as string) Cell    { return Cell{Text: as, Value: v, Numeric: true} }
func whole(n int) Cell                    { return number(float64(n), strconv.Itoa(n)) }
func linked(n int, base string) Cell      { c := whole(n); c.Href = base + strconv.Itoa(n); return c }
func classed(s string, class string) Cell { return Cell{Text: s, Class: class} }
func missing() Cell                       { return Cell{Text: "-", Value: -1, Numeric: true} }

// A Column is the head of one column; Key is its name in addresses.
type Column struct {
	Key, Name string
	Left      bool
	// Sort is the address that sorts by this column; State is ascending, descending
	// or "".
	Sort, State string
}

func leftColumn(key, name string) Column  { return Column{Key: key, Name: name, Left: true} }
func rightColumn(key, name string) Column { return Column{Key: key, Name: name} }

// A Table is a table that can be sorted, filtered and saved. Its state is in the
// address: NAME.sort, NAME.q; tsv=NAME is its file.
type Table struct {
	Name, Caption string
	Columns       []Column
	Rows          [][]Cell

	// Filled in by view:
	Filter string  // text that rows must contain
	All    int     // rows without the filter
	More   string  // address of all rows, "" if they are shown
	TSV    string  // address of the file
	Hidden []Field // other parameters of the page, for the form of the filter
	Action string
}

// A Field is a hidden field of a form.
type Field struct{ Name, Value string }

// maxRows bounds the rows of a page; the file has all.
const maxRows = 200

// view sorts, filters and cuts the rows by the parameters of the address.
func (t *Table) view(u *url.URL) *Table {
	q := u.Query()
	t.Action, t.All, t.Filter = u.Path, len(t.Rows), q.Get(t.Name+".q")
	if t.Filter != "" {
		word := strings.ToLower(t.Filter)
		t.Rows = slices.DeleteFunc(slices.Clone(t.Rows), func(row []Cell) bool {
			return !slices.ContainsFunc(row, func(c Cell) bool { return strings.Contains(strings.ToLower(c.Text), word) })
		})
	}
	t.order(q.Get(t.Name + ".sort"))
	for i := range t.Columns {
		c := &t.Columns[i]
		key := c.Key
		if descending := "-" + key; !c.Left && q.Get(t.Name+".sort") != descending || q.Get(t.Name+".sort") == key {
			key = descending // numbers: the largest first
		}
		c.Sort = with(u, t.Name+".sort", key, "tsv", "") + "#" + t.Name
	}
	t.TSV = with(u, "tsv", t.Name)
	for name, values := range q {
		if name == t.Name+".q" || name == "tsv" || len(values) == 0 {
			continue
		}
		t.Hidden = append(t.Hidden, Field{name, values[0]})
	}
	slices.SortFunc(t.Hidden, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return t
}

// cut leaves the first rows, unless the address has the parameter for all.
func (t *Table) cut(u *url.URL) *Table {
	if len(t.Rows) > maxRows && u.Query().Get(t.Name+".rows") != "all" {
		t.Rows = t.Rows[:maxRows]
		t.More = with(u, t.Name+".rows", "all", "tsv", "") + "#" + t.Name
	}
	return t
}

// order sorts by a column; a "-" before its key reverses the order.
func (t *Table) order(by string) {
	key, down := strings.CutPrefix(by, "-")
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		return
	}
	t.Columns[i].State = "ascending"
	if down {
		t.Columns[i].State = "descending"
	}
	t.Rows = slices.Clone(t.Rows)
	slices.SortStableFunc(t.Rows, func(a, b []Cell) int {
		x, y := a[i], b[i]
		order := strings.Compare(x.Text, y.Text)
		if x.Numeric && y.Numeric {
			order = cmp.Compare(x.Value, y.Value)
		}
		if down {
			order = -order
		}
		return order
	})
}

// with returns an address with parameters set; an empty value removes one.
func with(u *url.URL, pairs ...string) string {
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + q.Encode()
}

// write writes the table as TSV.
func (t *Table) write(w io.Writer) error {
	out := report.Table{}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, report.Column{Name: c.Name})
	}
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		out.Rows = append(out.Rows, cells)
	}
	return out.Write(w, report.TSV, 0)
}
