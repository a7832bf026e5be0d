package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestClear: one run proves a gain of a factor of 3, and hardly ever one that is not
// there, also if the candidate's runs are noisier. The noise is known from the four runs
// before.
func TestClear(t *testing.T) {
	const n, sigma = 4000, 0.06
	rng := rand.New(rand.NewPCG(1, 1))
	run := func(id int, y, sigma float64) *iikanji.Run {
		return &iikanji.Run{ID: iikanji.RunID(id), Outcome: iikanji.Passed, Score: math.Exp(7 + y + sigma*rng.NormFloat64())}
	}
	for _, c := range []struct {
		effect, noise float64
		least, most   float64 // share of trials in which the gain is proven
	}{
		{0, 1, 0, 0.005},
		{0, 1.5, 0, 0.0075},
		{-0.05, 1, 0, 0.004},
		{math.Log(3), 1, 0.95, 1},
	} {
		proven := 0
		for range n {
			var before []*iikanji.Run
			for i := range 4 {
				before = append(before, run(i+1, 0, sigma))
			}
			b := run(5, c.effect, sigma*c.noise)
			j := NewJudge(Noise(before))
			v, ok := j.Clear(Case{Change: iikanji.Change{ID: 1}, Pairs: []Pair{{A: before[3], B: b}}}, before, b)
			if !ok {
				continue
			}
			proven++
			if v.Call != iikanji.Keep || v.Effect.Lo <= 0 || v.P > 0.005 || len(v.Base) != 4 || len(v.Tried) != 1 {
				t.Fatalf("%+v", v)
			}
		}
		if share := float64(proven) / n; share < c.least || share > c.most {
			t.Errorf("effect %.2f, noise × %.1f: proven in %.2f %%, want %.2f to %.2f %%", c.effect, c.noise, 100*share, 100*c.least, 100*c.most)
		}
	}
	if _, ok := NewJudge(Noise(nil)).Clear(Case{}, nil, run(1, 3, 0)); ok {
		t.Error("a gain is proven without any known noise")
	}
}
