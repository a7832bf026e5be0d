package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// RunText writes a Run for a terminal of the given width: the score with its
// reasons first, then where it came from, the steps, the faults, and who used
// the CPU.
func RunText(w io.Writer, r *iikanji.Run, cols int) error {
	p := &page{w: w, cols: cols}
	p.headline(r)
	p.points(r)
	p.steps(r)
	p.faults(r)
	p.usage(r)
	p.doubts(r)
	return p.err
}

// A page writes sections and remembers the first error of the writer.
type page struct {
	w    io.Writer
	cols int
	err  error
}

func (p *page) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// table writes a table below a heading; an empty one leaves no trace.
func (p *page) table(heading string, t *Table) {
	if len(t.Rows) == 0 {
		return
	}
	p.printf("\n%s\n", heading)
	if p.err == nil {
		p.err = t.Write(p.w, Text, p.cols)
	}
}

// wrapped writes text over several lines, all but the first indented.
func (p *page) wrapped(first, text string) {
	line := first
	for _, word := range strings.Fields(Clean(text)) {
		if Width(line)+1+Width(word) > p.cols && strings.TrimSpace(line) != "" && line != first {
			p.printf("%s\n", line)
			line = strings.Repeat(" ", Width(first)) + word
			continue
		}
		if line != first {
			line += " "
		}
		line += word
	}
	p.printf("%s\n", line)
}

func (p *page) headline(r *iikanji.Run) {
	outcome := strings.ToUpper(r.Outcome.String())
	if r.Partial {
		outcome += " (partial)"
	}
	p.printf("%s  %s  score %s\n", r.Scenario, outcome, score(r.Score))
	if r.Deducted != 0 {
		p.printf("  %s before deductions, %s taken off\n", score(r.Raw), score(r.Deducted))
	}
	for _, reason := range r.Reasons {
		p.wrapped("  - ", reason)
	}
	var parts []string
	for _, ph := range r.Phases {
		parts = append(parts, ph.Phase+" "+Duration(ph.Took))
	}
	p.printf("  run %d, seed %d: %s\n", r.ID, r.Seed, strings.Join(parts, ", "))
}

func score(v float64) string {
	if v == float64(int64(v)) {
		return Count(int64(v))
	}
	return fmt.Sprintf("%.1f", v)
}

func (p *page) points(r *iikanji.Run) {
	t := &Table{Columns: []Column{{Name: "event", Left: true, Shrink: true}, {Name: "count"}, {Name: "points"}}}
	base, counted := r.Raw, false
	for _, e := range r.Points {
		base -= e.Points
		counted = counted || e.Count > 0
	}
	if base >= 0.05 { // less is rounding
		t.Rows = append(t.Rows, []string{"the load began", "1", score(base)})
	}
	for _, e := range r.Points {
		t.Rows = append(t.Rows, []string{e.Event, Count(e.Count), score(e.Points)})
	}
	if base < 0.05 && !counted { // there was nothing to score
		t.Rows = nil
	}
	p.table("Score by event", t)
	if len(r.Gauges) > 0 {
		var parts []string
		for _, g := range r.Gauges {
			if strings.Contains(g.Name, ": ") || strings.Contains(g.Name, "digest") { // counts by kind are for --json
				continue
			}
			parts = append(parts, strings.TrimSpace(g.Name+" "+score(g.Value)+" "+g.Unit))
		}
		p.wrapped("  ", strings.Join(parts, ", "))
	}
}

func (p *page) steps(r *iikanji.Run) {
	t := &Table{Columns: []Column{{Name: "step", Left: true, Shrink: true}, {Name: "count"}, {Name: "errors"},
		{Name: "p50"}, {Name: "p90"}, {Name: "p99"}, {Name: "max"}}}
	for _, s := range r.Steps {
		if s.Count == 0 && s.Cut == 0 {
			continue
		}
		t.Rows = append(t.Rows, []string{s.Step, Count(s.Count), Count(s.Errors),
			Duration(s.P50), Duration(s.P90), Duration(s.P99), Duration(s.Max)})
	}
	p.table("Requests by step", t)
}

// shownFaults is how many groups of faults the terminal shows; --json has all.
const shownFaults = 10

func (p *page) faults(r *iikanji.Run) {
	if len(r.Faults) == 0 {
		return
	}
	p.printf("\nFaults\n")
	for i, f := range r.Faults {
		if i == shownFaults {
			p.printf("  … and %d more kinds (--json shows all)\n", len(r.Faults)-shownFaults)
			return
		}
		name := f.Kind.String()
		if f.Check != "" {
			name += " " + f.Check
		}
		if f.Step != "" {
			name += " at " + f.Step
		}
		if f.Fatal {
			name += ", FATAL"
		}
		p.printf("  %s × %s\n", Count(f.Count), Clean(name))
		p.wrapped("      ", f.Message)
		if e := f.Example; e != nil {
			text := e.Request
			if e.Status != 0 {
				text += fmt.Sprintf(" → %d", e.Status)
			}
			p.printf("      %s\n", Shorten(Clean(text), p.cols-6))
			if e.Body != "" {
				p.printf("      %s\n", Shorten(Clean(e.Body), p.cols-6))
			}
		}
	}
}

func (p *page) usage(r *iikanji.Run) {
	t := &Table{Columns: []Column{{Name: "who", Left: true}, {Name: "user"}, {Name: "system"},
		{Name: "of a core"}, {Name: "peak memory"}}}
	for _, u := range r.Usage {
		rss := ""
		if u.PeakRS > 0 {
			rss = u.PeakRS.String()
		}
		t.Rows = append(t.Rows, []string{u.Who, Duration(u.User.Round(time.Millisecond)), Duration(u.System.Round(time.Millisecond)),
			Percent(u.Share * float64(max(r.Place.Cores, 1))), rss})
	}
	p.table("Who used the CPU during the load", t)
	if r.Place.Cores > 0 {
		if g := r.Place; g.Stack == "" {
			p.printf("  generator on CPU %s of %d; where the stack runs is not known\n", g.Generator, g.Cores)
		} else {
			p.printf("  generator on CPU %s, stack on CPU %s, of %d\n", g.Generator, g.Stack, g.Cores)
		}
	}
	g := r.Load
	if g.Requests > 0 {
		p.wrapped("  ", fmt.Sprintf("generator: %s of its CPU, scheduling lag p99 %s, %s requests over %s dials (%s faults), at most %s connections, %s of the ports",
			Percent(g.CPUShare), Duration(g.LagP99), Count(g.Requests), Count(g.Dials), Count(g.DialFaults), Count(g.PeakConns), Percent(g.PeakPorts)))
	}
}

func (p *page) doubts(r *iikanji.Run) {
	if r.Load.Void {
		p.printf("\n")
		p.wrapped("VOID: ", r.Load.Why)
	}
	if len(r.Warnings) > 0 {
		p.printf("\nWarnings\n")
		for _, warning := range r.Warnings {
			p.wrapped("  - ", warning)
		}
	}
}
