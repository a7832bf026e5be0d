package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/iikanji/iikanji"
)

// Findings are causes, best first, ready to be shown.
type Findings struct {
	Title    string
	Findings []iikanji.Finding
	// Of is the seconds of which a finding's gain is a share; nil leaves shares out.
	Of func(iikanji.Finding) float64
	// Notes stand above the table: what the seconds are of, which sensors were red.
	Notes []string
	// Plans by digest, for Explain.
	Plans map[string]iikanji.Plan
}

// Write writes the ranked findings. JSON is for the caller, who has more to say.
func (f *Findings) Write(w io.Writer, format Format, cols int) error {
	o := &out{w: w}
	if format == TSV || format == CSV {
		o.table(f.table(), format, 0)
		return o.err
	}
	f.head(o, format, cols)
	if len(f.Findings) == 0 {
		o.line("no finding: nothing that the rules know was slow enough to be felt")
		return o.err
	}
	if format == Markdown {
		o.table(f.table(), format, cols)
		return o.err
	}
	f.lines(o, cols)
	return o.err
}

// lines writes a line for each finding and one below it for what to do first:
// side by side 80 columns would hold neither.
func (f *Findings) lines(o *out, cols int) {
	t := f.table()
	t.Columns = t.Columns[:len(t.Columns)-1]
	var b strings.Builder
	(&out{w: &b}).table(t, Text, cols)
	for n, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		o.line("%s", line)
		if n > 0 && len(f.Findings[n-1].Remedies) > 0 {
			o.line("    → %s", Shorten(Clean(f.Findings[n-1].Remedies[0].Says), max(cols, 40)-6))
		}
	}
}

func (f *Findings) head(o *out, format Format, cols int) {
	title := f.Title
	if format == Markdown {
		title = "## " + title
	}
	o.line("%s", title)
	for _, n := range f.Notes {
		if format == Markdown {
			o.blank()
			o.line("%s", n)
			continue
		}
		o.wrapped("  ", n, cols)
	}
	o.blank()
}

// table is one row per finding.
func (f *Findings) table() *Table {
	t := &Table{Columns: []Column{{Name: "#"}, {Name: "code", Left: true}, {Name: "seconds"}, {Name: "share"},
		{Name: "where", Left: true, Shrink: true}, {Name: "remedy", Left: true}}}
	for i, x := range f.Findings {
		remedy := ""
		if len(x.Remedies) > 0 {
			remedy = x.Remedies[0].Says
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(i + 1), string(x.Code), gain(x.Gain), f.share(x), x.Where, remedy})
	}
	return t
}

// gain prints a range of seconds, as in "1.2–3.4".
func gain(r iikanji.Range) string {
	switch {
	case r.Hi == 0:
		return "-"
	case three(r.Lo) == three(r.Hi):
		return three(r.Hi)
	}
	return three(r.Lo) + "–" + three(r.Hi)
}

func (f *Findings) share(x iikanji.Finding) string {
	if f.Of == nil || x.Gain.Hi == 0 || f.Of(x) <= 0 {
		return "-"
	}
	return Percent(x.Gain.Hi / f.Of(x))
}

// Explain writes one code's findings in full: claim, evidence, plans of the
// statements that the evidence names, remedies. It says whether there were any.
func (f *Findings) Explain(w io.Writer, code iikanji.Code, format Format, cols int) (bool, error) {
	o := &out{w: w}
	some := false
	for i, x := range f.Findings {
		if x.Code != code {
			continue
		}
		if some {
			o.blank()
		}
		some = true
		if format == Markdown {
			o.line("### %d. %s: %s", i+1, x.Code, x.Where)
			o.blank()
		} else {
			o.wrapped("", fmt.Sprintf("%d. %s  %s", i+1, x.Code, x.Where), cols)
		}
		f.explain(o, x, cols)
	}
	return some, o.err
}

// explained is how many plans are shown with one finding.
const explained = 2

func (f *Findings) explain(o *out, x iikanji.Finding, cols int) {
	o.wrapped("", x.Claim, cols)
	if x.Gain.Hi > 0 {
		o.line("gain: %s s of the run (share %s)", gain(x.Gain), f.share(x))
	}
	o.blank()
	o.line("evidence:")
	var digests []string
	for _, e := range x.Evidence {
		o.wrapped("- ", e.Source+": "+e.Text, cols)
		digests = append(digests, strings.TrimPrefix(e.Source, "digest "))
	}
	for _, r := range x.Remedies {
		digests = append(digests, r.Args["digest"])
	}
	shown := map[string]bool{}
	for _, d := range digests {
		if p, ok := f.Plans[d]; ok && !shown[d] && len(shown) < explained {
			shown[d] = true
			o.plan(d, p, cols)
			if p, ok := f.Plans[d+iikanji.TypicalPlan]; ok {
				o.plan(d+", a typical one", p, cols)
			}
		}
	}
	o.blank()
	o.line("remedies, best first:")
	for _, r := range x.Remedies {
		o.wrapped("- ", fmt.Sprintf("%s (%s, %s)", r.Says, r.Kind, r.Target), cols)
	}
}

// plan writes how the server runs a statement, one step a line.
func (o *out) plan(digest string, p iikanji.Plan, cols int) {
	how := "as the server would run it"
	if p.Ran {
		how = "as the server ran it after the load"
	}
	o.blank()
	o.wrapped("", fmt.Sprintf("plan of %s, %s: %s", digest, how, Shorten(Clean(p.SQL), 3*max(cols, 40))), cols)
	t := &Table{Columns: []Column{{Name: "table", Left: true}, {Name: "access", Left: true}, {Name: "key", Left: true, Shrink: true}, {Name: "rows"}, {Name: "loops"}, {Name: "passing"}}}
	for _, s := range p.Steps {
		key := s.Key
		if key == "" {
			key = "-"
		}
		t.Rows = append(t.Rows, []string{s.Table, s.Access, key, Count(int64(s.Rows + 0.5)), Count(int64(max(s.Loops, 1) + 0.5)), Percent(s.Filtered / 100)})
	}
	o.table(t, Text, cols)
	if p.Sort {
		o.line("with a filesort")
	}
	if p.Temp {
		o.line("with a temporary table")
	}
}

// wrapped writes text over several lines, all but the first indented.
func (o *out) wrapped(first, text string, cols int) {
	p := &page{w: o.w, cols: max(cols, 40), err: o.err}
	p.wrapped(first, text)
	o.err = p.err
}
