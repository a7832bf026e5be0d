package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestFindingsBrief: a text with little room has no more lines, however much there is to
// say.
func TestFindingsBrief(t *testing.T) {
	many := func(findings, notes, unexplained int) *Findings {
		f := &Findings{Title: "shop  run 7", Room: 17}
		for i := range findings {
			f.Findings = append(f.Findings, iikanji.Finding{Code: iikanji.Code(fmt.Sprintf("DB%d", 101+i)), Where: fmt.Sprintf("%d%s", i, strings.Repeat(" where", 30)), Gain: iikanji.Range{Hi: 9},
				Remedies: []iikanji.Remedy{{Says: strings.Repeat("add index ", 20)}}})
		}
		for i := range notes {
			f.Notes = append(f.Notes, fmt.Sprintf("note %d %s", i, strings.Repeat("of several words ", 5*(1+i%3))))
		}
		for i := range unexplained {
			f.Unexplained = append(f.Unexplained, fmt.Sprintf("%d %% of the time is of no finding %s", i, strings.Repeat("at all ", 20)))
		}
		return f
	}
	for _, c := range []struct{ findings, notes, unexplained, shown int }{
		{0, 1, 0, 0}, {2, 0, 0, 2}, {5, 1, 0, 5}, {40, 0, 0, 6}, {40, 1, 1, 4}, {40, 9, 3, 4}, {4, 9, 3, 4}, {5, 9, 3, 4},
	} {
		f := many(c.findings, c.notes, c.unexplained)
		var b bytes.Buffer
		if err := f.Write(&b, Text, 80); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		shown := strings.Count(b.String(), "→ ")
		if len(lines) > f.Room || shown != c.shown {
			t.Errorf("%+v: %d lines, %d findings:\n%s", c, len(lines), shown, b.String())
		}
		if left := fmt.Sprintf("%d more (--all lists them)", c.findings-shown); strings.Contains(b.String(), left) != (shown < c.findings) {
			t.Errorf("%+v: what is left out is not said:\n%s", c, b.String())
		}
		if strings.Contains(b.String(), "more notes: --all") != (c.notes == 9) {
			t.Errorf("%+v: notes that are left out:\n%s", c, b.String())
		}
		for _, line := range lines {
			if Width(line) > 80 {
				t.Errorf("%+v: %d columns: %s", c, Width(line), line)
			}
		}
	}
}

// TestFindingsGrouped: findings of one cause and one table have one row.
func TestFindingsGrouped(t *testing.T) {
	f := &Findings{Title: "shop  run 7", Room: 17}
	for _, where := range []string{"shop.posts (user_id)", "shop.users (name)", "shop.posts (created_at)", "shop.posts (likes)"} {
		f.Findings = append(f.Findings, iikanji.Finding{Code: "DB101", Where: where, Gain: iikanji.Range{Hi: 2}, Remedies: []iikanji.Remedy{{Says: "add an index"}}})
	}
	f.Findings = append(f.Findings, iikanji.Finding{Code: "DB110", Where: "shop.posts", Gain: iikanji.Range{Hi: 1}})
	var b bytes.Buffer
	if err := f.Write(&b, Text, 80); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1  DB101  0.00–2.00      -  shop.posts (user_id)", "→ add an index (+ 2 of this cause and place)", "2  DB101  0.00–2.00      -  shop.users (name)", "5  DB110  0.00–1.00      -  shop.posts"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "likes") {
		t.Errorf("a finding of the same table has a row of its own:\n%s", b.String())
	}
}
