package document

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/chart"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

//go:embed document.html
var documentHTML string

//go:embed document.css
var documentCSS string

// MaxSize is the limit of the HTML file, in bytes.
const MaxSize = 1_000_000

// limits bound the parts of the page; the history has everything.
type limits struct {
	runs     int // rows of the table of runs
	points   int // runs in the charts
	rows     int // rows of other tables
	changes  int
	evidence int // of one change
	diff     int // bytes of one diff
	diffs    int // bytes of all diffs
	sentence int // bytes of one sentence
}

// wide are the limits of most pages. A page that is larger than MaxSize is written
// again with half of them, and so on.
var wide = limits{runs: 400, points: 1500, rows: 40, changes: 100, evidence: 12, diff: 12_000, diffs: 300_000, sentence: 1_000}

func (l limits) half() limits {
	return limits{l.runs / 2, l.points / 2, l.rows / 2, l.changes / 2, l.evidence / 2, l.diff / 2, l.diffs / 2, l.sentence / 2}
}

// mostTrials bounds the rows of the tables of trials, findings and sensors.
const mostTrials = 200

var page = template.Must(template.New("document").Funcs(template.FuncMap{
	"effect":     Effect,
	"ratio":      Ratio,
	"points":     Points,
	"clock":      clock,
	"numbers":    numbers[iikanji.ChangeID],
	"runNumbers": numbers[iikanji.RunID],
	"duration":   func(d time.Duration) string { return report.Duration(d.Round(time.Millisecond)) },
	"percent":    func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
	"exp":        workRatio,
	"interval":   interval,
	"resultClass": func(r string) string {
		switch r {
		case "keep", "provisional", "revert", "dropped", "undone":
			return r
		}
		return "other"
	},
	"clean":  wide.clean, // HTML replaces it by that of its limits
	"result": ResultWord,
	"size":   func(b iikanji.Bytes) string { return b.String() },
	"mark":   ResultMark,
}).Parse(documentHTML))

// ResultMark is the shape of a result as text, that of the charts.
func ResultMark(result string) string {
	switch result {
	case "keep":
		return "▲"
	case "provisional":
		return "△"
	case "revert", "dropped", "undone":
		return "▼"
	}
	return "◆"
}

// clean bounds a text and replaces its control characters.
func (l limits) clean(text string) string {
	return report.Clean(plain.CutBytes(text, l.sentence))
}

// interval is a sentence about the bounds of a ratio.
func interval(i iikanji.Interval) string {
	if i.Lo == 0 {
		return "One pair has no interval."
	}
	return fmt.Sprintf("%.1f to %.1f, %.0f %% interval.", i.Lo, i.Hi, 100*i.Level)
}

func workRatio(i iikanji.Interval) string {
	return fmt.Sprintf("× %.2f (%.2f to %.2f)", math.Exp(i.Mid), math.Exp(i.Lo), math.Exp(i.Hi))
}

// A view is the data of the template.
type view struct {
	*summary.Summary
	CSS     template.CSS
	Made    string
	Scores  []*Figure
	Effects *Figure
	Bars    []section

	RunTable, TrialTable, FindingTable, SensorTable, PriceTable Table
	LeftOut                                                     int // runs that the table does not have
	NotDrawn                                                    int // runs that the charts do not have
	Unshown                                                     int // changes that the page does not have
	Shown                                                       []shownChange
	Parked                                                      []summary.Trial
}

// A section compares one kind of row before and after.
type section struct {
	Title  string
	Unit   string
	Of     summary.Comparison
	Figure *Figure
	Table  Table
}

// A shownChange is a change with its diff in lines.
type shownChange struct {
	summary.Change
	Result string
	Lines  []DiffLine
	Cut    int // bytes of the diff that were left out
	Say    string
}

// A DiffLine is a line of a diff; Class is "add", "del", "at" or "".
type DiffLine struct{ Class, Text string }

// HTML writes the report as one file. made is the time of writing.
func HTML(w io.Writer, s *summary.Summary, made time.Time) error {
	var b bytes.Buffer
	for l := wide; ; l = l.half() {
		b.Reset()
		t, err := page.Clone()
		if err == nil {
			err = t.Funcs(template.FuncMap{"clean": l.clean}).Execute(&b, viewOf(s, made, l))
		}
		if err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		if b.Len() <= MaxSize || l.rows == 0 {
			break
		}
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// viewOf is the data of a page within limits.
func viewOf(s *summary.Summary, made time.Time, l limits) *view {
	v := &view{Summary: s, CSS: template.CSS(chart.CSS + documentCSS), Made: made.UTC().Format(time.DateTime) + " UTC",
		RunTable: runsTable(s, max(l.runs, 1)), TrialTable: trialsTable(s), FindingTable: findingsTable(s), SensorTable: sensorsTable(s), PriceTable: pricesTable(s),
		LeftOut: max(0, len(s.Runs)-max(l.runs, 1)), Shown: shownChanges(s, l), Bars: sections(s, l.rows), Parked: remaining(s)}
	v.Unshown = len(s.Changes) - len(v.Shown)
	for _, t := range []*Table{&v.TrialTable, &v.FindingTable, &v.SensorTable} {
		if len(t.Rows) > mostTrials {
			t.Rows = t.Rows[len(t.Rows)-mostTrials:]
		}
	}
	drawn := *s
	if v.NotDrawn = len(s.Runs) - l.points; v.NotDrawn > 0 {
		drawn.Runs = s.Runs[v.NotDrawn:]
	}
	v.Scores, v.Effects = ScoreFigures(&drawn, nil), TrialsFigure(&drawn)
	return v
}

// sections are the comparisons that have rows.
func sections(s *summary.Summary, rows int) (all []section) {
	for _, x := range []section{
		{Title: "Routes", Unit: "mean time that a client waited for an answer", Of: s.Routes, Table: comparedTable("routes", "route", s.Routes, max(rows, 1))},
		{Title: "Statements", Unit: "mean time of one execution in the database", Of: s.Digests, Table: comparedTable("digests", "statement", s.Digests, max(rows, 1))},
		{Title: "CPU by service", Unit: "CPU time per request", Of: s.CPU, Table: comparedTable("cpu", "service", s.CPU, max(rows, 1))},
	} {
		if len(x.Of.Rows) > 0 {
			x.Figure = PairsFigure(x.Title+": "+x.Unit+", those with the largest share of the time first", [2]string{"before", "after"}, x.Of)
			all = append(all, x)
		}
	}
	return all
}

// remaining are the trials whose question is still open.
func remaining(s *summary.Summary) (open []summary.Trial) {
	for _, t := range s.Trials {
		switch t.Result {
		case "parked", "inconclusive", "provisional":
			open = append(open, t)
		}
	}
	return open
}

// shownChanges are the changes with their diffs, those that were kept first.
func shownChanges(s *summary.Summary, l limits) (shown []shownChange) {
	room := l.diffs
	for _, kept := range []bool{true, false} {
		for _, c := range s.Changes {
			if (c.Stage == iikanji.Kept) != kept || len(shown) == l.changes {
				continue
			}
			x := shownChange{Change: c, Result: c.Stage.String()}
			if c.Trial > 0 {
				t := s.Trials[c.Trial-1]
				x.Result, x.Say = t.Result, t.Verdict.Why
			}
			if c.Verdict != nil && c.Verdict.Why != "" {
				x.Say = c.Verdict.Why
			}
			x.Evidence = x.Evidence[:min(len(x.Evidence), l.evidence)]
			diff := strings.ToValidUTF8(c.Diff[:min(len(c.Diff), l.diff, room)], "\uFFFD")
			x.Cut = len(c.Diff) - min(len(c.Diff), l.diff, room)
			room -= len(diff)
			x.Lines = DiffLines(diff)
			shown = append(shown, x)
		}
	}
	return shown
}

// DiffLines are the lines of a diff, without control characters.
func DiffLines(diff string) (lines []DiffLine) {
	for line := range strings.Lines(diff) {
		l := DiffLine{Text: report.Clean(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))}
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "# "):
			l.Class = "at"
		case strings.HasPrefix(line, "+"):
			l.Class = "add"
		case strings.HasPrefix(line, "-"):
			l.Class = "del"
		}
		lines = append(lines, l)
	}
	return lines
}
