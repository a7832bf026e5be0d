package tune

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// fixed are the options of a benchmarker whose runs cannot be shortened.
func fixed(limit, load time.Duration) TuneOptions {
	return TuneOptions{Time: limit, Short: load, Full: load, Watch: load, Pairs: 2}
}

// TestTimePlan: the plan divides the time as the search does, before and after the first
// run.
func TestTimePlan(t *testing.T) {
	for _, c := range []struct {
		options TuneOptions
		cost    time.Duration
		want    string
	}{
		{fixed(15*time.Minute, 75*time.Second), 78 * time.Second,
			"15m0s hold about 11 runs of 78s: 4 to measure the noise, 1 to observe, 2 for a sweep of all promising changes, 4 for the last comparison"},
		{fixed(15*time.Minute, 75*time.Second), 95 * time.Second,
			"15m0s hold about 9 runs of 95s: 3 to measure the noise, 1 to observe, 1 for a sweep of all promising changes, 4 for the last comparison"},
		{fixed(10*time.Minute, 75*time.Second), 0,
			"10m0s hold about 7 runs of 77s: 4 to measure the noise, 1 to observe, none to try changes, 4 for the last comparison; a search with runs of this length needs 11m52s"},
		{TuneOptions{Time: 15 * time.Minute, Short: 10 * time.Second, Full: time.Minute, Watch: 10 * time.Second, Pairs: 4, Runs: 40}, 14 * time.Second,
			"15m0s hold about 64 runs of 14s: 8 to measure the noise, 1 to observe, 39 to try changes, 8 with a load of 18s and more for the last comparison; at most 40 runs are allowed"},
		{TuneOptions{Short: 10 * time.Second, Full: time.Minute, Watch: 10 * time.Second, Pairs: 4}, 0,
			"no time limit; runs of about 12s: 8 to measure the noise, 1 to observe, as many as needed to try changes, 8 with a load of 60s and more for the last comparison"},
	} {
		b := &budget{options: c.options, cost: c.cost}
		p := b.timePlan(0)
		if got := p.String(); got != c.want {
			t.Errorf("%v with runs of %v:\n%s, want\n%s", c.options.Time, c.cost, got, c.want)
		}
		if p.Noise != b.calibrationRuns() || p.Sweep != b.scarce() {
			t.Errorf("%+v, but %d calibration runs, scarce: %v", p, b.calibrationRuns(), b.scarce())
		}
	}
	known := (&budget{options: fixed(15*time.Minute, 75*time.Second)}).timePlan(4)
	if known.Noise != 0 || known.Search < 5 {
		t.Errorf("with four runs of an earlier search: %+v", known)
	}
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
	if len(plans) == 0 || !strings.Contains(plans[0], "12m0s hold about 11 runs of 62s: 4 to measure the noise") {
		t.Errorf("plans: %q", plans)
	}
	if len(doing) == 0 || doing[0] != "run 1 of 4 of the site as it is" {
		t.Errorf("shown: %q", doing)
	}
	if out.Plan.Noise != 4 || out.Plan.Run < 65*time.Second || !out.Plan.Sweep {
		t.Errorf("in the outcome: %+v", out.Plan)
	}
}

// TestNineRuns: a limit that holds nine runs is used: three calibrate, and one sweep
// without rewrites of source cures the two large causes that it can. The limit is kept.
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
		if gain := 100 / s.left(); gain < 100.0/43 || !s.on()["first=1"] || !s.on()["third=1"] || len(out.Final) != 2 {
			t.Errorf("seed %d: × %.1f with %d final runs, want × 2.3 and 2", seed, gain, len(out.Final))
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
