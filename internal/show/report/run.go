package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
)

// RunText writes a Run for a terminal of the given width: the score with its
// reasons, the score by event, the requests by step, the faults, the CPU use and
// the warnings.
func RunText(w io.Writer, r *iikanji.Run, cols int) error {
	p := &page{out{w: w}, cols}
	p.headline(r)
	p.points(r)
	p.steps(r)
	p.faults(r)
	p.messages(r)
	p.usage(r)
	p.doubts(r)
	return p.err
}

// A page writes the sections of a run for a terminal.
type page struct {
	out
	cols int
}

// titled writes a table below a heading, unless the table is empty.
func (p *page) titled(heading string, t *Table) {
	if len(t.Rows) == 0 {
		return
	}
	p.blank()
	p.line("%s", heading)
	p.table(t, Text, p.cols)
}

func (p *page) headline(r *iikanji.Run) {
	outcome := strings.ToUpper(r.Outcome.String())
	if r.Partial {
		outcome += " (partial)"
	}
	p.line("%s  %s  score %s", r.Scenario, outcome, score(r.Score))
	if r.Deducted != 0 {
		p.line("  %s before deductions, %s taken off", score(r.Raw), score(r.Deducted))
	}
	for _, reason := range r.Reasons {
		p.wrapped("  - ", reason, p.cols)
	}
	var parts []string
	for _, ph := range r.Phases {
		parts = append(parts, ph.Phase+" "+Duration(ph.Took))
	}
	p.line("  run %d, seed %d: %s", r.ID, r.Seed, strings.Join(parts, ", "))
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
	if base >= 0.05 { // less is a rounding error
		t.Rows = append(t.Rows, []string{"the load began", "1", score(base)})
	}
	for _, e := range r.Points {
		t.Rows = append(t.Rows, []string{e.Event, Count(e.Count), score(e.Points)})
	}
	if base < 0.05 && !counted { // nothing was scored
		t.Rows = nil
	}
	p.titled("Score by event", t)
	if len(r.Gauges) > 0 {
		var parts []string
		for _, g := range r.Gauges {
			if strings.Contains(g.Name, ": ") || strings.Contains(g.Name, "digest") { // counts by kind are in --json only
				continue
			}
			parts = append(parts, strings.TrimSpace(g.Name+" "+score(g.Value)+" "+g.Unit))
		}
		p.wrapped("  ", strings.Join(parts, ", "), p.cols)
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
	p.titled("Requests by step", t)
}

// shownMessages is how many messages of a benchmarker are shown; --json has all.
const shownMessages = 8

// messages shows what an outside benchmarker said that means something.
func (p *page) messages(r *iikanji.Run) {
	var said []iikanji.Message
	for _, m := range r.Messages {
		if m.Means != iikanji.MeansNothing {
			said = append(said, m)
		}
	}
	if len(said) == 0 {
		return
	}
	t := &Table{Columns: []Column{{Name: "meaning", Left: true}, {Name: "count"}, {Name: "words", Left: true, Shrink: true}}}
	for _, m := range said[:min(len(said), shownMessages)] {
		t.Rows = append(t.Rows, []string{m.Means.String(), Count(m.Count), m.Text})
	}
	p.titled("The benchmarker's words", t)
	if more := len(said) - shownMessages; more > 0 {
		p.line("  … and %d more kinds (--json shows all)", more)
	}
}

// shownFaults is how many groups of faults are shown; --json has all.
const shownFaults = 10

func (p *page) faults(r *iikanji.Run) {
	if len(r.Faults) == 0 {
		return
	}
	p.blank()
	p.line("Faults")
	for i, f := range r.Faults {
		if i == shownFaults {
			p.line("  … and %d more kinds (--json shows all)", len(r.Faults)-shownFaults)
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
		p.line("  %s × %s", Count(f.Count), Clean(name))
		p.wrapped("      ", f.Message, p.cols)
		if e := f.Example; e != nil {
			text := e.Request
			if e.Status != 0 {
				text += fmt.Sprintf(" → %d", e.Status)
			}
			p.line("      %s", Shorten(Clean(text), p.cols-6))
			if e.Body != "" {
				p.line("      %s", Shorten(Clean(e.Body), p.cols-6))
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
		t.Rows = append(t.Rows, []string{u.Placed(), Duration(u.User.Round(time.Millisecond)), Duration(u.System.Round(time.Millisecond)),
			Percent(u.Share * float64(r.CoresOf(u.Host))), rss})
	}
	p.titled("Who used the CPU during the load", t)
	if r.Place.Cores > 0 {
		if g := r.Place; g.Stack == "" {
			p.line("  generator on CPU %s of %d; where the stack runs is not known", g.Generator, g.Cores)
		} else {
			p.line("  generator on CPU %s, stack on CPU %s, of %d", g.Generator, g.Stack, g.Cores)
		}
	}
	g := r.Load
	if g.Requests > 0 {
		p.wrapped("  ", fmt.Sprintf("generator: %s of its CPU, scheduling lag p99 %s, %s requests over %s dials (%s faults), at most %s connections, %s of the ports",
			Percent(g.CPUShare), Duration(g.LagP99), Count(g.Requests), Count(g.Dials), Count(g.DialFaults), Count(g.PeakConns), Percent(g.PeakPorts)), p.cols)
	}
}

func (p *page) doubts(r *iikanji.Run) {
	if r.Load.Void {
		p.blank()
		p.wrapped("VOID: ", r.Load.Why, p.cols)
	}
	if len(r.Warnings) > 0 {
		p.blank()
		p.line("Warnings")
		for _, warning := range r.Warnings {
			p.wrapped("  - ", warning, p.cols)
		}
	}
}
