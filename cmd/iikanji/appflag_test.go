package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestChooseApp: --app chooses a variant of an arena, or the arena itself.
func TestChooseApp(t *testing.T) {
	for args, want := range map[string]string{
		"tune isuports --app ruby --time 5m": "tune isuports-ruby --time 5m",
		"tune --app=ruby isuports":           "tune isuports-ruby",
		"bench isuports --app go --json":     "bench isuports --json",
		"bench isuports-ruby --app go":       "bench isuports",
		"bench isuports-ruby --app ruby":     "bench isuports-ruby",
		"ladder isucondition --app node":     "ladder isucondition-node",
		"bench isucondition":                 "bench isucondition",
		"bench isuports -- --app ruby":       "bench isuports -- --app ruby",
		"tune ./shop --app ruby":             "tune ./shop --app ruby",
		"bench isucondition --tls":           "bench isucondition-tls",
		"tune --tls isucondition --time 5m":  "tune isucondition-tls --time 5m",
		"bench isuports -- --tls":            "bench isuports -- --tls",
		"bench isucondition-tls":             "bench isucondition-tls",
	} {
		got, err := chooseApp(strings.Fields(args))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", args, got, err, want)
		}
	}
	for args, want := range map[string]string{
		"bench isuports --app node": "its apps are: go, ruby",
		"bench isuports --app":      "want the name of an app",
		"bench isuumo --app ruby":   "has one app only",
		"bench isuumo --tls":        "those that do are: isucondition",
	} {
		got, err := chooseApp(strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", args, got, err, want)
		}
	}
}

// TestAppNeedsAnArena: --app with another target is a usage error, not a flag without an
// effect.
func TestAppNeedsAnArena(t *testing.T) {
	var out, errs bytes.Buffer
	e := &env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Cols: 80}
	for _, command := range []string{"bench", "tune", "diagnose", "up", "history"} {
		errs.Reset()
		status := run(t.Context(), e, []string{command, t.TempDir(), "--app", "ruby"})
		if status != exitUsage || !strings.Contains(errs.String(), "isuports (go, ruby)") {
			t.Errorf("%s: status %d, %s", command, status, errs.String())
		}
	}
	errs.Reset()
	if status := run(t.Context(), e, []string{"bench", t.TempDir(), "--tls"}); status != exitUsage || !strings.Contains(errs.String(), "isucondition") {
		t.Errorf("--tls: status %d, %s", status, errs.String())
	}
}

// TestFamilies: an arena's own app has a name that no variant has.
func TestFamilies(t *testing.T) {
	all := families()
	if len(all) < 2 {
		t.Fatalf("%d arenas have several apps, want isucondition and isuports", len(all))
	}
	for _, f := range all {
		if f.apps[0] == "" || slices.Contains(f.apps[1:], f.apps[0]) {
			t.Errorf("%s: the apps are %q", f.targets[0], f.apps)
		}
	}
}
