package tune

import (
	"math"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// loop is a site whose clients use what one cure saves: an index takes most of the CPU time
// of the database, the app uses it, and only all three changes together bring × 3.
func loop(t *testing.T, seed uint64, cpu bool) (*meadow, *Tuner) {
	m, tu := newMeadow(t, seed)
	tu.Options.Time = 15 * time.Minute
	all := []string{"index", "files", "batch"}
	m.finds = func(on map[string]bool) (f []iikanji.Finding) {
		for i, name := range all {
			if !on[name+"=1"] {
				f = append(f, turn([]string{"DB101", "DB131", "DB116"}[i], name, "1", []float64{4, 1, 0.8}[i]))
			}
		}
		for _, name := range []string{"idle", "vain"} {
			if !on[name+"=1"] {
				f = append(f, turn("DB20"+map[string]string{"idle": "1", "vain": "2"}[name], name, "1", 0.7))
			}
		}
		return f
	}
	m.at = func(int) {
		on, n := m.on(), 0
		for _, name := range all {
			if on[name+"=1"] {
				n++
			}
		}
		if m.level = -0.05 * float64(n); n == len(all) {
			m.level = math.Log(3)
		}
	}
	if cpu {
		m.usage = func(on map[string]bool) []iikanji.Usage {
			database, app := 0.30, 0.18
			if on["index=1"] {
				database, app = 0.11, 0.33
			}
			return []iikanji.Usage{{Who: "database", Share: database}, {Who: "app", Share: app}, {Who: "generator", Share: 0.1}}
		}
	}
	return m, tu
}

// TestTuneAbsorbed: where the CPU time of services shows that other work used what a change
// saved, the candidates are tried together, also the one that brought nothing alone, and
// parts without an effect of their own are found at the end.
func TestTuneAbsorbed(t *testing.T) {
	tier.Slow(t)
	for seed := range uint64(4) {
		m, tu := loop(t, seed, true)
		tu.Say = nil
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if on := m.on(); !tu.book.ledger().Absorbed || !on["index=1"] || !on["files=1"] || !on["batch=1"] || out.Ratio.Mid < 2.5 {
			t.Errorf("seed %d: %v, absorbed %v, in force is %v, calls %v", seed, out.Ratio, tu.book.ledger().Absorbed, on, m.calls(out))
		}
		for _, a := range out.Attempts {
			if a.Says == "turn index to 1" && !a.Parked && a.Verdict.Call == iikanji.Keep {
				t.Errorf("seed %d: the index alone was kept", seed)
			}
		}
	}
}

// TestTuneNotAbsorbed: without the figures of the services, nothing is concluded from a
// trial without a gain.
func TestTuneNotAbsorbed(t *testing.T) {
	_, tu := loop(t, 1, false)
	tu.Say = nil
	if _, err := tu.Tune(t.Context()); err != nil || tu.book.ledger().Absorbed {
		t.Errorf("absorbed: %v, %v", tu.book.ledger().Absorbed, err)
	}
}
