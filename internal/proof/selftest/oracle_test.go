package selftest

import (
	"context"
	"testing"
)

// TestOracle: the oracle has an answer for sites of which it reads all that tells, it finds what many
// runs show, and less in few runs.
func TestOracle(t *testing.T) {
	has := func(name string, budget int) *Search {
		scene, err := FindScene(name)
		if err != nil {
			t.Fatal(err)
		}
		return &scene.Searches[budget]
	}
	for name, want := range map[string]bool{"minutes": true, "interactions": true, "minutes-nulls": true, "contest": true, "two-limits": true, "late-harm": false,
		"counters": false, "rewrites": false, "noisier": false, "third-run": false, "sites": true, "own-voids": false, "steps": false} {
		if got := has(name, 0).HasOracle(); got != want {
			t.Errorf("%s: an oracle is asked: %v", name, got)
		}
	}
	if has("ladder", 2).HasOracle() {
		t.Error("without a limit of time the oracle has runs without end")
	}
	of := func(name string, budget int) Oracle {
		o, err := has(name, budget).AskOracle(t.Context(), 1, 12)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	short, long := of("minutes", 0), of("minutes", 3)
	if short.Runs != 7 || long.Runs != 43 || long.Share.Mean < 0.99 || long.Harmful.Mean > 0 || short.Share.Mean > long.Share.Mean {
		t.Errorf("15 min: %+v, 60 min: %+v", short, long)
	}
	if two := of("two-limits-minutes", 1); two.Share.Mean < 0.95 || two.Harmful.Mean > 0 {
		t.Errorf("a site whose limit moves, 40 min: %+v", two)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := has("minutes", 0).AskOracle(ctx, 1, 1); err == nil {
		t.Error("no error of a context that is done")
	}
}
