package tune

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// fixed are the options of a benchmarker whose runs cannot be shortened.
func fixed(limit, load time.Duration) search.Options {
	return search.Options{Time: limit, Short: load, Full: load, Watch: load, Pairs: 2}
}

// TestPlanIsShown: a search shows its plan before its first run, and once more when the
// first run takes longer than the load; the display counts the same runs.
func TestPlanIsShown(t *testing.T) {
	s, tu := minuteSite(t, 3)
	tu.Options = fixed(12*time.Minute, time.Minute) // eleven runs of 65 s
	var plans, doing []string
	tu.Say = func(line string) {
		if strings.Contains(line, "plan: ") {
			plans = append(plans, line)
			if len(plans) == 1 && s.runs > 0 {
				t.Errorf("the first plan came after %d runs", s.runs)
			}
		}
	}
	tu.Show = func(v View) {
		if v.Phase == "calibrate" {
			doing = append(doing, v.Doing)
		}
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) == 0 || !strings.Contains(plans[0], "12m0s hold about 11 runs of 62s: 1 to measure the noise") {
		t.Errorf("plans: %q", plans)
	}
	if len(doing) == 0 || doing[0] != "run 1 of 1 of the site as it is" {
		t.Errorf("shown: %q", doing)
	}
	if out.Plan.Noise != 1 || out.Plan.Run < 65*time.Second || !out.Plan.Sweep {
		t.Errorf("in the outcome: %+v", out.Plan)
	}
}

// TestNineRuns: a limit that holds nine runs is used: one calibrates, and three of a design
// find the largest cause. The limit is kept.
func TestNineRuns(t *testing.T) {
	tier.Slow(t)
	for seed := range uint64(4) {
		s, tu := minuteSite(t, seed*2+1)
		tu.Options = fixed(15*time.Minute, 88*time.Second) // 93 s each
		began := s.now
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if gain := 100 / s.left(); gain < 1.75 || !s.on()["first=1"] || len(out.Final) != 2 {
			t.Errorf("seed %d: × %.1f with %d final runs, want × 1.75 and 2", seed, gain, len(out.Final))
		}
		if took := s.now.Sub(began); took > 15*time.Minute {
			t.Errorf("seed %d: %v", seed, took)
		}
	}
}

// TestScoreOfZero: a site whose runs pass with a score of 0 ends the search with that
// reason.
func TestScoreOfZero(t *testing.T) {
	m, tu := newMeadow(t, 1)
	m.level = math.Inf(-1)
	_, err := tu.Tune(t.Context())
	if !errors.Is(err, ErrChecks) || !strings.Contains(err.Error(), "its score is 0") {
		t.Errorf("%v", err)
	}
	for _, run := range []*iikanji.Run{{Outcome: iikanji.Failed}, {Outcome: iikanji.Failed, Reasons: []string{"a", "b"}}} {
		if why := whyFailed(run); why != map[int]string{0: "no reason was given", 2: "a; b"}[len(run.Reasons)] {
			t.Errorf("%v: %q", run.Reasons, why)
		}
	}
}
