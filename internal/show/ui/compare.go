package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/show/timeline"
)

// comparison is the data of two runs side by side.
type comparison struct {
	A, B   *summary.Detail
	Of     *summary.Difference
	Pairs  []*document.Figure
	Charts []*document.Figure
	Files  []fileDiff
}

// A fileDiff is a configuration that differs, as lines.
type fileDiff struct {
	Name  string
	Lines []document.DiffLine
}

// compareRuns shows two runs side by side: b is the run of the address, vs the other.
func (s *Server) compareRuns(b *summary.Detail, vs string) (*view, error) {
	n, err := strconv.Atoi(vs)
	if err != nil || n < 1 {
		return nil, notFound("%q is not the number of a run", vs)
	}
	a, err := s.store.detail(n)
	if err != nil {
		return nil, noRun(n, err)
	}
	if a.Run.ID == b.Run.ID {
		return nil, notFound("a run does not differ from itself")
	}
	d := summary.Compare(a, b)
	c := comparison{A: a, B: b, Of: d}
	c.Charts = secondsFigures(s.trySeconds(a), a, s.trySeconds(b), b)
	names := [2]string{fmt.Sprintf("run %d", d.A), fmt.Sprintf("run %d", d.B)}
	tables := []*Table{comparedTable("routes", "Routes", "route", names, d.Routes), comparedTable("statements", "Statements", "statement", names, d.Digests), comparedTable("cpu", "CPU per request", "service", names, d.CPU), quantitiesTable(names, d), c.settings(names)}
	for _, x := range []struct {
		title string
		of    summary.Comparison
	}{{"Routes: mean time of an answer", d.Routes}, {"Statements: mean time of an execution", d.Digests}, {"CPU per request", d.CPU}} {
		if f := document.PairsFigure(x.title, names, x.of); f != nil {
			c.Pairs = append(c.Pairs, f)
		}
	}
	return &view{name: "compare", title: fmt.Sprintf("Run %d against run %d", d.B, d.A), here: "/runs", tables: tables, data: c}, nil
}

// trySeconds reads the seconds of a run; nil where its samples are not kept.
func (s *Server) trySeconds(d *summary.Detail) *timeline.Seconds {
	h, err := s.store.open()
	if err != nil {
		return nil
	}
	s.raw <- struct{}{}
	defer func() { <-s.raw }()
	sec, err := timeline.SecondsOf(h, d.Run.ID, d.Profiles)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.o.Log.Warn("reading samples", "run", d.Run.ID, "error", err)
	}
	return sec
}

// comparedTable compares the rows of two states.
func comparedTable(name, caption, key string, names [2]string, c summary.Comparison) *Table {
	t := &Table{Name: name, Caption: caption + ", those with the largest share of the time first", Columns: []Column{leftColumn("key", key), rightColumn("a", "mean, "+names[0]), rightColumn("b", "mean, "+names[1]),
		rightColumn("difference", "difference"), rightColumn("sharea", "share, "+names[0]), rightColumn("shareb", "share, "+names[1])}}
	of := []func(summary.Side) (float64, string){
		func(s summary.Side) (float64, string) { return s.Mean, milliseconds(s.Mean) },
		func(s summary.Side) (float64, string) { return s.Share, report.Percent(s.Share) },
	}
	if name != "cpu" {
		t.Columns = append(t.Columns, rightColumn("p95a", "95th, "+names[0]), rightColumn("p95b", "95th, "+names[1]), rightColumn("ratea", "per second, "+names[0]), rightColumn("rateb", "per second, "+names[1]))
		of = append(of, func(s summary.Side) (float64, string) { return s.P95, milliseconds(s.P95) }, func(s summary.Side) (float64, string) { return s.Rate, report.Factor(s.Rate) })
	}
	for _, r := range c.Rows {
		row := []Cell{text(r.Key)}
		for _, of := range of {
			for _, side := range []summary.Side{r.A, r.B} {
				if !side.Known {
					row = append(row, missing())
					continue
				}
				row = append(row, number(of(side)))
			}
			if len(row) == 3 {
				row = append(row, differenceCell(r))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// differenceCell is the change of the mean, with a sign and a word for its direction.
func differenceCell(r summary.Compared) Cell {
	switch {
	case !r.A.Known:
		return Cell{Text: "new", Value: math.Inf(1), Numeric: true}
	case !r.B.Known:
		return Cell{Text: "gone", Value: math.Inf(-1), Numeric: true}
	case r.A.Mean <= 0:
		return missing()
	}
	v := r.B.Mean/r.A.Mean - 1
	c := number(v, report.Difference(v+1))
	if v < -0.05 {
		c.Class = "keep"
	} else if v > 0.05 {
		c.Class = "revert"
	}
	return c
}

func quantitiesTable(names [2]string, d *summary.Difference) *Table {
	t := &Table{Name: "quantities", Caption: "Counters and machine", Columns: []Column{leftColumn("what", "what"), rightColumn("a", names[0]), rightColumn("b", names[1]), rightColumn("difference", "difference"), leftColumn("unit", "unit")}}
	for _, q := range d.Host {
		change := missing()
		if q.A != 0 {
			change = number(q.B/q.A-1, report.Difference(q.B/q.A))
		}
		t.Rows = append(t.Rows, []Cell{text(q.Name), number(q.A, quantity(q.A)), number(q.B, quantity(q.B)), change, text(q.Unit)})
	}
	return t
}

func quantity(v float64) string {
	if v >= 1000 {
		return report.Count(int64(v))
	}
	return fmt.Sprintf("%.3g", v)
}

// settings is the table of the configuration that differs; whole files become diffs.
func (c *comparison) settings(names [2]string) *Table {
	t := &Table{Name: "settings", Caption: "Configuration that differs", Columns: []Column{leftColumn("service", "service"), leftColumn("setting", "setting"), leftColumn("a", names[0]), leftColumn("b", names[1])}}
	for _, s := range c.Of.Settings {
		if lines := diff.Diff(names[0], []byte(s.A), names[1], []byte(s.B)); len(s.A)+len(s.B) > 200 {
			c.Files = append(c.Files, fileDiff{s.Service + " " + s.Key, document.DiffLines(string(lines[:min(len(lines), maxDiff)]))})
			continue
		}
		t.Rows = append(t.Rows, []Cell{text(s.Service), text(s.Key), text(s.A), text(s.B)})
	}
	return t
}

// maxDiff bounds the text of one diff on a page.
const maxDiff = 100_000

// lanesFigure draws spans of time.
func lanesFigure(title string, hi time.Duration, rows []chart.Lane) *document.Figure {
	l := chart.Lanes{Title: title, Desc: "The table below has the same spans.", Format: milliseconds, Hi: hi.Seconds() * 1e3, Rows: rows}
	return document.NewFigure(title, l.At)
}
