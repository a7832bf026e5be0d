package selftest

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestScenesRun: one search of each scene and budget ends, and is counted.
func TestScenesRun(t *testing.T) {
	seen := map[string]bool{}
	for _, scene := range Scenes() {
		if seen[scene.Name] || scene.Says == "" {
			t.Errorf("%s: seen %v, says %q", scene.Name, seen[scene.Name], scene.Says)
		}
		seen[scene.Name] = true
		for _, s := range scene.Searches {
			got, err := s.Simulate(t.Context(), 3, 1, nil)
			if err != nil || got.Errors > 0 || got.Searches != 1 {
				t.Errorf("%s, %s: %v, %+v", scene.Name, s.Name, err, got)
			}
		}
	}
}

// near reports whether two numbers on ln(score) are equal but for rounding.
func near(x, y float64) bool { return math.Abs(x-y) < 1e-9 }

// TestTruths: the score of each subset of the changes that matter is what the scene says.
func TestTruths(t *testing.T) {
	truth := func(name string) Truth {
		scene, err := FindScene(name)
		if err != nil {
			t.Fatal(err)
		}
		return scene.Searches[0].truth()
	}
	for _, c := range []struct {
		scene string
		in    Set
		want  float64 // times the untouched score
	}{
		{"interactions", setOf(0), 1.25},
		{"interactions", setOf(1), 1},
		{"interactions", setOf(2), 1.12},
		{"interactions", setOf(0, 1), 1.25 * 1.20},
		{"interactions", setOf(0, 2), 1.25 * 0.90},
		{"interactions", setOf(1, 2), 1.12},
		{"interactions", setOf(0, 1, 2), 1.25 * 1.20 * 0.90},
		{"interactions", setOf(0, 1, 7), 1.25 * 1.20},
		{"substitutes", setOf(0), 1.15},
		{"substitutes", setOf(1), 1.15},
		{"substitutes", setOf(0, 1), 1.15},
		{"sequence", setOf(0), 100.0 / 90},    // then the app's 90 decide
		{"sequence", setOf(3), 1},             // of the app, while the database decides
		{"sequence", setOf(0, 3), 100.0 / 70}, // the app is at 64.5, the database at 70
		{"sequence", setOf(0, 1, 3), 100 / 64.5},
		{"sequence", setOf(5), 1},
		{"shift", setOf(5), 100.0 / 110},         // the app has 110
		{"shift", setOf(3, 4, 5), 100.0 / 80},    // the app has 69.5
		{"shift", setOf(0, 3, 4), 100.0 / 70},    // the app has 49.5
		{"shift", setOf(0, 3, 4, 5), 100 / 69.5}, // the app decides
		{"amdahl", setOf(0), 100 / (100 - 18.0)},
		{"amdahl", setOf(2, 3), 100 / (100 - 25*0.75)}, // two that save half of one piece
		{"absorbed", setOf(0), 98.0 / 96},
		{"absorbed", setOf(1), 1},
		{"absorbed", setOf(0, 1), 98.0 / 56},
		{"rewrites", setOf(0, 1, 7, 9), 1.3 * 1.12 * 1.25 * 1.2},
		{"rewrites", setOf(7), 1},
		{"minutes", setOf(0, 1, 2, 3, 4), 1.5 * 1.3 * 1.08 * 1.08 * 1.08},
		{"ladder-harm", setOf(0, 19), 2.5 * 0.92},
	} {
		if got := truth(c.scene).Score(c.in, 1); !near(got, math.Log(c.want)) {
			t.Errorf("%s with %b: × %.4f instead of × %.4f", c.scene, c.in, math.Exp(got), c.want)
		}
	}
	late := truth("late-harm")
	if short, full := late.Score(setOf(1), 0), late.Score(setOf(1), 1); !near(short, math.Log(1.08)) || !near(full, math.Log(1.08*0.8)) {
		t.Errorf("late harm: %v in short runs, %v in full ones", short, full)
	}
}

// TestBest: the best sets are what an inspection of each world gives, and nothing in them
// is useless or harmful.
func TestBest(t *testing.T) {
	want := map[string]struct {
		score float64
		sets  []Set
	}{
		"interactions": {1.25 * 1.20, []Set{setOf(0, 1)}},
		"substitutes":  {1.15, []Set{setOf(0), setOf(1)}},
		"minutes":      {1.5 * 1.3 * 1.08 * 1.08 * 1.08, []Set{setOf(0, 1, 2, 3, 4)}},
		"late-harm":    {1.5, []Set{setOf(0)}},
		"own-voids":    {1, []Set{0}},
		"rewrites":     {1.3 * 1.12 * 1.25 * 1.2, []Set{setOf(0, 1, 7, 9)}},
		"absorbed":     {98.0 / 56, []Set{setOf(0, 1)}},
		"noiseless":    {1.12 * 1.12 * 1.12, []Set{setOf(0, 1, 2)}},
	}
	for _, scene := range Scenes() {
		s := scene.Searches[0]
		cs, truth := s.Candidates, s.truth()
		if s.Draw != nil {
			cs, truth = s.Draw(rand.New(rand.NewPCG(1, 2)))
		}
		best := bestOf(truth, allows(cs))
		for _, in := range best.Sets {
			for k := range cs {
				if in.Has(k) && marginal(truth, in, k, 1) <= 0 {
					t.Errorf("%s: candidate %d of the best set %b brings nothing", scene.Name, k, in)
				}
			}
			if !near(truth.Score(in, 1), best.Score) || best.found(in) != in.Count() {
				t.Errorf("%s: %b scores %v and not %v", scene.Name, in, truth.Score(in, 1), best.Score)
			}
		}
		if w, ok := want[scene.Name]; ok && (!near(best.Score, math.Log(w.score)) || len(best.Sets) != len(w.sets) || best.Sets[0] != w.sets[0]) {
			t.Errorf("%s: best %v × %.3f, want %v × %.3f", scene.Name, best.Sets, math.Exp(best.Score), w.sets, w.score)
		}
	}
}

// TestWork: where the database is relieved, the limit that a diagnosis sees moves to the app.
func TestWork(t *testing.T) {
	scene, err := FindScene("limit-moves")
	if err != nil {
		t.Fatal(err)
	}
	f := scene.Searches[0].site(rand.New(rand.NewPCG(1, 1)))
	limit := func() string {
		busy := f.truth.(Worker).Busy(f.inForce())
		best := App
		for r := range Resources {
			if busy[r] > busy[best] {
				best = r
			}
		}
		return best.limit()
	}
	if got := limit(); got != "CPU (database)" {
		t.Errorf("the limit is %s", got)
	}
	touched := f.truth.(Worker).Touched(0, 2)
	f.files[place(0)], f.files[place(1)] = switchedOn, switchedOn
	if got := limit(); got != "CPU (app)" {
		t.Errorf("then the limit is %s", got)
	}
	if now := f.truth.(Worker).Touched(f.inForce(), 2); now < 1.5*touched {
		t.Errorf("a change of the app promises %.3f at first and %.3f then", touched, now)
	}
}
