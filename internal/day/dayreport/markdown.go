package dayreport

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/plain"
	"github.com/iikanji/iikanji/internal/show/report"
)

// mostLeft is how many causes that were left are told.
const mostLeft = 10

// Markdown writes the day as a page.
func (d *Day) Markdown(w io.Writer) error {
	p := &page{w: w}
	p.line("# %s: the day", cell(d.Site))
	p.line("")
	if len(d.Runs) == 0 {
		p.line("No run was made.")
		return p.err
	}
	p.line("%s to %s: %s, %d passed%s.", clock(d.Begin), clock(d.End), report.Number(len(d.Runs), "run"), d.Passed, d.scores())
	if d.Others > 0 {
		p.line("\nSearches and proofs made %s more, which are not listed.", report.Number(d.Others, "run"))
	}
	d.runs(p)
	d.people(p)
	d.rest(p)
	return p.err
}

// scores are the best and the last score in words.
func (d *Day) scores() string {
	if d.Last == 0 {
		return ""
	}
	return fmt.Sprintf("; best run %d, %s; last that passed run %d, %s", d.Best, score(d.run(d.Best)), d.Last, score(d.run(d.Last)))
}

func (d *Day) run(id iikanji.RunID) *Run {
	for i := range d.Runs {
		if d.Runs[i].Run == id {
			return &d.Runs[i]
		}
	}
	return &Run{}
}

func (d *Day) runs(p *page) {
	p.line("\n## Runs\n\nA ratio is one run against the one before that passed: it proves nothing by itself.\n")
	p.line("| run | time | who | score | ratio | edits since the run before, and notes |")
	p.line("|---:|---|---|---:|---:|---|")
	for i := range d.Runs {
		r := &d.Runs[i]
		ratio := ""
		if r.Ratio > 0 {
			ratio = fmt.Sprintf("×%.2f", r.Ratio)
		}
		var what []string
		for _, t := range append(append([]string{}, r.Notes...), r.Edits...) {
			what = append(what, cell(t))
		}
		p.line("| %d | %s | %s | %s | %s | %s |", r.Run, clock(r.At), cell(r.Who), score(r), ratio, strings.Join(what, "; "))
	}
}

func (d *Day) people(p *page) {
	if len(d.People) > 0 {
		p.line("\n## People\n\n| who | runs | turns | time of these turns |\n|---|---:|---:|---:|")
		for _, one := range d.People {
			p.line("| %s | %d | %d | %s |", cell(one.Who), one.Runs, one.Turns, report.Duration(one.Held.Round(time.Minute)))
		}
	}
	if len(d.Gaps) > 0 {
		p.line("\n## Longest times without a run\n")
		for _, g := range d.Gaps {
			until := "the end"
			if g.Until > 0 {
				until = fmt.Sprintf("run %d", g.Until)
			}
			p.line("- %s, from %s to %s", report.Duration(g.Long.Round(time.Second)), clock(g.From), until)
		}
	}
	if len(d.Turns) > 0 {
		p.line("\n## Turns\n")
		for _, t := range d.Turns {
			p.line("- %s %s", clock(t.At), turnText(t.What, cell(t.Who), cell(t.From), cell(t.Why)))
		}
	}
}

// turnText is a line of the log of turns in words.
func turnText(what, who, from, why string) string {
	text := who + " took the turn"
	switch what {
	case "give":
		text = who + " gave the turn back"
	case "from":
		text = who + " took the turn from " + from
	}
	if why != "" {
		text += ": " + why
	}
	return text
}

func (d *Day) rest(p *page) {
	p.line("\n## What it was worth\n")
	if len(d.Proofs) == 0 {
		p.line("Nothing was proven. `iikanji work prove --day` repeats each step of the day in pairs of runs.")
	}
	for _, t := range d.Proofs {
		p.line("- %s", cell(t))
	}
	p.line("\n## What was found and left\n")
	if len(d.Left) == 0 {
		p.line("No observed run, or nothing found: `iikanji diagnose` looks.")
	}
	for _, f := range d.Left[:min(len(d.Left), mostLeft)] {
		p.line("- %s %s: %s", f.Code, cell(f.Where), cell(f.Claim))
	}
}

func score(r *Run) string {
	if r.Outcome != iikanji.Passed {
		return r.Outcome.String()
	}
	return report.Count(int64(r.Score))
}

func clock(t time.Time) string { return t.Local().Format("15:04") }

// cell is a text of others in a cell of a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "`", "'").Replace(plain.Line(text))
}

// A page keeps the first error of writing.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}
