package main

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/site/target"
)

// TestFitSite: a time limit that was given stays, and is refused if it is too short for
// the benchmarker's runs; the default is raised.
func TestFitSite(t *testing.T) {
	for _, c := range []struct {
		args           string
		length, budget time.Duration
		want           time.Duration
		refused        string
	}{
		{"", 75 * time.Second, 0, 15 * time.Minute, ""},
		{"--time 15m", 75 * time.Second, 0, 15 * time.Minute, ""},
		{"", 110 * time.Second, 0, 15 * time.Minute, ""},
		{"", 150 * time.Second, 0, 19 * time.Minute, ""},
		{"--time=15m", 150 * time.Second, 0, 15 * time.Minute, "take 18m22s at least"},
		{"", 150 * time.Second, 15 * time.Minute, 15 * time.Minute, "take 18m22s at least"},
		{"", 60 * time.Second, 12 * time.Minute, 12 * time.Minute, ""},
		{"--time 20m", 60 * time.Second, 12 * time.Minute, 20 * time.Minute, ""},
		{"--time 0", 60 * time.Second, 12 * time.Minute, 0, ""},
	} {
		e := &env{}
		k, err := newParser(t.Context(), e).Parse(append([]string{"tune", "some"}, strings.Fields(c.args)...))
		if err != nil {
			t.Fatal(err)
		}
		cmd, ok := k.Selected().Target.Addr().Interface().(*tuneCmd)
		if !ok {
			t.Fatalf("%s is not tune", k.Selected().Name)
		}
		f := &target.File{}
		f.Bench.Command, f.Bench.Length, f.Policy.Budget = "./bench", target.Duration(c.length), target.Duration(c.budget)
		cmd.fitSite(&namedTarget{file: f})
		if cmd.Time != c.want || cmd.Short != c.length || cmd.Full != c.length || cmd.Pairs != 2 {
			t.Errorf("%q, runs of %v, budget %v: %v, want %v; runs of %v and %v, %d pairs", c.args, c.length, c.budget, cmd.Time, c.want, cmd.Short, cmd.Full, cmd.Pairs)
		}
		switch _, err := cmd.options(defaultLeastLoad); {
		case c.refused == "" && err != nil:
			t.Errorf("%q: %v", c.args, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%q with a budget of %v: %v, want %q", c.args, c.budget, err, c.refused)
		}
	}
}
