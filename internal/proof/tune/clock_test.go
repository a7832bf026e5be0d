package tune

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTuneClockBack sets the clock back by two hours at each of several runs of a search
// with a time limit, and again before the next search: both end, keep what is useful, try
// nothing twice, and every change can be reverted.
func TestTuneClockBack(t *testing.T) {
	tier.Slow(t)
	for back := 3; back <= 27; back += 8 {
		m, tu := newMeadow(t, 2)
		m.effects = map[string]float64{"big=1": math.Log(3), "some=1": 0.15, "bad=1": -0.2}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("WEB105", "bad", "1", 1)}
		}
		tu.Options.Time = 15 * time.Minute
		m.at = func(run int) {
			if run == back {
				m.now = m.now.Add(-2 * time.Hour)
			}
		}
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatalf("back at run %d: %v", back, err)
		}
		if calls := m.calls(out); calls["turn big to 1"] != "keep" || calls["turn bad to 1"] == "keep" {
			t.Errorf("back at run %d: %v", back, calls)
		}
		kept, runs, hist := fmt.Sprint(m.on()), m.runs, m.h.Dir()
		if back > runs {
			t.Fatalf("the search took %d runs, and the clock was never set back", runs)
		}
		m.h.Close()
		m.now = m.now.Add(-2 * time.Hour)
		tu = m.tuner(hist)
		tu.Options.Time = 15 * time.Minute
		if out, err = tu.Tune(t.Context()); err != nil {
			t.Fatalf("back before the next search: %v", err)
		}
		if calls := m.calls(out); m.runs > 3*runs || !m.on()["big=1"] {
			t.Errorf("the next search after run %d: %d runs after %d, %v, kept %s, now %v", back, m.runs, runs, calls, kept, m.on())
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
			t.Errorf("reverting all: %v, the site is %v", err, m.on())
		}
	}
}
