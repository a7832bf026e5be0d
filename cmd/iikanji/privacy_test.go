package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestPrivacyAllowedNowhere: no arena's policy allows a change that gives an answer to
// another client than the one that it was made for, and a target's file cannot allow it.
func TestPrivacyAllowedNowhere(t *testing.T) {
	names := arena.Names()
	if len(names) < 4 {
		t.Fatalf("only the arenas %v", names)
	}
	for _, name := range names {
		a, ok := arena.Find(name)
		if !ok || slices.Contains(a.Policy().Allow, iikanji.Privacy) {
			t.Errorf("%s allows %v", name, a.Policy().Allow)
		}
	}
	const file = `version = 1
name = "shop"
url = "http://127.0.0.1:8080"

[[service]]
name = "app"
role = "app"
engine = "go"
listen = "127.0.0.1:8080"

[bench]
command = "true"
length = "10s"
score = "json:score"

[policy]
allow = ["PROMISE"]
`
	if _, err := target.Parse("iikanji.toml", []byte(strings.Replace(file, "PROMISE", "row-order", 1))); err != nil {
		t.Errorf("row-order: %v", err)
	}
	if _, err := target.Parse("iikanji.toml", []byte(strings.Replace(file, "PROMISE", "privacy", 1))); err == nil || !strings.Contains(err.Error(), "privacy") {
		t.Errorf("privacy: %v", err)
	}
}
