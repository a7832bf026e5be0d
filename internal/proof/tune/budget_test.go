package tune

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// TestBudgetEnd checks that time which the search did not need makes the runs of
// the last comparison longer, that no run is longer than the full length, and that the
// search has all the time that the last comparison and weak proofs leave.
func TestBudgetEnd(t *testing.T) {
	for _, c := range []struct {
		spent, load time.Duration
	}{
		{8 * time.Minute, 33 * time.Second},  // more than what is reserved
		{6 * time.Minute, 48 * time.Second},  // two minutes more
		{2 * time.Minute, 60 * time.Second},  // the full length
		{14 * time.Minute, 18 * time.Second}, // too late: the comparison has fewer pairs, not shorter runs than planned
	} {
		began := time.Unix(1e9, 0)
		b := &budget{options: TuneOptions{Time: 15 * time.Minute, Short: 10 * time.Second, Full: time.Minute, Pairs: 4},
			now: func() time.Time { return began.Add(c.spent) }, began: began, cost: 14 * time.Second, reserve: func() int { return 0 }}
		before := b.timeFor()
		if tail, search := b.tailLeft(), b.timeFor(); search != tail {
			t.Errorf("after %v: %v for the search, but %v before the last comparison", c.spent, search, tail)
		}
		b.reserve = func() int { return 2 }
		if tail, search := b.tailLeft(), b.timeFor(); search != tail-8*b.cost {
			t.Errorf("after %v, with two weak proofs: %v for the search of %v", c.spent, search, tail)
		}
		b.reserve = func() int { return 0 }
		b.beginEnd()
		if load := max(b.fullLoad(), b.endLoad); load != c.load {
			t.Errorf("after %v: full runs of %v, want %v", c.spent, load, c.load)
		}
		// A twelfth of the time is left for logs and checks, unless the search took it.
		if tail := b.tailLeft(); c.spent <= 6*time.Minute && (tail < 75*time.Second || before < 0) {
			t.Errorf("after %v: %v for logs and checks", c.spent, tail)
		}
	}
}

// TestCalibrateRestarts checks that the calibration restarts the apps and reloads the
// web servers before each of its runs, as trials do, and leaves the databases alone.
func TestCalibrateRestarts(t *testing.T) {
	m, tu := newMeadow(t, 3)
	m.effects["big=1"] = math.Log(1.5)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	done := map[string]int{}
	count := func(what string) func(context.Context) error {
		return func(context.Context) error { done[what]++; return nil }
	}
	tu.Site.Services = map[string]change.Service{}
	for name, role := range map[string]iikanji.Role{"front": iikanji.RoleWeb, "go": iikanji.RoleApp, "rust": iikanji.RoleApp, "store": iikanji.RoleDatabase} {
		tu.Site.Target.Services = append(tu.Site.Target.Services, iikanji.Service{Name: name, Role: role})
		tu.Site.Services[name] = change.Service{Reload: count("reload " + name), Restart: count("restart " + name)}
	}
	m.at = func(run int) {
		if run > 2*calibrationPairs {
			run = 2 * calibrationPairs // no trial restarts anything here: knobs are files
		}
		for _, what := range []string{"reload front", "restart go", "restart rust"} {
			if done[what] != run {
				t.Errorf("run %d: %s: %d times", run, what, done[what])
			}
		}
	}
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(done) != 3 {
		t.Errorf("done: %v", done)
	}
}

// TestCalibrationRuns: long runs get fewer pairs before the first trial.
func TestCalibrationRuns(t *testing.T) {
	for _, c := range []struct {
		time, cost time.Duration
		want       int
	}{
		{15 * time.Minute, 0, 8},
		{0, time.Minute, 8},
		{15 * time.Minute, 14 * time.Second, 8},
		{15 * time.Minute, 28 * time.Second, 8},
		{15 * time.Minute, 31 * time.Second, 6},
		{15 * time.Minute, 50 * time.Second, 4},
		{15 * time.Minute, time.Minute, 4},
		{time.Hour, time.Minute, 8},
	} {
		b := budget{options: TuneOptions{Time: c.time}, cost: c.cost}
		if got := b.calibrationRuns(); got != c.want {
			t.Errorf("%v with runs of %v: %d runs, want %d", c.time, c.cost, got, c.want)
		}
	}
}
