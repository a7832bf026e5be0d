package selftest

import (
	"strings"
	"testing"
)

// TestErrorIsCounted: searches that cannot run are counted, and the others still are.
func TestErrorIsCounted(t *testing.T) {
	s := nulls(World{Sigma: 0.05}, quarter)
	s.Fails = 0.45 // three in a row come in some of the searches
	got, err := s.Simulate(t.Context(), 11, 60, nil)
	if err != nil || got.Errors == 0 || got.Searches == 0 || got.Errors+got.Searches != 60 || got.Error == "" {
		t.Fatalf("%v, %d errors and %d searches, %q", err, got.Errors, got.Searches, got.Error)
	}
	r := got.row("nulls")
	if r.Searches != got.Searches || r.Errors != got.Errors || r.UselessInForce.N != got.Searches {
		t.Errorf("%+v", r)
	}
	m := measurement{tell: func(string, int, int) {}}
	m.note(&got)
	if err := m.noErrors(); err != nil || len(m.goals) != 1 || m.goals[0].OK || !strings.Contains(m.goals[0].Measured, got.Error) {
		t.Errorf("%v, %+v", err, m.goals)
	}
}

// TestWants: the goals of each scene are those that were set, and each can be missed.
func TestWants(t *testing.T) {
	want := map[string]string{
		"interactions, 15 min": "proven 5, harmful 10, idle 5, headline 86, useless 20",
		"interactions, 60 min": "proven 5, harmful 2, idle 5, headline 86, useless 5",
		"minutes, 20 min":      "proven 5, harmful 10, idle 5, headline 86, ratio 85",
		"minutes, 60 min":      "proven 5, harmful 2, idle 5, headline 86",
		"again, 8 of 15 min":   "proven 5, harmful 10, idle 5, headline 86, useless 8",
		"third-run, 15 min":    "proven 5, harmful 10, idle 5, headline 86, useless 8",
		"ladder, 15 min":       "proven 5, harmful 10, idle 5, headline 86, mean 0.3, good 6.8, shown 88",
	}
	seen := 0
	for _, scene := range Scenes() {
		for i := range scene.Searches {
			s := &scene.Searches[i]
			of := 5.0
			if scene.Name == "again" || scene.Name == "third-run" {
				of = 0
			}
			text, ok := want[scene.Name+", "+s.Name]
			if !ok {
				continue
			}
			seen++
			wants := scene.wants(s, Row{Of: of})
			if parts := strings.Split(text, ", "); len(parts) != len(wants) {
				t.Errorf("%s, %s: %d goals, want %s", scene.Name, s.Name, len(wants), text)
			}
			for k, w := range wants {
				number := w.goal(Row{}).Goal
				if !strings.HasSuffix(strings.Split(text, ", ")[k], strings.Fields(number)[1]) {
					t.Errorf("%s, %s: goal %d is %q of %q", scene.Name, s.Name, k+1, number, w.what)
				}
			}
		}
	}
	if seen != len(want) {
		t.Errorf("%d of %d budgets", seen, len(want))
	}
	far := func(m Measure) Row {
		return Row{UselessProven: m, UselessInForce: m, Useless: m, Harmful: m, Good: m, Share: m, Headline: m, Shown: m}
	}
	for _, w := range []verdictCase{{0.06, 1000, true, false}, {0.05, 1000, true, true}, {0.06, 100, true, true}, {0.06, 200, true, true}, {0.2, 100, true, false},
		{0.85, 1000, false, false}, {0.87, 1000, false, true}, {0.85, 50, false, true}} {
		g := someGoal(w.most)
		if got := g.reached(far(shareOf(int(w.share*float64(w.n)), w.n))); got != w.ok {
			t.Errorf("%+v: reached %v", w, got)
		}
	}
}

type verdictCase struct {
	share float64
	n     int
	most  bool
	ok    bool
}

// someGoal is a goal of at most 5 % of searches, or of at least 86 % of headlines.
func someGoal(most bool) want {
	if most {
		return want{what: "proven", of: uselessProven, limit: mostProven}
	}
	return want{what: "headline", of: headline, limit: leastHeadline, least: true}
}
