package tune

import (
	"context"
	"math"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/proof/search"
)

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
		tu.Site.Services[name] = change.Service{Reloads: true, Running: changetest.Running{OnReload: count("reload " + name), OnRestart: count("restart " + name)}}
	}
	calibrated := 0 // runs; no trial restarts anything here: knobs are files
	tu.Trace = func(_ search.State, step search.Step) {
		if step.Do == search.Calibrate {
			calibrated++
		}
	}
	m.at = func(run int) {
		for _, what := range []string{"reload front", "restart go", "restart rust"} {
			if done[what] != calibrated {
				t.Errorf("run %d, %d of the calibration: %s: %d times", run, calibrated, what, done[what])
			}
		}
	}
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if least := 2 * int(search.CalibrationPairs.Value()); len(done) != 3 || calibrated < least-2 {
		t.Errorf("%d runs of the calibration; done: %v", calibrated, done)
	}
}
