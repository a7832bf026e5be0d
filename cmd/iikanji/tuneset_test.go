package main

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/contest/arena"
)

// TestTuneSettings checks that runs with other settings of the arena do not
// compare, and that the recorded command has the settings.
func TestTuneSettings(t *testing.T) {
	c := &tuneCmd{Set: []string{"b=2", "a=1"}}
	run := func(set arena.Values) *benchRun {
		return &benchRun{benchCmd: &benchCmd{}, target: &namedTarget{Name: "x"}, settings: set}
	}
	plain, set := c.basis(run(nil)), c.basis(run(arena.Values{"b": "2", "a": "1"}))
	if set != plain+", a 1, b 2" {
		t.Errorf("basis %q and %q", plain, set)
	}
	if got := c.command(run(nil)); !strings.Contains(got, " --set b=2 --set a=1") {
		t.Errorf("command %q", got)
	}
}
