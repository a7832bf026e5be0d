package selftest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// TestSimulatedPromises: the judge's error rates, by trials whose truth is
// known. Limits are three standard errors wide.
func TestSimulatedPromises(t *testing.T) {
	tier.Slow(t)
	const trials = 4000
	slack := func(p float64) float64 { return 3 * math.Sqrt(p*(1-p)/trials) }
	for _, sigma := range []float64{0.05, 0.02} {
		if r := SimulateTrials(World{Sigma: sigma}, 0, JudgeRule, 1, 0, trials); r.KeptShare() > 0.05+slack(0.05) {
			t.Errorf("σ %v: no-ops kept: %.3f", sigma, r.KeptShare())
		}
	}
	r := SimulateTrials(World{Sigma: 0.05}, 0.10, JudgeRule, 2, 0, trials)
	if r.KeptShare() < 0.90-slack(0.90) || r.MeanPairs() > 4.5+0.15 {
		t.Errorf("+10 %% kept: %.3f in %.2f pairs", r.KeptShare(), r.MeanPairs())
	}
	if r := SimulateTrials(World{Sigma: 0.05}, -0.05, JudgeRule, 3, 0, trials); r.KeptShare() > 0.01 {
		t.Errorf("-5 %% kept: %.3f", r.KeptShare())
	}
	// The same trials, however they are cut.
	half := SimulateTrials(World{Sigma: 0.05}, 0, JudgeRule, 1, 0, 300)
	half.Join(SimulateTrials(World{Sigma: 0.05}, 0, JudgeRule, 1, 300, 300))
	if whole := SimulateTrials(World{Sigma: 0.05}, 0, JudgeRule, 1, 0, 600); whole.Kept != half.Kept || whole.Pairs != half.Pairs || math.Abs(whole.Shown-half.Shown) > 1e-9 {
		t.Errorf("%+v cut in two is %+v", whole, half)
	}
}

// TestFastLaneChance: the fast lane takes a no-op once in 200, and doubles
// of the score nearly always once it knows four runs.
func TestFastLaneChance(t *testing.T) {
	const trials = 6000
	share := func(effect float64) float64 {
		taken := 0
		for i := range trials {
			sim := newTrial(World{Sigma: 0.05}, effect, rand.New(rand.NewPCG(4, uint64(i))))
			a := sim.calibration(4)
			if judge.NewJudge(judge.Noise(sim.calibration(aaRuns))).FastLane(judge.Case{}, a, sim.run(true, false)).OK {
				taken++
			}
		}
		return float64(taken) / trials
	}
	if got := share(0); got > 0.005+3*math.Sqrt(0.005/trials) {
		t.Errorf("no-ops taken: %.4f", got)
	}
	if got := share(1); got < 0.95 {
		t.Errorf("doubles taken: %.4f", got)
	}
}
