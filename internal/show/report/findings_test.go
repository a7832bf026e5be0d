package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

func sampleFindings() *Findings {
	return &Findings{
		Title: "isucondition  run 7, 10.0s of load: passed",
		Notes: []string{"no resource was used up; seconds are what a cure could save; share: of the 4.9 s that statements took (DB), of the 20.0 s of all cores (others)"},
		Of:    func(f iikanji.Finding) float64 { return 4.9 },
		Findings: []iikanji.Finding{
			{Code: "BEN103", Nature: iikanji.Nature{Doubt: true}, Where: "access", Claim: "the access sensor did not see this run: findings that need it are held back",
				Evidence: []iikanji.Evidence{{Source: "sensor", Text: "requests: 12 in the log, 900 sent"}},
				Remedies: []iikanji.Remedy{iikanji.ByPerson("access", "see why, and run again")}},
			{Code: "DB101", Where: "isucondition.isu_condition (jia_isu_uuid, timestamp)", Gain: iikanji.Range{Lo: 0.95, Hi: 1.91},
				Claim:    "isu_condition has no index on (jia_isu_uuid, timestamp): 4.2 M rows are read where 197,369 would do",
				Evidence: []iikanji.Evidence{{Source: "digest d425546ef50630e1", Text: "999× SELECT * FROM `isu_condition`\x1b[2J WHERE …: 3,255 rows each, 189 with the index, and no sort"}},
				Remedies: []iikanji.Remedy{{Kind: "ddl", Target: "database", Says: "add index (jia_isu_uuid, timestamp) on isu_condition"}}},
			{Code: "DB110", Where: "select * from isu_condition where jia_isu_uuid = ? and `timestamp` < ? order by timestamp desc | that goes on", Gain: iikanji.Range{Lo: 12.5, Hi: 12.5},
				Claim:    "isu_condition sends 52 rows in order and without a LIMIT, 999 times",
				Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: strings.Repeat("ask for the newest row only ", 5), Args: map[string]string{"digest": "d425546ef50630e1"}}}},
		},
		QueryPlans: map[string]catalog.QueryPlan{"d425546ef50630e1": {SQL: "SELECT * FROM isu_condition WHERE jia_isu_uuid = 'x' ORDER BY timestamp DESC", Ran: true, Sort: true,
			Steps: []catalog.QueryStep{{Table: "isu_condition", Access: "ALL", Rows: 8148, Loops: 1, Filtered: 2.3}}}},
	}
}

// TestFindings compares the table, Markdown and an explanation with golden files.
func TestFindings(t *testing.T) {
	f := sampleFindings()
	var text, md, why, tsv bytes.Buffer
	for _, err := range []error{f.Write(&text, Text, 80), f.Write(&md, Markdown, 80), f.Write(&tsv, TSV, 80)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if some, err := f.Explain(&why, "DB101", Text, 80); err != nil || !some {
		t.Fatal(some, err)
	}
	if n := bytes.Count(tsv.Bytes(), []byte("\n")); n != 4 {
		t.Errorf("TSV has %d lines, want a head and 3 findings", n)
	}
	for _, line := range strings.Split(text.String()+why.String(), "\n") {
		if Width(line) > 80 {
			t.Errorf("%d columns wide: %q", Width(line), line)
		}
	}
	if strings.Contains(text.String()+why.String()+md.String(), "\x1b") {
		t.Error("an escape sequence reached the terminal")
	}
	golden(t, "findings.txt", text.Bytes())
	golden(t, "findings.md", md.Bytes())
	golden(t, "findings-why.txt", why.Bytes())
}

// TestFindingsNone: an empty list is reported, and so is a code without findings.
func TestFindingsNone(t *testing.T) {
	var b bytes.Buffer
	f := &Findings{Title: "clean"}
	if err := f.Write(&b, Text, 80); err != nil || !strings.Contains(b.String(), "no finding") {
		t.Errorf("%v: %q", err, b.String())
	}
	if some, err := f.Explain(&b, "DB101", Text, 80); some || err != nil {
		t.Error(some, err)
	}
}

// TestFindingsTypical: the plan of the slowest statement is followed by that of a
// typical one, where it is known.
func TestFindingsTypical(t *testing.T) {
	f := sampleFindings()
	f.QueryPlans["d425546ef50630e1"+fact.TypicalSuffix] = catalog.QueryPlan{SQL: "SELECT * FROM isu_condition WHERE jia_isu_uuid = 'y'", Steps: []catalog.QueryStep{{Table: "isu_condition", Access: "ref", Key: "uuid", Rows: 17}}}
	var b bytes.Buffer
	if some, err := f.Explain(&b, "DB101", Text, 80); err != nil || !some {
		t.Fatal(some, err)
	}
	worst, typical := strings.Index(b.String(), "8,148"), strings.Index(b.String(), "a typical one")
	if worst < 0 || typical < worst {
		t.Errorf("the typical plan does not follow the worst:\n%s", b.String())
	}
}
