package report

import (
	"io"
	"strings"
)

// paint makes text red if color is set.
func paint(text string, color bool) string {
	if !color {
		return text
	}
	return "\x1b[1;31m" + text + "\x1b[0m"
}

func (t *Table) writeText(w io.Writer, cols int) error {
	head, rows := t.Draw(cols)
	_, err := io.WriteString(w, head+strings.Join(rows, ""))
	return err
}

// Draw returns the head and each row with the lines below it, for a screen of cols
// columns.
func (t *Table) Draw(cols int) (head string, rows []string) {
	ws := t.widths()
	t.fit(ws, cols)
	for i := range t.Rows {
		row := t.line(i, ws)
		for _, below := range t.below(i) {
			text := "    " + Clean(below)
			if cols > 0 {
				text = Shorten(text, wide(cols))
			}
			row += strings.TrimRight(text, " ") + "\n"
		}
		rows = append(rows, row)
	}
	return t.head(ws), rows
}

func (t *Table) below(row int) []string {
	if row >= len(t.Below) {
		return nil
	}
	return t.Below[row]
}

func (t *Table) widths() []int {
	ws := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		ws[i] = max(c.Width, Width(c.Name))
	}
	for _, row := range t.Rows {
		for i := range t.Columns {
			if i < len(row) {
				ws[i] = max(ws[i], Width(Clean(row[i])))
			}
		}
	}
	return ws
}

// gap is the space before a column.
func (t *Table) gap(i int) string {
	switch {
	case i == 0:
		return ""
	case t.Columns[i].Tight:
		return " "
	}
	return "  "
}

// fit narrows the shrinking columns, each to no less than 12, until the table is
// cols wide.
func (t *Table) fit(ws []int, cols int) {
	total := 0
	for i, w := range ws {
		total += len(t.gap(i)) + w
	}
	for i, c := range t.Columns {
		if over := total - cols; cols > 0 && c.Shrink && over > 0 {
			cut := min(over, ws[i]-min(ws[i], 12))
			ws[i] -= cut
			total -= cut
		}
	}
}

// head returns the labels, if there are any, and the names.
func (t *Table) head(ws []int) string {
	var labels, names strings.Builder
	for i, c := range t.Columns {
		names.WriteString(t.gap(i) + align(c.Name, ws[i], c.Left))
		if i > 0 && c.Tight { // below the label of an earlier column
			continue
		}
		room := ws[i]
		for k := i + 1; k < len(ws) && t.Columns[k].Tight; k++ {
			room += len(t.gap(k)) + ws[k]
		}
		labels.WriteString(t.gap(i) + align(Shorten(Clean(c.Label), room), room, true))
	}
	out := ""
	for _, line := range []string{labels.String(), names.String()} {
		if line = strings.TrimRight(line, " "); line != "" {
			out += line + "\n"
		}
	}
	return out
}

// line returns one row.
func (t *Table) line(n int, ws []int) string {
	row := t.Rows[n]
	var b strings.Builder
	spaces := 0 // that are not written yet
	for i, c := range t.Columns {
		cell := ""
		if i < len(row) {
			cell = Shorten(Clean(row[i]), ws[i])
		}
		free := max(ws[i]-Width(cell), 0)
		spaces += len(t.gap(i))
		if !c.Left {
			spaces += free
		}
		if cell != "" {
			if t.Odd != nil && t.Odd(n, i) {
				cell = paint("!"+cell, t.Color)
				spaces-- // the mark stands in the gap
			}
			b.WriteString(strings.Repeat(" ", max(spaces, 0)) + cell)
			spaces = 0
		}
		if c.Left {
			spaces += free
		}
	}
	return b.String() + "\n"
}

// align fills text with spaces to a width.
func align(text string, width int, left bool) string {
	pad := strings.Repeat(" ", max(width-Width(text), 0))
	if left {
		return text + pad
	}
	return pad + text
}
