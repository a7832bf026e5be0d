package main

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report"
)

// tableFlags set how rows are shown.
type tableFlags struct {
	Sort        string   `help:"Column to sort by; with the suffix ':asc' the smallest value comes first (default: total). sum, avg and uri are total, mean and route." placeholder:"COLUMN"`
	Limit       int      `help:"Rows to show; 0 for all (default: 40 in a table, else all)." default:"-1" placeholder:"N"`
	Columns     []string `help:"Columns, separated by commas, or all." placeholder:"NAMES"`
	Percentiles string   `help:"Percentiles to show, as in 50,75,99,99.9." placeholder:"NUMBERS"`
	Noheaders   bool     `help:"Print no line with the names of the columns."`
	Format      string   `help:"table, tsv, csv, markdown (md) or json." default:"table" enum:"table,tsv,csv,markdown,md,json"`
	JSON        bool     `help:"The same as --format json."`
}

// tableLimit is the default number of rows of a table.
const tableLimit = 40

// alpColumns are alp's names of columns.
var alpColumns = map[string]string{"sum": "total", "avg": "mean", "uri": "route", "sum-body": "bytes", "sum_body": "bytes", "avg-body": "mean-bytes",
	"avg_body": "mean-bytes", "max-body": "max-bytes", "max_body": "max-bytes"}

// A shownTable is how rows are shown: a view with the chosen percentiles.
type shownTable struct {
	view        *report.View
	options     report.ProfileOptions
	percentiles []percentile
	noHeaders   bool
}

// table checks the flags against a view.
func (t *tableFlags) table(e *env, v *report.View) (*shownTable, error) {
	s := &shownTable{view: v, noHeaders: t.Noheaders}
	if t.Percentiles != "" {
		var err error
		if s.percentiles, err = parsePercentiles(t.Percentiles); err != nil {
			return nil, usageError("--percentiles: %w", err)
		}
		addPercentiles(v, s.percentiles)
	}
	var err error
	s.options, err = t.options(e, v)
	return s, err
}

// options checks the flags against a view.
func (t *tableFlags) options(e *env, v *report.View) (report.ProfileOptions, error) {
	o := report.ProfileOptions{Format: report.Format(t.Format), Sort: t.Sort, Limit: t.Limit, Cols: e.Cols, Zone: time.Local}
	for _, c := range t.Columns {
		o.Columns = append(o.Columns, columnName(v, c))
	}
	name, rising := bytes.CutSuffix([]byte(o.Sort), []byte(":asc"))
	if o.Sort = columnName(v, string(name)); rising {
		o.Sort += ":asc"
	}
	if o.Format == "md" {
		o.Format = report.Markdown
	}
	if t.JSON {
		o.Format = report.JSON
	}
	switch {
	case o.Limit < -1:
		return o, usageError("--limit %d: the number of rows is 0 (all) or more", o.Limit)
	case o.Limit == -1:
		o.Limit = 0
		if o.Format == report.Text {
			o.Limit = tableLimit
		}
	}
	if err := v.Check(o); err != nil {
		return o, usageError("%w", err)
	}
	return o, nil
}

// columnName translates alp's name of a column that the view does not have.
func columnName(v *report.View, name string) string {
	if _, err := v.Column(name); err != nil {
		if to, ok := alpColumns[name]; ok {
			return to
		}
	}
	return name
}

// write writes a profile.
func (s *shownTable) write(w io.Writer, p *iikanji.Profile) error {
	if err := fillPercentiles(p, s.percentiles); err != nil {
		return err
	}
	out := w
	if s.noHeaders && s.options.Format != report.JSON {
		lines := 1
		if s.options.Format == report.Markdown {
			lines = 2 // and the rule below the names
		}
		out = &withoutHead{w: w, lines: lines}
	}
	if err := s.view.Write(out, p, s.options); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return s.writeSlowest(w, p.Slowest)
}

// writeSlowest lists the slowest single requests. JSON has them in the profile.
func (s *shownTable) writeSlowest(w io.Writer, all []iikanji.Sighting) error {
	if len(all) == 0 || s.options.Format == report.JSON {
		return nil
	}
	lead, head := "  ", "\nslowest requests:\n"
	switch s.options.Format {
	case report.TSV, report.CSV:
		lead, head = "# slowest: ", ""
	case report.Markdown:
		lead = "- "
	}
	b := bytes.NewBufferString(head)
	for _, one := range all {
		fmt.Fprintf(b, "%s%s  %s:%d  %s\n", lead, report.Duration(one.Took), report.Clean(one.File), one.Line, report.Clean(one.Text))
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the slowest requests: %w", err)
	}
	return nil
}

// withoutHead drops the first lines of what is written.
type withoutHead struct {
	w     io.Writer
	lines int
}

func (h *withoutHead) Write(b []byte) (int, error) {
	n := len(b)
	for h.lines > 0 && len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return n, nil
		}
		b, h.lines = b[i+1:], h.lines-1
	}
	if len(b) == 0 {
		return n, nil
	}
	if _, err := h.w.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}
