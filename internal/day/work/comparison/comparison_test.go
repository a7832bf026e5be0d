package comparison

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// A world is a simulated day: a history of repeated states, then three runs of the kept
// state, then one run with an effect.
type world struct {
	sigma   float64
	drift   string
	repeats int // repetitions in the history, besides those of the kept state
	kept    int // runs of the kept state
	effect  float64
	gap     time.Duration // between two runs
}

// simulate makes the points of a day.
func (w world) simulate(rng *rand.Rand) (history []Point, kept, now []iikanji.RunID) {
	begin := time.Unix(1_700_000_000, 0)
	slope, walk := 0.0, 0.0
	if w.drift == "linear" {
		slope = 0.02
		if rng.IntN(2) == 0 {
			slope = -slope
		}
	}
	run := 0
	y := func(level float64, state string) iikanji.RunID {
		if w.drift == "walk" {
			walk += 0.01 * math.Sqrt(w.gap.Hours()) * rng.NormFloat64()
		}
		at := begin.Add(time.Duration(run) * w.gap)
		run++
		v := math.Exp(10 + level + slope*at.Sub(begin).Hours() + walk + w.sigma*rng.NormFloat64())
		history = append(history, Point{iikanji.RunID(run), iikanji.Fingerprint(state), at, v})
		return iikanji.RunID(run)
	}
	for i := range (w.repeats + 1) / 2 { // states of three runs each
		level := rng.NormFloat64() * 0.2
		for range 3 {
			y(level, fmt.Sprint("h", i))
		}
	}
	for range w.kept {
		kept = append(kept, y(0, "kept"))
	}
	return history, kept, []iikanji.RunID{y(w.effect, "now")}
}

// rates counts, over many days, how often a gain or a loss is said and how often the
// interval has the true effect.
func (w world) rates(n int, seed uint64) (gain, loss, covered float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for range n {
		history, kept, now := w.simulate(rng)
		r := Score(history, kept, now)
		switch r.Word {
		case Gain:
			gain++
		case Loss:
			loss++
		}
		if r.Effect.Lo <= w.effect && w.effect <= r.Effect.Hi {
			covered++
		}
	}
	f := float64(n)
	return gain / f, loss / f, covered / f
}

const days = 20_000

// TestRates: over 20,000 simulated days a cell, a useless change is called a gain at most 5 %
// of the time, and the 90 % interval has the true effect 88 to 92 % of the time, without
// drift, with a linear one of 2 % an hour, and with a random walk.
func TestRates(t *testing.T) {
	tier.Slow(t)
	for i, sigma := range []float64{0.02, 0.05, 0.10} {
		for j, drift := range []string{"none", "linear", "walk"} {
			w := world{sigma: sigma, drift: drift, repeats: 12, kept: 3, gap: 5 * time.Minute}
			gain, loss, covered := w.rates(days, uint64(10*i+j))
			t.Logf("σ %2.0f %%, drift %-6s: useless called a gain %.1f %%, a loss %.1f %%; interval covers %.1f %%", 100*sigma, drift, 100*gain, 100*loss, 100*covered)
			if gain > 0.05 || loss > 0.05 {
				t.Errorf("σ %v drift %s: a useless change is called a gain %.2f %%, a loss %.2f %%", sigma, drift, 100*gain, 100*loss)
			}
			if covered < 0.88 || covered > 0.92 {
				t.Errorf("σ %v drift %s: the 90 %% interval covers %.2f %%", sigma, drift, 100*covered)
			}
		}
	}
}

// TestPower: +20 % against three runs at a spread of 5 % is called a gain at least 85 % of the
// time.
func TestPower(t *testing.T) {
	tier.Slow(t)
	for _, c := range []struct {
		kept         int
		effect, want float64
	}{{3, 0.20, 0.85}, {1, 0.10, 0.25}, {3, 0.10, 0.35}, {8, 0.10, 0.40}} {
		for _, drift := range []string{"none", "linear"} {
			w := world{sigma: 0.05, drift: drift, repeats: 12, kept: c.kept, effect: math.Log1p(c.effect), gap: 5 * time.Minute}
			gain, _, _ := w.rates(days, 99)
			t.Logf("%+.0f %% against %d runs, drift %s: a gain %.1f %%", 100*c.effect, c.kept, drift, 100*gain)
			if gain < c.want {
				t.Errorf("%+.0f %% against %d runs, drift %s: a gain in %.1f %%, want %.0f %%", 100*c.effect, c.kept, drift, 100*gain, 100*c.want)
			}
		}
	}
}

// TestPrior: without repetitions, the prior alone keeps a useless change from being called a
// gain, also where the spread is larger than the prior.
func TestPrior(t *testing.T) {
	tier.Slow(t)
	for _, sigma := range []float64{0.02, 0.05, 0.08, 0.10} {
		for _, repeats := range []int{0, 2} {
			w := world{sigma: sigma, drift: "none", repeats: repeats, kept: 1, gap: 5 * time.Minute}
			gain, _, covered := w.rates(days, 5)
			t.Logf("σ %2.0f %%, %d repetitions: useless called a gain %.1f %%, interval covers %.1f %%", 100*sigma, repeats, 100*gain, 100*covered)
			if gain > 0.05 {
				t.Errorf("σ %v, %d repetitions: a useless change is called a gain %.2f %%", sigma, repeats, 100*gain)
			}
		}
	}
}

// TestNeeded: as many further runs as are advised decide +10 % about as often as promised.
func TestNeeded(t *testing.T) {
	w := world{sigma: 0.04, drift: "none", repeats: 12, kept: 6, gap: 5 * time.Minute}
	rng := rand.New(rand.NewPCG(3, 3))
	asked, decided := 0, 0
	for range 4000 {
		history, kept, now := w.simulate(rng)
		r := Score(history, kept, now)
		if r.Word != Open || r.More == 0 {
			continue
		}
		asked++
		last := history[len(history)-1]
		history = history[:len(history)-1] // the further runs are of a change of +10 %
		now = nil
		for i := range r.More + 1 {
			p := Point{iikanji.RunID(100 + i), "now", last.At.Add(time.Duration(i) * time.Second), math.Exp(10 + math.Log(1.1) + w.sigma*rng.NormFloat64())}
			history, now = append(history, p), append(now, p.Run)
		}
		if Score(history, kept, now).Word == Gain {
			decided++
		}
	}
	if share := float64(decided) / float64(asked); asked < 100 || share < 0.70 || share > 0.95 {
		t.Errorf("%d of %d (%.2f) were decided by the advised runs", decided, asked, share)
	}
}

// TestWords: single cases by hand.
func TestWords(t *testing.T) {
	at := func(run int, state string, value float64) Point {
		return Point{iikanji.RunID(run), iikanji.Fingerprint(state), time.Unix(int64(run)*300, 0), value}
	}
	kept := []iikanji.RunID{1, 2, 3}
	base := []Point{at(1, "a", 37000), at(2, "a", 37500), at(3, "a", 36500)}
	for _, c := range []struct {
		now  float64
		want Word
	}{{60000, Gain}, {37100, Open}, {20000, Loss}, {0, None}, {math.Inf(1), None}, {math.NaN(), None}} {
		r := Score(append(base[:3:3], at(4, "b", c.now)), kept, []iikanji.RunID{4})
		if r.Word != c.want {
			t.Errorf("%v: %+v, want %s", c.now, r, c.want)
		}
		if r.Word == Open && (r.More == 0 && r.Pairs == 0) {
			t.Errorf("%v is open, and nothing is advised: %+v", c.now, r)
		}
	}
	if r := Score(base, kept, nil); r.Word != None || r.KeptRuns != 3 {
		t.Errorf("no run of now: %+v", r)
	}
}

// TestFaults: new faults come first, and faults that both have alike are left out.
func TestFaults(t *testing.T) {
	run := func(faults ...iikanji.Fault) *iikanji.Run { return &iikanji.Run{Faults: faults} }
	f := func(message string, n int64) iikanji.Fault {
		return iikanji.Fault{Kind: iikanji.FaultStatus, Step: message, Message: message, Count: n}
	}
	got := Faults([]*iikanji.Run{run(f("same", 2), f("gone", 4)), run(f("same", 2), f("more", 1))}, []*iikanji.Run{run(f("same", 2), f("more", 9), f("new", 1))})
	want := []FaultChange{{"new", false, 0, 1}, {"more", false, 0.5, 9}, {"gone", false, 2, 0}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzScore: whatever the runs are, an interval is ordered and finite, and a word agrees
// with it.
func FuzzScore(f *testing.F) {
	f.Add(int64(3), int64(100), 1.0, 2.0, 3.0, 4.0)
	f.Add(int64(1), int64(0), 0.0, -1.0, 1e300, 1e-300)
	f.Fuzz(func(t *testing.T, n, gap int64, a, b, c, d float64) {
		n = 1 + (n%6+6)%6
		values := []float64{a, b, c, d}
		var history []Point
		var kept, now []iikanji.RunID
		for i := range 2 * n {
			p := Point{iikanji.RunID(i), iikanji.Fingerprint(fmt.Sprint(i % 3)), time.Unix(i*(gap%100_000), 0), values[i%4]}
			history = append(history, p)
			if i < n {
				kept = append(kept, p.Run)
			} else {
				now = append(now, p.Run)
			}
		}
		r := Score(history, kept, now)
		e := r.Effect
		if r.Word == None {
			return
		}
		for _, v := range []float64{e.Lo, e.Mid, e.Hi, r.SD, r.Drift} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("%+v", r)
			}
		}
		if e.Lo > e.Mid || e.Mid > e.Hi || r.Word == Gain && stats.Percent(e.Lo) <= 0 || r.Word == Loss && stats.Percent(e.Hi) >= 0 {
			t.Fatalf("%+v", r)
		}
	})
}
