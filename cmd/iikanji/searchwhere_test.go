package main

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/diagnose"
)

// TestWhereTimeGoes: the services in the order of their CPU time, without the load generator,
// and one line for each of the causes that promise most.
func TestWhereTimeGoes(t *testing.T) {
	index := func(table string) iikanji.Remedy {
		return iikanji.Remedy{Kind: "ddl", Target: "db", Args: map[string]string{"act": "add index", "schema": "s", "table": table, "columns": "c"}}
	}
	d := &diagnose.Diagnosis{CPU: 10, Run: &iikanji.Run{Usage: []iikanji.Usage{{Who: "generator", Share: 0.5}, {Who: "app", Share: 0.1},
		{Who: "database", Share: 0.3}, {Who: "nginx", Share: 0.002}}}}
	for i, seconds := range []float64{1, 5, 0.2, 3} {
		table := string(rune('a' + i))
		d.Findings = append(d.Findings, iikanji.Finding{Code: "DB101", Where: table, Claim: table + " is read whole", Gain: iikanji.Range{Lo: seconds, Hi: seconds},
			Remedies: []iikanji.Remedy{index(table), index(table + "2")}})
	}
	got := whereTimeGoes(d)
	want := []string{"where the CPU time goes: database 75 %, app 25 %", "  DB101: b is read whole (a cure may bring +100 %)",
		"  DB101: d is read whole (a cure may bring +43 %)", "  DB101: a is read whole (a cure may bring +11 %)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
