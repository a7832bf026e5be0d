package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// TestTuneLeapsFirst: what promises much is proven after eight runs, before the noise is known well,
// and the calibration goes on on the faster site.
func TestTuneLeapsFirst(t *testing.T) {
	m, tu := newMeadow(t, 3)
	tu.Options.Time = 15 * time.Minute
	m.effects = map[string]float64{"big=1": math.Log(4), "some=1": 0.12}
	m.finds = func(on map[string]bool) (f []iikanji.Finding) {
		return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("DB103", "none", "1", 0.5)}
	}
	proven, known := 0, 0
	tu.Trace = func(s search.State, step search.Step) {
		for _, a := range s.Ledger.Attempts {
			if proven == 0 && a.Says == "turn big to 1" && a.Result() == "keep" {
				proven = m.runs
			}
		}
		if known == 0 && s.Known {
			known = s.AA + s.NoiseRuns
		}
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if proven == 0 || proven > 8 || known < 8 {
		t.Errorf("proven after %d runs, the noise is known from %d", proven, known)
	}
	if on := m.on(); !on["big=1"] || !on["some=1"] || on["none=1"] || out.Short[0] == 0 {
		t.Errorf("in the end the site is %v, scores %v", on, out.Short)
	}
	again := m.tunerAgain(tu)
	if out, err = again.Tune(t.Context()); err != nil || out.Short[0] == 0 {
		t.Errorf("the next search has the scores %v: %v", out.Short, err)
	}
}

// tunerAgain is another search on the history of one that has ended.
func (m *meadow) tunerAgain(tu *Tuner) *Tuner {
	dir := m.h.Dir()
	m.h.Close()
	again := m.tuner(dir)
	again.Options = tu.Options
	return again
}

// TestTuneDoubt: a change that makes half of its own runs void is taken back, also if the runs that
// let it in all counted.
func TestTuneDoubt(t *testing.T) {
	tier.Slow(t)
	doubted, stays := 0, 0
	for seed := range uint64(6) {
		m, tu := newMeadow(t, seed)
		tu.Options.Time = 30 * time.Minute
		m.effects = map[string]float64{"void=1": 0.4}
		m.finds = func(map[string]bool) []iikanji.Finding {
			found := []iikanji.Finding{turn("DB101", "void", "1", 6)}
			for i := range 8 {
				found = append(found, turn(fmt.Sprint("DB20", i), fmt.Sprint("none", i), "1", 1))
			}
			return found
		}
		with, rng := 0, rand.New(rand.NewPCG(seed, 2))
		m.at = func(run int) {
			if !m.on()["void=1"] {
				return
			}
			if with++; with > 5 && rng.IntN(2) == 0 {
				m.voids[run] = "the machine was disturbed"
			}
		}
		tu.Say = func(line string) {
			if strings.HasPrefix(line, "taken back: turn void to 1") {
				doubted++
			}
		}
		if _, err := tu.Tune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.on()["void=1"] {
			stays++
		}
	}
	if doubted < 2 || stays > 4 { // the searches are short: few runs show it
		t.Errorf("it was taken back in %d of 6 searches, and stays in %d", doubted, stays)
	}
}

// TestTuneLateHarm: a kept change that harms in full runs only is found beside a large gain.
func TestTuneLateHarm(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 4)
	tu.Options.Time = 20 * time.Minute
	m.effects = map[string]float64{"pool=8": 0.15, "index=1": 0.5}
	m.long = map[string]float64{"pool=8": -0.4}
	m.finds = func(map[string]bool) []iikanji.Finding {
		return []iikanji.Finding{turn("DB210", "pool", "8", 3), turn("DB101", "index", "1", 4)}
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if on := m.on(); on["pool=8"] || !on["index=1"] || out.Ratio.Lo > math.Exp(0.5) || out.Ratio.Hi < math.Exp(0.5) {
		t.Errorf("in the end the site is %v, ratio %v", on, out.Ratio)
	}
}

// TestTuneLengths: where short runs differ much and longer ones do not, the search has longer ones,
// and so has the next search on the history.
func TestTuneLengths(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		long float64 // noise of the longer runs
		want time.Duration
	}{{0.03, 24 * time.Second}, {0.25, 8 * time.Second}} {
		m, tu := newMeadow(t, 5)
		tu.Options.Time = time.Hour
		m.effects = map[string]float64{"some=1": 0.3}
		m.noise = func(load time.Duration) float64 {
			if load > 8*time.Second {
				return c.long
			}
			return 0.25
		}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("WEB102", "some", "1", 2), turn("DB103", "none", "1", 0.5)}
		}
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := tu.Options.Short; got != c.want {
			t.Errorf("with a noise of %.2f in longer runs: runs of %s, the site is %v, notes %q", c.long, got, m.on(), out.Notes)
		}
		again := m.tunerAgain(tu)
		again.Options.Short = 8 * time.Second
		if _, err := again.Tune(t.Context()); err != nil || again.Options.Short != c.want {
			t.Errorf("the next search has runs of %s: %v", again.Options.Short, err)
		}
	}
}

// TestTuneCheaper: a change that saves most of the rows examined stays although the score shows
// nothing, under a verdict of its own, and goes before the last comparison where the policy counts
// the score alone.
func TestTuneCheaper(t *testing.T) {
	tier.Slow(t)
	for _, alone := range []bool{false, true} {
		m, tu := newMeadow(t, 6)
		tu.Acts.Policy.ScoreOnly = alone
		m.effects = map[string]float64{"some=1": 0.3}
		m.counts = func(on map[string]bool) map[string]float64 {
			rows := 1e6 * (1 + 0.01*m.rng.Float64())
			if on["cheap=1"] {
				rows /= 30
			}
			return map[string]float64{"rows examined": rows}
		}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("WEB102", "some", "1", 2), turn("DB103", "cheap", "1", 1.5)}
		}
		out, err := tu.Tune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var v iikanji.Verdict
		for _, a := range out.Attempts {
			if a.Says == "turn cheap to 1" {
				v = a.Verdict
			}
		}
		if v.Reason != iikanji.Cheaper || !strings.Contains(v.Why, "kept for its cost, score undecided") || m.on()["cheap=1"] == alone || !m.on()["some=1"] {
			t.Errorf("score only %v: %v %q, in the end the site is %v", alone, v.Reason, v.Why, m.on())
		}
	}
}
