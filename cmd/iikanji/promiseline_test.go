package main

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/target"
)

func TestPromiseLine(t *testing.T) {
	p := func(hi float64, forbidden ...iikanji.Promise) plannedRemedy {
		return plannedRemedy{Gain: &iikanji.Range{Hi: hi}, Forbidden: forbidden}
	}
	plans := []plannedRemedy{p(1, iikanji.Durability), p(9), p(4, iikanji.Freshness), p(2.5, iikanji.Durability), p(0.5, iikanji.Freshness, iikanji.Durability)}
	const want = `the policy forbids what weakens freshness: 1 remedy, up to 4 s; durability: 2 remedies, up to 3.5 s; freshness, durability: 1 remedy, up to 0.5 s`
	if got := promiseLine(&namedTarget{}, plans); got != want {
		t.Errorf("an arena: %s\nwant\n%s", got, want)
	}
	site := &namedTarget{file: &target.File{}}
	if got, want := promiseLine(site, plans), want+`. To permit it: allow = ["durability", "freshness"] below [policy] of iikanji.toml`; got != want {
		t.Errorf("a site: %s\nwant\n%s", got, want)
	}
	if got := promiseLine(site, []plannedRemedy{p(9), p(8, iikanji.Freshness, iikanji.Privacy)}); got != "" {
		t.Errorf("nothing is forbidden that a policy can permit: %s", got)
	}
}
