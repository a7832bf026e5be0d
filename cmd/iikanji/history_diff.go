package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/redact"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/report/document"
	"github.com/iikanji/iikanji/internal/show/summary"
)

type historyDiffCmd struct {
	Target string `arg:"" help:"Target whose history to show, such as isucondition (an arena is a target; default: the iikanji.toml in this folder)."`
	A      int    `arg:"" help:"Number of the first run."`
	B      int    `arg:"" help:"Number of the second run."`

	Limit    int  `help:"Rows of each table; 0 shows all." default:"15" placeholder:"N"`
	JSON     bool `help:"Print one JSON document."`
	Literals bool `help:"Show literals of statements, and what may be a secret; by default they are redacted."`
	placeFlags
}

// Help returns the long help of the command.
func (historyDiffCmd) Help() string {
	return `Compares two runs: the score, the changes that were applied, routes, CPU and
counters, and of two observed runs the statements and the configuration. It
lists reasons why the runs may not compare. Two runs prove nothing: the verdict
of a trial does.

Examples:
  iikanji history diff isucondition 7 3
  iikanji history diff isucondition 7 3 --json

Exit status: 0 done, 1 failed to run (also: there is no such run), 2 usage.`
}

// Run runs the command.
func (c *historyDiffCmd) Run(_ context.Context, e *env) error {
	if c.Limit < 0 {
		return usageError("--limit %d: want 0 or more", c.Limit)
	}
	h, err := c.open(e, c.Target)
	if err != nil {
		return err
	}
	defer h.Close()
	a, err := detailOf(h, c.A)
	if err != nil {
		return err
	}
	b, err := detailOf(h, c.B)
	if err != nil {
		return err
	}
	d := summary.Compare(a, b)
	if !c.Literals {
		redact.Document(d)
	}
	if c.JSON {
		return writeJSON(e.Stdout, d)
	}
	out := &output{w: e.Stdout, color: e.Color}
	c.head(out, e.Cols, a.Run, b.Run, d)
	c.tables(out, e, d)
	c.settings(out, e, d)
	return out.err
}

// head prints the scores, the changes and the doubts.
func (c *historyDiffCmd) head(out *output, cols int, a, b *iikanji.Run, d *summary.Difference) {
	score := func(r *iikanji.Run) string {
		if !r.Clean() {
			return r.Outcome.String()
		}
		return report.Count(int64(r.Score))
	}
	line := fmt.Sprintf("run %d: %s   run %d: %s", d.A, score(a), d.B, score(b))
	if d.Ratio > 0 {
		line += fmt.Sprintf("   × %.2f", d.Ratio)
	}
	out.line("%s", line)
	out.wrapped(fmt.Sprintf("changes applied only in run %d: %s; only in run %d: %s", d.A, numbersText(d.OnlyA), d.B, numbersText(d.OnlyB)), cols)
	for _, doubt := range d.Doubts {
		out.wrapped("doubt: "+doubt, cols)
	}
}

// tables print what is counted and timed.
func (c *historyDiffCmd) tables(out *output, e *env, d *summary.Difference) {
	for _, t := range []struct {
		title, key string
		of         summary.Comparison
	}{{"Routes: mean time of an answer", "route", d.Routes}, {"Statements: mean time of an execution", "statement", d.Digests}, {"CPU per request", "service", d.CPU}} {
		if len(t.of.Rows) > 0 {
			out.line("\n%s", t.title)
			out.table(document.Short(t.key, d.A, d.B, t.of, c.Limit), e.Cols)
		}
	}
	t := &report.Table{Columns: []report.Column{{Name: "what", Left: true, Shrink: true}, {Name: fmt.Sprintf("run %d", d.A)}, {Name: fmt.Sprintf("run %d", d.B)}, {Name: "difference"}, {Name: "unit", Left: true}}}
	for _, q := range d.Host {
		change := "-"
		if q.A != 0 {
			change = fmt.Sprintf("%+.0f %%", 100*(q.B/q.A-1))
		}
		t.Rows = append(t.Rows, []string{q.Name, quantity(q.A), quantity(q.B), change, q.Unit})
	}
	out.line("\nCounters and machine")
	out.table(t, e.Cols)
}

// quantity formats a number of any size with three digits.
func quantity(v float64) string {
	if v >= 1000 {
		return report.Count(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// settings print the configuration that differs. Whole files are shown as a diff.
func (c *historyDiffCmd) settings(out *output, e *env, d *summary.Difference) {
	if len(d.Settings) == 0 {
		return
	}
	t := &report.Table{Columns: []report.Column{{Name: "service", Left: true}, {Name: "setting", Left: true, Shrink: true}, {Name: fmt.Sprintf("run %d", d.A), Left: true, Shrink: true}, {Name: fmt.Sprintf("run %d", d.B), Left: true, Shrink: true}}}
	var files []summary.Setting
	for _, s := range d.Settings {
		if strings.Contains(s.A+s.B, "\n") {
			files = append(files, s)
			continue
		}
		t.Rows = append(t.Rows, []string{s.Service, s.Key, s.A, s.B})
	}
	out.line("\nConfiguration")
	if len(t.Rows) > 0 {
		out.table(t, e.Cols)
	}
	for _, s := range files {
		out.line("%s %s", report.Clean(s.Service), report.Clean(s.Key))
		out.diff(string(diff.Diff(fmt.Sprintf("run %d", d.A), []byte(s.A), fmt.Sprintf("run %d", d.B), []byte(s.B))))
	}
}
