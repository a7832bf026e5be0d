package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/show/report"
)

// mostRepeats bounds the repeated runs of one state.
const mostRepeats = 100

// workDigest is in the name of the gauges that are digests of the offered work.
const workDigest = "(digest)"

// checkRepeat checks the flag --repeat. 0 is a command without the flag.
func (c *benchCmd) checkRepeat() error {
	switch {
	case c.Repeat < 0 || c.Repeat > mostRepeats:
		return usageError("--repeat %d: want 1 to %d", c.Repeat, mostRepeats)
	case c.Repeat > 1 && (c.Price || c.NoLoad || c.Manual):
		return usageError("--repeat excludes --price, --no-load and --manual")
	}
	return nil
}

// A repeatedState is a state of a target with its repeated runs.
type repeatedState struct {
	Says string `json:"state"`
	// Missing are the parts of the state that could not be put in force, with reasons.
	Missing []string       `json:"missing,omitempty"`
	Runs    []*iikanji.Run `json:"runs"`
	Void    int            `json:"void"` // runs that do not count

	Passed int `json:"passed"`
	Of     int `json:"of"` // runs that count
	// Chance that the next run passes; see choose.Row.Passes. 0 without a run that counts.
	Chance float64 `json:"chance"`
	Median float64 `json:"median"` // of the scores of the runs that passed
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	// Spread is the standard deviation of ln(score); 0 for fewer than two scores.
	Spread float64 `json:"spread"`
}

// add adds a run.
func (s *repeatedState) add(run *iikanji.Run) {
	s.Runs = append(s.Runs, run)
	if !meant(run) {
		s.Void++
	}
}

// meant reports whether a run counts: it was neither void nor cut off.
func meant(run *iikanji.Run) bool {
	return !run.Partial && !run.Load.Void && (run.Outcome == iikanji.Passed || run.Outcome == iikanji.Failed)
}

// sum fills in what the runs say.
func (s *repeatedState) sum() {
	var runs []choose.Run
	var scores, logs []float64
	for _, run := range s.Runs {
		if !meant(run) {
			continue
		}
		passed := run.Outcome == iikanji.Passed
		runs = append(runs, choose.Run{ID: run.ID, State: choose.State{Key: "this"}, Passed: passed, Score: run.Score})
		if passed {
			scores = append(scores, run.Score)
		}
		if passed && run.Score > 0 {
			logs = append(logs, math.Log(run.Score))
		}
	}
	s.Passed, s.Of = len(scores), len(runs)
	if s.Of > 0 {
		s.Chance = choose.Among(runs, choose.Rules{Final: choose.Last, Floor: choose.DefaultFloor}).Rows[0].Passes
	}
	if len(scores) > 0 {
		s.Median, s.Least, s.Most = stats.Median(scores), slices.Min(scores), slices.Max(scores)
	}
	s.Spread = stats.SD(logs)
}

// failed is the first run that failed; nil if none did.
func (s *repeatedState) failed() *iikanji.Run {
	i := slices.IndexFunc(s.Runs, func(r *iikanji.Run) bool { return meant(r) && r.Outcome == iikanji.Failed })
	if i < 0 {
		return nil
	}
	return s.Runs[i]
}

// repeat makes several runs of the target as it is, and prints how many passed.
func (r *benchRun) repeat(ctx context.Context, f *field.Field) error {
	s := &repeatedState{Says: r.target.Name}
	for i := range r.Repeat {
		if i > 0 && !r.rest(ctx) {
			break
		}
		run, err := r.bench(ctx, f)
		if err != nil {
			return err
		}
		s.add(run)
		if ctx.Err() != nil {
			break
		}
	}
	s.sum()
	if err := r.printRepeated(s); err != nil {
		return err
	}
	switch failed := s.failed(); {
	case failed != nil:
		return verdictOf(failed)
	case s.Void > 0 && s.Of == 0, ctx.Err() != nil:
		return &exitError{Status: exitFailed}
	}
	return nil
}

// rest waits between two runs, as a search does: what a cache keeps for a second must not
// survive initialize. It returns false if ctx ends.
func (r *benchRun) rest(ctx context.Context) bool {
	return scenario.Sleep(ctx, cmp.Or(r.e.Rest, field.DefaultRest))
}

// printShort writes one of several runs in a line.
func (r *benchRun) printShort(run *iikanji.Run) error {
	if r.JSON {
		return nil // the document has all of them
	}
	out := &output{w: r.e.Stdout}
	out.line("%s", report.Shorten(shortRun(run), r.e.Cols))
	return out.err
}

// shortRun is a run in one line.
func shortRun(run *iikanji.Run) string {
	text := fmt.Sprintf("run %d: %s", run.ID, run.Outcome)
	if run.Outcome == iikanji.Passed {
		text += ", score " + scoreText(run.Score)
	}
	errs, timeouts := int64(0), int64(0)
	for _, st := range run.Steps {
		errs, timeouts = errs+st.Errors-st.Timeouts, timeouts+st.Timeouts
	}
	if errs > 0 {
		text += ", " + report.Number(errs, "error")
	}
	if timeouts > 0 {
		text += ", " + report.Number(timeouts, "timeout")
	}
	if run.Outcome != iikanji.Passed && len(run.Reasons) > 0 {
		text += ": " + report.Clean(run.Reasons[0])
	}
	return text
}

// printRepeated writes the table of one state, and what its runs counted.
func (r *benchRun) printRepeated(s *repeatedState) error {
	if r.JSON {
		return writeJSON(r.e.Stdout, s)
	}
	out := &output{w: r.e.Stdout}
	out.line("")
	repeatedTable(out, []*repeatedState{s}, r.e.Cols)
	for _, line := range gaugeRanges(s.Runs) {
		out.line("%s", report.Shorten(line, r.e.Cols))
	}
	if s.Of > 0 {
		out.wrapped(fmt.Sprintf("the chance that the next run passes is that after %d of %d (Jeffreys' prior); iikanji choose %s compares states", s.Passed, s.Of, r.target.Name), r.e.Cols)
	}
	return out.err
}

// repeatedTable writes a row for each state, with the reasons of failed runs below.
func repeatedTable(out *output, states []*repeatedState, cols int) {
	t := report.Table{Columns: []report.Column{{Name: "state", Left: true, Shrink: true}, {Name: "passed"}, {Name: "next"},
		{Name: "median"}, {Name: "least"}, {Name: "most"}, {Name: "spread"}}}
	for _, s := range states {
		cells := []string{s.Says, "-", "-", "-", "-", "-", "-"}
		if s.Of > 0 {
			cells[1], cells[2] = fmt.Sprintf("%d of %d", s.Passed, s.Of), share(s.Chance)
		}
		if s.Passed > 0 {
			cells[3], cells[4], cells[5] = report.Count(int64(s.Median)), report.Count(int64(s.Least)), report.Count(int64(s.Most))
		}
		if s.Spread > 0 {
			cells[6] = fmt.Sprintf("%.0f %%", 100*s.Spread)
		}
		t.Rows, t.Below = append(t.Rows, cells), append(t.Below, s.notes())
	}
	out.table(&t, cols)
}

// notes are lines below the row of a state.
func (s *repeatedState) notes() (lines []string) {
	for _, m := range s.Missing {
		lines = append(lines, "without "+m)
	}
	for _, run := range s.Runs {
		if run.Outcome != iikanji.Passed {
			lines = append(lines, shortRun(run))
		}
	}
	return lines
}

// gaugeRanges are the gauges of runs that count, with their ranges: what explains a spread.
func gaugeRanges(runs []*iikanji.Run) (lines []string) {
	type span struct {
		name, unit string
		lo, hi     float64
	}
	var spans []*span
	for _, run := range runs {
		if !meant(run) || run.Outcome != iikanji.Passed {
			continue
		}
		for _, g := range run.Gauges {
			if strings.Contains(g.Name, workDigest) {
				continue
			}
			i := slices.IndexFunc(spans, func(s *span) bool { return s.name == g.Name })
			if i < 0 {
				spans = append(spans, &span{g.Name, g.Unit, g.Value, g.Value})
				continue
			}
			spans[i].lo, spans[i].hi = min(spans[i].lo, g.Value), max(spans[i].hi, g.Value)
		}
	}
	for _, s := range spans {
		if s.lo < s.hi {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s to %s %s", s.name, gaugeText(s.lo), gaugeText(s.hi), s.unit)))
		}
	}
	return lines
}

// gaugeText is the value of a gauge, with a decimal place if it is small.
func gaugeText(x float64) string {
	if math.Abs(x) >= 100 || x == math.Trunc(x) {
		return report.Count(int64(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
