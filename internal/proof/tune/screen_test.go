package tune

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTuneScreen screens many candidates in one design. A few of them help.
// Those that the design favours are kept if pairs prove them together, and the others are
// undone. Two candidates write the same file, so the second one is planned on the state
// that the first one leaves.
func TestTuneScreen(t *testing.T) {
	m, tu := newMeadow(t, 50)
	tu.Options.Time = 15 * time.Minute
	m.effects = map[string]float64{"k1=1": 0.12, "k4=1": 0.12, "k7=1": -0.05, "k8=1": -0.05}
	m.finds = func(on map[string]bool) []iikanji.Finding {
		var f []iikanji.Finding
		for i := range 9 {
			if !on[fmt.Sprintf("k%d=1", i)] {
				f = append(f, turn(fmt.Sprint("WEB10", i), fmt.Sprint("k", i), "1", 0.3))
			}
		}
		return append(f, turn("WEB120", "k8", "2", 0.3))
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if on := m.on(); !on["k1=1"] || !on["k4=1"] || on["k7=1"] || on["k8=1"] || len(on) > 3 {
		t.Errorf("in the end the site is %v", on)
	}
	m.wantInForce(tu, "at the end")
	for _, a := range out.Attempts {
		for _, p := range a.Parts {
			if p.Alone != nil && !strings.Contains(p.Alone.Why, "tried alone at the end") {
				t.Errorf("%s: a screening alone proves nothing: %+v", p.Says, p.Alone)
			}
		}
	}
	if p := out.Proofs; p.Alone != 2 || p.Unproven > 1 {
		t.Errorf("two large effects are proven alone, and not %+v", p)
	}
	if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
		t.Errorf("reverting all: %v, the site is %v", err, m.on())
	}
}

// TestTuneScreenBroken: a candidate that breaks the site ends the screening, and
// the others are found in smaller groups.
func TestTuneScreenBroken(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 51)
	tu.Options.Time = 30 * time.Minute
	m.effects = map[string]float64{"k1=1": 0.2}
	m.breaks["k3=1"] = true
	m.finds = func(on map[string]bool) []iikanji.Finding {
		var f []iikanji.Finding
		for i := range 6 {
			if !on[fmt.Sprintf("k%d=1", i)] {
				f = append(f, turn(fmt.Sprint("WEB10", i), fmt.Sprint("k", i), "1", 0.3))
			}
		}
		return f
	}
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if on := m.on(); !on["k1=1"] || on["k3=1"] {
		t.Errorf("in the end the site is %v", on)
	}
	m.wantInForce(tu, "at the end")
}
