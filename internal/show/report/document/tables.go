package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A Table is a table of the document with its name, which is that of its TSV file.
type Table struct {
	Name string
	report.Table
}

func left(name string) report.Column  { return report.Column{Name: name, Left: true} }
func right(name string) report.Column { return report.Column{Name: name} }

// tables are those of a TSV folder.
func tables(s *summary.Summary) []Table {
	return []Table{runsTable(s, 0), trialsTable(s), changesTable(s), comparedTable("routes", "route", s.Routes, 0), comparedTable("digests", "statement", s.Digests, 0),
		comparedTable("cpu", "service", s.CPU, 0), findingsTable(s), sensorsTable(s), pricesTable(s)}
}

// runsTable lists the latest runs; 0 means all.
func runsTable(s *summary.Summary, most int) Table {
	t := Table{Name: "runs", Table: report.Table{Columns: []report.Column{right("run"), left("began (UTC)"), right("load"), left("part"), right("trial"), left("outcome"), right("score"), left("changes applied"), left("notes")}}}
	runs := s.Runs
	if most > 0 && len(runs) > most {
		runs = runs[len(runs)-most:]
	}
	for _, r := range runs {
		outcome, score, trial := "not saved", "-", "-"
		if r.Saved {
			outcome = r.Outcome.String()
			if !r.Clean && r.Outcome == iikanji.Passed {
				outcome = "void"
			}
		}
		if r.Clean {
			score = Points(r.Score)
		}
		if r.Trial > 0 {
			trial = strconv.Itoa(r.Trial)
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(int(r.ID)), clock(r.Began), load(r.Load), string(r.Part), trial, outcome, score, numbers(r.With), strings.Join(r.Notes, "; ")})
	}
	return t
}

// trialsTable lists all trials, and the candidates that were not tried.
func trialsTable(s *summary.Summary) Table {
	t := Table{Name: "trials", Table: report.Table{Columns: []report.Column{right("trial"), right("changes"), left("what"), left("result"), left("rule"), left("effect on the score"), right("runs"), left("why")}}}
	for _, x := range s.Trials {
		why, rule := x.Verdict.Why, "-"
		if !x.Tried() {
			why = x.Skipped
		} else if x.Verdict.Reason != iikanji.ReasonUnknown {
			rule = x.Verdict.Reason.String()
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(x.N), numbers(x.Changes), x.Says, ResultWord(x.Result), rule, Effect(x.Verdict.Effect), strconv.Itoa(x.Runs), why})
	}
	return t
}

func changesTable(s *summary.Summary) Table {
	t := Table{Name: "changes", Table: report.Table{Columns: []report.Column{right("change"), left("kind"), left("target"), left("finding"), left("stage"), left("effect on the score"), left("says"), left("claim")}}}
	for _, c := range s.Changes {
		t.Rows = append(t.Rows, []string{strconv.Itoa(int(c.ID)), c.Kind, c.Target, string(c.Code), c.Stage.String(), changeEffect(&c), c.Says, c.Claim})
	}
	return t
}

// comparedTable lists the rows of a comparison that took most; 0 means all.
func comparedTable(name, key string, c summary.Comparison, most int) Table {
	if c.After == "" && len(c.Rows) > 0 {
		return stateTable(name, key, c, most)
	}
	cpu := name == "cpu"
	t := Table{Name: name, Table: report.Table{Columns: []report.Column{left(key), right("mean before"), right("after"), right("difference"), right("share before"), right("after")}}}
	if !cpu {
		t.Columns = append(t.Columns, right("p95 before"), right("after"), right("per second before"), right("after"))
	}
	if name == "digests" {
		t.Columns = append(t.Columns, right("rows examined before"), right("after"))
	}
	for i, r := range c.Rows {
		if most > 0 && i == most {
			break
		}
		row := []string{r.Key, duration(r.A, r.A.Mean), duration(r.B, r.B.Mean), difference(r), known(r.A, report.Percent(r.A.Share)), known(r.B, report.Percent(r.B.Share))}
		if !cpu {
			row = append(row, duration(r.A, r.A.P95), duration(r.B, r.B.P95), known(r.A, rate(r.A.Rate)), known(r.B, rate(r.B.Rate)))
		}
		if name == "digests" {
			row = append(row, known(r.A, report.Short(r.A.Rows)), known(r.B, report.Short(r.B.Rows)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// stateTable shows one kind of row of the only state that was observed.
func stateTable(name, key string, c summary.Comparison, most int) Table {
	t := Table{Name: name, Table: report.Table{Columns: []report.Column{left(key), right("mean"), right("share")}}}
	if name != "cpu" {
		t.Columns = append(t.Columns, right("p95"), right("per second"))
	}
	if name == "digests" {
		t.Columns = append(t.Columns, right("rows examined"))
	}
	for i, r := range c.Rows {
		if most > 0 && i == most {
			break
		}
		row := []string{r.Key, duration(r.A, r.A.Mean), known(r.A, report.Percent(r.A.Share))}
		if name != "cpu" {
			row = append(row, duration(r.A, r.A.P95), known(r.A, rate(r.A.Rate)))
		}
		if name == "digests" {
			row = append(row, known(r.A, report.Short(r.A.Rows)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// findingsTable lists the findings of the latest observed run.
func findingsTable(s *summary.Summary) Table {
	t := Table{Name: "findings", Table: report.Table{Columns: []report.Column{left("code"), right("seconds per run"), left("where"), left("claim"), left("remedy")}}}
	for _, f := range s.Open() {
		remedy := ""
		if len(f.Remedies) > 0 {
			remedy = f.Remedies[0].Says
		}
		t.Rows = append(t.Rows, []string{string(f.Code), Gain(f.Gain), f.Where, f.Claim, remedy})
	}
	return t
}

// sensorsTable lists the proofs of every observed run.
func sensorsTable(s *summary.Summary) Table {
	t := Table{Name: "sensors", Table: report.Table{Columns: []report.Column{right("run"), left("sensor"), left("state"), left("seen"), left("wanted")}}}
	for _, o := range s.Observed {
		for _, x := range o.Sensors {
			t.Rows = append(t.Rows, sensorRows(o.Run, x)...)
		}
		if o.Error != "" {
			t.Rows = append(t.Rows, []string{strconv.Itoa(int(o.Run)), "-", "not read", o.Error, "-"})
		}
	}
	return t
}

func sensorRows(run iikanji.RunID, x observe.Sensor) (rows [][]string) {
	word := func(ok bool) string { return map[bool]string{true: "proven", false: "RED, not used"}[ok] }
	if x.Error != "" {
		rows = append(rows, []string{strconv.Itoa(int(run)), x.Name, word(false), x.Error, "-"})
	}
	for _, p := range x.Proofs {
		rows = append(rows, []string{strconv.Itoa(int(run)), x.Name, word(p.Holds), p.Says, p.Within})
	}
	return rows
}

func pricesTable(s *summary.Summary) Table {
	t := Table{Name: "prices", Table: report.Table{Columns: []report.Column{left("sensor"), left("score, observed / bare"), left("CPU per request, observed / bare"), left("verdict")}}}
	for _, p := range s.Prices {
		t.Rows = append(t.Rows, []string{p.Sensor, Ratio(p.Score), Ratio(p.CPU), p.Says})
	}
	return t
}

// Points formats a score.
func Points(v float64) string { return report.Count(int64(math.Round(v))) }

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.DateTime)
}

func load(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return report.Duration(d.Round(100 * time.Millisecond))
}

func numbers[T ~int](ids []T) string {
	if len(ids) == 0 {
		return "-"
	}
	var parts []string
	for _, id := range ids {
		parts = append(parts, strconv.Itoa(int(id)))
	}
	return strings.Join(parts, " ")
}

// ResultWord is the result of a trial as it is printed: kept changes stand out
// without a colour.
func ResultWord(result string) string {
	switch result {
	case "keep":
		return "KEPT"
	case "revert":
		return "reverted"
	}
	return result
}

// Effect formats an effect on ln(score) in percent, with its interval; as a factor where
// it is large.
func Effect(i iikanji.Interval) string {
	if i.Level == 0 {
		return "-"
	}
	if i.Mid >= math.Log(10) {
		of := func(d float64) string { return report.Factor(math.Exp(d)) }
		return fmt.Sprintf("× %s (%s to %s)", of(i.Mid), of(i.Lo), of(i.Hi))
	}
	of := func(d float64) float64 { return 100 * math.Expm1(d) }
	return fmt.Sprintf("%+.1f %% (%+.1f to %+.1f)", of(i.Mid), of(i.Lo), of(i.Hi))
}

func changeEffect(c *summary.Change) string {
	if c.Verdict == nil {
		return "-"
	}
	return Effect(c.Verdict.Effect)
}

// Ratio formats a ratio with its interval.
func Ratio(i iikanji.Interval) string {
	if i.Mid == 0 {
		return "-"
	}
	if i.Lo == 0 && i.Hi == 0 {
		return fmt.Sprintf("× %.2f", i.Mid)
	}
	return fmt.Sprintf("× %.2f (%.2f to %.2f)", i.Mid, i.Lo, i.Hi)
}

// Gain formats a range of seconds.
func Gain(r iikanji.Range) string {
	if r.Hi == 0 {
		return "-"
	}
	lo, hi := report.Duration(time.Duration(r.Lo*1e9)), report.Duration(time.Duration(r.Hi*1e9))
	if lo == hi || r.Lo == 0 {
		return hi
	}
	return lo + "–" + hi
}

func known(s summary.Side, text string) string {
	if !s.Known {
		return "-"
	}
	return text
}

// rate formats a number per second.
func rate(v float64) string {
	if v < 10 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return report.Short(v)
}

func duration(s summary.Side, ms float64) string {
	return known(s, report.Duration(time.Duration(ms*1e6)))
}

// difference formats the change of the mean.
func difference(r summary.Compared) string {
	switch {
	case !r.A.Known:
		return "new"
	case !r.B.Known:
		return "gone"
	case r.A.Mean <= 0:
		return "-"
	}
	return report.Difference(r.B.Mean / r.A.Mean)
}

// Short is the table of a comparison of two runs for a terminal of 80 columns; most
// rows, 0 means all.
func Short(key string, a, b iikanji.RunID, c summary.Comparison, most int) *report.Table {
	t := &report.Table{Columns: []report.Column{{Name: key, Left: true, Shrink: true}, right(fmt.Sprintf("run %d", a)), right(fmt.Sprintf("run %d", b)), right("difference"), right("share"), right("share")}}
	for i, r := range c.Rows {
		if most > 0 && i == most {
			break
		}
		t.Rows = append(t.Rows, []string{r.Key, duration(r.A, r.A.Mean), duration(r.B, r.B.Mean), difference(r), known(r.A, report.Percent(r.A.Share)), known(r.B, report.Percent(r.B.Share))})
	}
	return t
}
