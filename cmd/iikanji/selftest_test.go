package main

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/proof/selftest"
)

// TestExceededLimits tests that each limit can be exceeded, and only by the judge.
func TestExceededLimits(t *testing.T) {
	cell := func(ours bool, effect, kept, pairs float64) *selftestCell {
		return &selftestCell{Ours: ours, Sigma: 0.05, Effect: effect, Kept: kept, Pairs: pairs, TrialTally: selftest.TrialTally{Trials: 20_000}}
	}
	for _, c := range []struct {
		name string
		cell *selftestCell
		want string
	}{
		{"good no-op", cell(true, 0, 0.047, 6), ""},
		{"no-op by chance", cell(true, 0, 0.053, 6), ""},
		{"bad no-op", cell(true, 0, 0.056, 6), "a no-op is kept in 5.60 %"},
		{"another rule", cell(false, 0, 0.5, 1), ""},
		{"good gain", cell(true, 0.10, 0.93, 4.3), ""},
		{"missed gain", cell(true, 0.10, 0.89, 4.3), "+10 % is kept in 89.0 %"},
		{"slow gain", cell(true, 0.10, 0.93, 4.7), "takes 4.70 pairs"},
	} {
		got := strings.Join(exceededLimits([]*selftestCell{c.cell}), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
