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
	// Label is written above the name, over this column and the Tight ones after it.
	Label string
	// Tight puts one space before the column instead of two.
	Tight bool
	// Width is the least width.
	Width int
}

// A Table holds rows of formatted cells. Cells may be hostile text: control
// characters never reach the terminal.
type Table struct {
	Columns []Column
	Rows    [][]string
	// Below are lines below each row of a text table, for text that needs the whole
	// width. Other formats leave them out.
	Below [][]string
	// Odd reports whether a cell is marked; nil marks none. A text table puts "!"
	// before it, and colours it if Color is set.
	Odd func(row, column int) bool
	// Color makes marked cells red. The mark is there without colours too.
	Color bool
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
