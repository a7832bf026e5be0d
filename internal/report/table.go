package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Format is an output format of a Table.
type Format string

const (
	Text     Format = "table"
	TSV      Format = "tsv"
	CSV      Format = "csv"
	Markdown Format = "markdown"
	JSON     Format = "json" // an array of objects by column name
)

// A Column is the head of one column.
type Column struct {
	Name string
	// Left aligns to the left; numbers are aligned to the right.
	Left bool
	// Shrink allows cells to be cut in the middle with "…" when a text table
	// would be too wide. One column should have it, usually the key.
	Shrink bool
}

// A Table holds rows of formatted cells. Cells may be hostile text: control
// characters never reach the terminal.
type Table struct {
	Columns []Column
	Rows    [][]string
}

// Write writes the table. cols is the width for Text, in terminal columns; 0
// means no limit.
func (t *Table) Write(w io.Writer, f Format, cols int) error {
	switch f {
	case Text, "":
		return t.writeText(w, cols)
	case TSV:
		return t.writeTSV(w)
	case CSV:
		return t.writeCSV(w)
	case Markdown:
		return t.writeMarkdown(w)
	case JSON:
		return t.writeJSON(w)
	}
	return fmt.Errorf("unknown format %q", f)
}

func (t *Table) widths() []int {
	ws := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		ws[i] = Width(c.Name)
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

// fit narrows the shrinking columns, each to no less than 12, until the table is
// cols wide.
func (t *Table) fit(ws []int, cols int) {
	total := 2 * (len(ws) - 1)
	for _, w := range ws {
		total += w
	}
	for i, c := range t.Columns {
		if over := total - cols; cols > 0 && c.Shrink && over > 0 {
			cut := min(over, ws[i]-min(ws[i], 12))
			ws[i] -= cut
			total -= cut
		}
	}
}

func (t *Table) writeText(w io.Writer, cols int) error {
	ws := t.widths()
	t.fit(ws, cols)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
	}
	for _, row := range append([][]string{head}, t.Rows...) {
		if _, err := io.WriteString(w, t.line(row, ws)); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) line(row []string, ws []int) string {
	var b strings.Builder
	for i, c := range t.Columns {
		cell := ""
		if i < len(row) {
			cell = Shorten(Clean(row[i]), ws[i])
		}
		pad := strings.Repeat(" ", max(ws[i]-Width(cell), 0))
		if i > 0 {
			b.WriteString("  ")
		}
		if c.Left {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

func (t *Table) writeTSV(w io.Writer) error {
	for _, row := range t.clean() {
		if _, err := io.WriteString(w, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.WriteAll(t.clean()); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

func (t *Table) writeMarkdown(w io.Writer) error {
	rows := t.clean()
	rule := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		rule[i] = "--:"
		if c.Left {
			rule[i] = ":--"
		}
	}
	rows = append(rows[:1:1], append([][]string{rule}, rows[1:]...)...)
	esc := strings.NewReplacer("|", "\\|", "<", "&lt;")
	for n, row := range rows {
		for i := range row {
			if n != 1 {
				row[i] = esc.Replace(row[i])
			}
		}
		if _, err := io.WriteString(w, "| "+strings.Join(row, " | ")+" |\n"); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) writeJSON(w io.Writer) error {
	out := make([]map[string]string, len(t.Rows))
	for n, row := range t.Rows {
		out[n] = make(map[string]string, len(row))
		for i, c := range t.Columns {
			if i < len(row) {
				out[n][c.Name] = row[i]
			}
		}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// clean returns copies of the head and the rows, made safe for a terminal.
func (t *Table) clean() [][]string {
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
	}
	rows := [][]string{head}
	for _, r := range t.Rows {
		row := make([]string, len(t.Columns))
		for i := range min(len(r), len(row)) {
			row[i] = Clean(r[i])
		}
		rows = append(rows, row)
	}
	return rows
}
