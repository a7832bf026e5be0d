package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/show/report"
	"github.com/iikanji/iikanji/internal/show/summary"
)

// Rows that the tables of the Markdown form have at most: it is read in a pull
// request.
const (
	markdownRows = 12
	markdownDiff = 4_000 // bytes of one diff
)

// A markdown writes the Markdown form and remembers the first error.
type markdown struct {
	w   io.Writer
	err error
}

// escaped makes text safe inside of a paragraph: no markup, no HTML, one line.
func escaped(text string) string {
	return strings.NewReplacer(`\`, `\\`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "|", `\|`, "@", "&#64;").Replace(wide.clean(text))
}

func (m *markdown) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format+"\n", args...)
	}
}

func (m *markdown) table(t Table, most int) {
	if len(t.Rows) == 0 {
		return
	}
	left := 0
	if most > 0 && len(t.Rows) > most {
		left = len(t.Rows) - most
		t.Rows = t.Rows[:most]
	}
	for i := range t.Rows {
		for j := range t.Rows[i] {
			t.Rows[i][j] = strings.NewReplacer("`", "'", "@", "&#64;", "[", `\[`).Replace(wide.clean(t.Rows[i][j]))
		}
	}
	if m.err == nil {
		m.err = t.Write(m.w, report.Markdown, 0)
	}
	if left > 0 {
		m.line("\n%d more rows are in the history.", left)
	}
	m.line("")
}

// Markdown writes the report for a pull request or a blog.
func Markdown(w io.Writer, s *summary.Summary) error {
	m := &markdown{w: w}
	m.line("# %s: measurements and changes\n", escaped(s.Title()))
	m.headline(s)
	m.line("## Trials\n")
	m.table(trialsTable(s), 0)
	m.line("## Where the time goes, before and after\n")
	for _, x := range sections(s, markdownRows) {
		states := fmt.Sprintf("Before: %s. After: %s.", escaped(x.Of.Before), escaped(x.Of.After))
		if x.Of.After == "" {
			states = fmt.Sprintf("One run was observed: %s.", escaped(x.Of.Before))
		}
		m.line("### %s\n\nMeans are the %s. %s\n", x.Title, x.Unit, states)
		m.table(x.Table, markdownRows)
	}
	m.line("## Changes\n")
	for _, c := range shownChanges(s, wide) {
		m.change(c)
	}
	m.line("## What remains\n")
	m.table(findingsTable(s), markdownRows)
	for _, t := range remaining(s) {
		m.line("- trial %d, %s: %s. %s", t.N, t.Result, escaped(t.Says), escaped(t.Verdict.Why))
	}
	if len(s.Notes) > 0 {
		m.line("\n## Notes\n")
	}
	for _, n := range s.Notes {
		m.line("- %s UTC, run %d: %s", clock(n.At), n.Run, escaped(n.Text))
	}
	m.made(s)
	if m.err != nil {
		return fmt.Errorf("writing the report: %w", m.err)
	}
	return nil
}

func (m *markdown) headline(s *summary.Summary) {
	for _, w := range s.Warnings {
		m.line("> Damage of the history: %s\n", escaped(w))
	}
	h := s.Headline
	if h == nil {
		m.line("No last comparison of the untouched with the final site was made.\n")
		return
	}
	m.line("**%.1f × the untouched score.** %s Score %s → %s: geometric means of %d interleaved pairs of runs with %s of load.\n",
		h.Ratio.Mid, interval(h.Ratio), Points(h.Scores[0]), Points(h.Scores[1]), h.Pairs, load(h.Load))
	if h.Derived {
		m.line("The history has no record of this comparison: the pairs are the last runs of its journal.\n")
	}
	for _, work := range h.Work {
		m.line("- %s per request: %s", escaped(work.Name), workRatio(work.Effect))
	}
	m.line("")
}

func (m *markdown) change(c shownChange) {
	m.line("### %d. %s\n", c.ID, escaped(c.Says))
	line := fmt.Sprintf("%s **%s**", ResultMark(c.Result), ResultWord(c.Result))
	if e := changeEffect(&c.Change); e != "-" {
		line += ", " + e
	}
	m.line("%s\n", line)
	if c.Claim != "" {
		m.line("Claim: %s\n", escaped(c.Claim))
	}
	for _, e := range c.Evidence {
		m.line("- %s: %s", escaped(e.Source), escaped(e.Text))
	}
	if len(c.Evidence) > 0 {
		m.line("")
	}
	if c.Say != "" {
		m.line("Verdict: %s\n", escaped(c.Say))
	}
	if c.Stage != iikanji.Kept { // a reader of a pull request needs the diffs of what is in it
		return
	}
	// A line of a diff cannot end a fence: it is longer than any of theirs.
	fence := strings.Repeat("`", max(3, longestFence(c.Lines)+1))
	m.line("%sdiff", fence)
	n := 0
	for _, l := range c.Lines {
		if n += len(l.Text); n > markdownDiff {
			m.line("# the rest of the diff is in the history")
			break
		}
		m.line("%s", l.Text)
	}
	m.line("%s\n", fence)
}

// longestFence is the longest run of backquotes in the lines.
func longestFence(lines []DiffLine) (longest int) {
	for _, l := range lines {
		n := 0
		for _, r := range l.Text {
			if r != '`' {
				n = 0
				continue
			}
			n++
			longest = max(longest, n)
		}
	}
	return longest
}

func (m *markdown) made(s *summary.Summary) {
	m.line("\n## How it was made\n")
	if c := s.Machine; c != nil {
		m.line("- machine: %s, %d cores, %s; %s, %s", escaped(c.CPU), c.Cores, c.Memory, escaped(c.System), escaped(c.Kernel))
		m.line("- iikanji %s", escaped(c.Program))
	}
	if p := s.Place; p != nil && p.Stack != "" {
		m.line("- generator on CPU %s, site on CPU %s", escaped(p.Generator), escaped(p.Stack))
	}
	for _, v := range s.Versions {
		m.line("- %s %s", escaped(v.Name), escaped(v.Version))
	}
	for _, x := range s.Searches {
		m.line("- search of %s UTC: %d runs, %d void, noise of a pair %.1f %%", clock(x.Began), x.Runs, x.Voided, 100*x.Noise)
	}
	m.line("\n```")
	for _, c := range s.Commands {
		m.line("%s", strings.ReplaceAll(wide.clean(c), "`", "'"))
	}
	m.line("```")
}
