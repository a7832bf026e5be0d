package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Findings is a ranked list of findings with what its report needs.
type Findings struct {
	Title    string
	Findings []iikanji.Finding
	// Of returns the seconds that a finding's gain is shown as a share of; nil
	// leaves shares out.
	Of func(iikanji.Finding) float64
	// Notes are shown above the table: what the seconds measure, which sensors failed.
	Notes []string
	// Most is how many causes are shown as text; 0 shows all.
	Most int
	// Room is how many lines the text may have, which is a brief one then; 0 for as many as
	// it takes.
	Room int
	// Unexplained are lines below the table: time that no finding names.
	Unexplained []string
	// Plans by digest, for Explain.
	QueryPlans map[string]catalog.QueryPlan
}

// Write writes the ranked findings in all formats but JSON, which the caller
// writes with data that Findings lacks.
func (f *Findings) Write(w io.Writer, format Format, cols int) error {
	o := &out{w: w}
	if format == TSV || format == CSV {
		o.table(f.table(f.Findings), format, 0)
		return o.err
	}
	if format == Text && f.Room > 0 {
		f.brief(o, cols)
		return o.err
	}
	f.head(o, format, cols)
	switch {
	case len(f.causes()) == 0:
		o.line("no finding: no rule found a cause with a noticeable cost")
	case format == Markdown:
		o.table(f.table(f.causes()), format, cols)
	default:
		f.lines(o, cols)
	}
	f.unexplained(o, format, cols)
	return o.err
}

// unexplained writes what no finding names: silence would look like knowledge.
func (f *Findings) unexplained(o *out, format Format, cols int) {
	for i, text := range f.Unexplained {
		if i == 0 {
			o.blank()
		}
		if format == Markdown {
			o.line("- %s", text)
			continue
		}
		o.wrapped("  ", text, wide(cols))
	}
}

// lines writes two lines for each finding, the second one for its first remedy:
// 80 columns are too few for both on one line.
func (f *Findings) lines(o *out, cols int) {
	causes := f.causes()
	var rest []iikanji.Finding
	if f.Most > 0 && len(causes) > f.Most {
		causes, rest = causes[:f.Most], causes[f.Most:]
	}
	o.table(f.rows(causes), Text, cols)
	if len(rest) > 0 {
		o.blank()
		o.wrapped("  ", more(rest), wide(cols))
	}
}

// rows is the table of some findings, each with its remedy in the line below.
func (f *Findings) rows(causes []iikanji.Finding) *Table {
	t := f.table(causes)
	t.Columns = t.Columns[:len(t.Columns)-1]
	for _, x := range causes {
		var below []string
		if len(x.Remedies) > 0 {
			below = append(below, "→ "+x.Remedies[0].Says)
		}
		t.Below = append(t.Below, below)
	}
	return t
}

// more sums up findings that are not shown, by their codes.
func more(rest []iikanji.Finding) string {
	count, most := map[iikanji.Code]int{}, 0.0
	var codes []iikanji.Code
	for _, x := range rest {
		if count[x.Code]++; count[x.Code] == 1 {
			codes = append(codes, x.Code)
		}
		most = max(most, x.Gain.Hi)
	}
	var texts []string
	for _, c := range codes {
		if text := string(c); count[c] > 1 {
			texts = append(texts, fmt.Sprintf("%s × %d", text, count[c]))
		} else {
			texts = append(texts, text)
		}
	}
	return fmt.Sprintf("%d more (--all lists them), of at most %s s each: %s", len(rest), three(most), strings.Join(texts, ", "))
}

func (f *Findings) head(o *out, format Format, cols int) {
	title := f.Title
	if format == Markdown {
		title = "## " + title
	}
	o.line("%s", title)
	for _, n := range slices.Concat(f.Notes, f.doubts()) {
		if format == Markdown {
			o.blank()
			o.line("%s", n)
			continue
		}
		o.wrapped("  ", n, wide(cols))
	}
	o.blank()
}

// causes are the findings that have a rank.
func (f *Findings) causes() []iikanji.Finding {
	return slices.DeleteFunc(slices.Clone(f.Findings), func(x iikanji.Finding) bool { return x.Doubt })
}

// doubts are the findings about the measurement itself, as notes.
func (f *Findings) doubts() (out []string) {
	for _, x := range f.Findings {
		if !x.Doubt {
			continue
		}
		text := fmt.Sprintf("doubt %s: %s", x.Code, x.Claim)
		if len(x.Remedies) > 0 {
			text += ": " + x.Remedies[0].Says
		}
		out = append(out, text)
	}
	return out
}

// table returns one row per finding. Doubts have no rank.
func (f *Findings) table(of []iikanji.Finding) *Table {
	t := &Table{Columns: []Column{{Name: "#"}, {Name: "code", Left: true}, {Name: "seconds"}, {Name: "share"},
		{Name: "where", Left: true, Shrink: true}, {Name: "remedy", Left: true}}}
	rank := 0
	for _, x := range of {
		number, remedy := "-", ""
		if !x.Doubt {
			rank++
			number = strconv.Itoa(rank)
		}
		if len(x.Remedies) > 0 {
			remedy = x.Remedies[0].Says
		}
		t.Rows = append(t.Rows, []string{number, string(x.Code), gain(x.Gain), f.share(x), x.Where, remedy})
	}
	return t
}

// gain formats a range of seconds, as in "1.2–3.4".
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

// Explain writes the findings of one code in full: claim, evidence, plans of the
// statements that the evidence names, remedies. It reports whether there were any.
func (f *Findings) Explain(w io.Writer, code iikanji.Code, format Format, cols int) (bool, error) {
	o := &out{w: w}
	some := false
	rank := 0
	for _, x := range f.Findings {
		if !x.Doubt {
			rank++
		}
		if x.Code != code {
			continue
		}
		number := fmt.Sprintf("%d. ", rank)
		if x.Doubt {
			number = ""
		}
		if some {
			o.blank()
		}
		some = true
		if format == Markdown {
			o.line("### %s%s: %s", number, x.Code, x.Where)
			o.blank()
		} else {
			o.wrapped("", fmt.Sprintf("%s%s  %s", number, x.Code, x.Where), wide(cols))
		}
		f.explain(o, x, cols)
	}
	return some, o.err
}

// explained is how many statements' plans are shown with one finding.
const explained = 2

func (f *Findings) explain(o *out, x iikanji.Finding, cols int) {
	o.wrapped("", x.Claim, wide(cols))
	if x.Gain.Hi > 0 {
		o.line("gain: %s s of the run (share %s)", gain(x.Gain), f.share(x))
	}
	o.blank()
	o.line("evidence:")
	var digests []string
	for _, e := range x.Evidence {
		o.wrapped("- ", e.Source+": "+e.Text, wide(cols))
		digests = append(digests, strings.TrimPrefix(e.Source, "digest "))
	}
	for _, r := range x.Remedies {
		digests = append(digests, r.Args["digest"])
	}
	shown := map[string]bool{}
	for _, d := range digests {
		if p, ok := f.QueryPlans[d]; ok && !shown[d] && len(shown) < explained {
			shown[d] = true
			o.queryPlan(d, p, cols)
			if p, ok := f.QueryPlans[d+fact.TypicalSuffix]; ok {
				o.queryPlan(d+", a typical one", p, cols)
			}
		}
	}
	o.blank()
	o.line("remedies, best first:")
	for _, r := range x.Remedies {
		o.wrapped("- ", fmt.Sprintf("%s (%s, %s)", r.Says, r.Kind, r.Target), wide(cols))
	}
}

// plan writes the server's plan of a statement, one step a line.
func (o *out) queryPlan(digest string, p catalog.QueryPlan, cols int) {
	how := "as the server would run it"
	if p.Ran {
		how = "as the server ran it after the load"
	}
	o.blank()
	o.wrapped("", fmt.Sprintf("plan of %s, %s: %s", digest, how, Shorten(Clean(p.SQL), 3*wide(cols))), wide(cols))
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

// wide is the width that text is wrapped to: at least 40 columns.
func wide(cols int) int { return max(cols, 40) }
