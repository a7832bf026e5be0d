package app

import (
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestPoolOfOtherRemedies: where the CPU is used up and nothing waits for locks, a finding whose
// only remedies are pool sizes is dropped. A finding with another remedy stays as it is, and gets
// no evidence of row locks.
func TestPoolOfOtherRemedies(t *testing.T) {
	place := fact.CodePlace{File: "db.go", Func: "open", What: "a pool has a fixed size (10)", Pool: true}
	v := &cause.View{Binding: cause.Binding{Resource: "cpu"}, Sites: []cause.Site{{Service: "app", Lever: cause.Lever{Cause: cause.Cause{Code: "APP214"}}, Places: []fact.CodePlace{place}}}}
	larger := iikanji.Remedy{Kind: "gocode", Target: "app", Args: map[string]string{
		"levers": "APP214", "file": place.File, "func": place.Func, "place": place.What, "variant": "double"}}
	alone := cause.Result{Finding: iikanji.Finding{Code: "APP214", Claim: "alone", Remedies: []iikanji.Remedy{larger}}}
	other := cause.Result{Finding: iikanji.Finding{Code: "APP214", Claim: "other", Remedies: []iikanji.Remedy{larger, {Kind: "patch"}}}}
	got := poolConstants(v, []cause.Result{alone, other})
	if len(got) != 1 || got[0].Claim != "other" || len(got[0].Evidence) != 0 || len(got[0].Remedies) != 2 {
		t.Errorf("%+v", got)
	}
}
