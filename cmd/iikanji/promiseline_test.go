package main

import (
	"testing"

	"github.com/iikanji/iikanji"
)

func TestPromiseLine(t *testing.T) {
	p := func(hi float64, forbidden ...iikanji.Promise) plannedRemedy {
		return plannedRemedy{Gain: &iikanji.Range{Hi: hi}, Forbidden: forbidden}
	}
	got := promiseLine([]plannedRemedy{p(1, iikanji.Durability), p(9), p(4, iikanji.Freshness), p(2.5, iikanji.Durability), p(0.5, iikanji.Freshness, iikanji.Durability)})
	want := `the policy forbids what weakens freshness: 1 remedy, up to 4 s; durability: 2 remedies, up to 3.5 s; freshness, durability: 1 remedy, up to 0.5 s. ` +
		`allow = ["PROMISE"] below [policy] of iikanji.toml permits it`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := promiseLine([]plannedRemedy{p(9)}); got != "" {
		t.Errorf("nothing is forbidden: %s", got)
	}
}
