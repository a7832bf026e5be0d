package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// TestUnexplained: a heavy statement without a finding, and an app whose CPU time no
// finding names, have lines of their own; what a finding names has none.
func TestUnexplained(t *testing.T) {
	row := func(key, digest string, took time.Duration) iikanji.Row {
		return iikanji.Row{Key: key, Count: 100, Total: took, Mean: took / 100, Query: &iikanji.SQLRow{Digest: digest}}
	}
	profiles := []iikanji.Profile{{Source: iikanji.Slow, Target: "db", Rows: []iikanji.Row{
		row("select a", "d1", 50*time.Second), row("select b", "d2", 30*time.Second), row("select c", "d3", 16*time.Second), row("select d", "d4", 4*time.Second)}}}
	usage := func(who string, seconds float64) iikanji.Usage {
		return iikanji.Usage{Who: who, User: time.Duration(seconds * 1e9)}
	}
	d := &Diagnosis{CPU: 120, Executors: []string{"db"}, Run: &iikanji.Run{Usage: []iikanji.Usage{usage("db", 60), usage("app", 50), usage("nginx", 5), usage("other", 40)}},
		Findings: []iikanji.Finding{
			{Code: "DB101", Where: "t", Gain: iikanji.Range{Hi: 40}, Evidence: []iikanji.Evidence{{Source: "digest d1"}}},
			{Code: "DB113", Where: "GET /x: select c", Gain: iikanji.Range{Hi: 10}},
			{Code: "BEN103", Where: "select b", Nature: iikanji.Nature{Doubt: true}},
			{Code: "WEB102", Where: "app", Gain: iikanji.Range{Hi: 2}, Remedies: []iikanji.Remedy{{Target: "app"}}},
		}}
	var texts []string
	for _, u := range d.unexplained(profiles) {
		texts = append(texts, u.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"heavy, and no cause known: 30 % of the statements' time, 100 × 300ms: select b",
		"34 % of the statements' time is of statements that no finding names", "app used 50.0 of the 120.0 s of all cores, and findings name 2.0 s of it: 40 %"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
	if len(texts) != 3 {
		t.Errorf("%d lines:\n%s", len(texts), all)
	}
	d.Findings = append(d.Findings, iikanji.Finding{Code: "DB114", Gain: iikanji.Range{Hi: 25}, Remedies: []iikanji.Remedy{{Args: map[string]string{"digest": "d2"}}}},
		iikanji.Finding{Code: "APP205", Gain: iikanji.Range{Hi: 30}, Nature: iikanji.Nature{Inside: true}})
	if left := d.unexplained(profiles); len(left) != 0 {
		t.Errorf("everything is named, and %+v is left", left)
	}
}
