package judge

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A disturbed simulates pairs on a machine with steal.
type disturbed struct {
	rng   *rand.Rand
	sigma float64 // SD of ln(score) that is not due to steal
	steal float64 // largest share
	slope float64 // of ln(score) over capacity
	// effect is the candidate's; shift is added to the steal beside the candidate, as
	// a consequence of it that the effect includes.
	effect, shift float64
}

func (d *disturbed) run(candidate bool) *iikanji.Run {
	e := &iikanji.Environment{Used: 0.6, Steal: d.steal * d.rng.Float64(), Other: 0.05}
	y := math.Log(1000) + d.sigma*d.rng.NormFloat64()
	r := &iikanji.Run{ID: 1, Outcome: iikanji.Passed, Environment: e}
	x, _ := capacity(r)
	if candidate {
		e.Steal += d.shift
		y += d.effect
	}
	r.Score = math.Exp(y + d.slope*x)
	return r
}

func (d *disturbed) pairs(n int) []Pair {
	ps := make([]Pair, n)
	for i := range ps {
		ps[i] = Pair{A: d.run(false), B: d.run(true)}
	}
	return ps
}

// trials holds trials after aa A/A pairs, and returns the share that was kept, the
// mean number of pairs, and the share of trials with a slope.
func (d *disturbed) trials(n, aa int, adjusted bool) (kept, pairs, used float64) {
	for range n {
		calm := *d
		calm.effect, calm.shift = 0, 0
		before := calm.pairs(aa)
		j := NewJudge(Noise(nil, before))
		if adjusted {
			j.Slope = LearnSlope(before)
		}
		if j.Slope.used {
			used++
		}
		c := Case{Change: iikanji.Change{ID: 1}}
		for {
			c.Pairs = append(c.Pairs, d.pairs(1)...)
			v := j.Decide(c)
			if v.Call == iikanji.CallUnknown {
				continue
			}
			if v.Call == iikanji.Keep {
				kept++
			}
			pairs += float64(len(c.Pairs))
			break
		}
	}
	return kept / float64(n), pairs / float64(n), used / float64(n)
}

// TestSlope checks the adjustment on simulated machines: it finds a relation that
// exists, raises the power by half where steal is the noise, and hardly raises the
// share of false keeps. A candidate that causes steal itself is the worst case.
func TestSlope(t *testing.T) {
	tier.Slow(t)
	const n = 3000
	for _, c := range []struct {
		name        string
		world       disturbed
		least, most float64    // share kept
		used        [2]float64 // share of trials with a slope
	}{
		{"a no-op beside steal", disturbed{sigma: 0.02, steal: 0.15, slope: 1.5}, 0, 0.06, [2]float64{0.9, 1}},
		{"a no-op, steal without effect", disturbed{sigma: 0.05, steal: 0.15}, 0, 0.055, [2]float64{0, 0.1}},
		{"+8 % beside steal", disturbed{sigma: 0.02, steal: 0.15, slope: 1.5, effect: 0.08}, 0.48, 1, [2]float64{0.9, 1}},
		{"-5 % that causes 5 points of steal", disturbed{sigma: 0.02, steal: 0.15, slope: 1.5, effect: -0.05, shift: 0.05}, 0, 0.035, [2]float64{0.9, 1}},
	} {
		c.world.rng = rand.New(rand.NewPCG(7, 7))
		kept, pairs, used := c.world.trials(n, 9, true)
		plain, plainPairs, _ := c.world.trials(n, 9, false)
		t.Logf("%-35s kept %4.1f %% in %.1f pairs, without the adjustment %4.1f %% in %.1f; a slope in %.0f %%", c.name, 100*kept, pairs, 100*plain, plainPairs, 100*used)
		if kept < c.least || kept > c.most || used < c.used[0] || used > c.used[1] {
			t.Errorf("%s: kept %.3f, want %.3f to %.3f; a slope in %.3f, want %v", c.name, kept, c.least, c.most, used, c.used)
		}
		if c.world.effect > 0 && kept < 1.5*plain {
			t.Errorf("%s: kept %.3f, without the adjustment %.3f", c.name, kept, plain)
		}
	}
}

// TestSlopeNeeds checks when there is no slope: too few pairs, runs that were not
// measured, a relation of the wrong sign.
func TestSlopeNeeds(t *testing.T) {
	world := disturbed{rng: rand.New(rand.NewPCG(3, 3)), sigma: 0.001, steal: 0.15, slope: 1.5}
	ps := world.pairs(slopeDF + 2)
	if l := LearnSlope(ps); !l.used || math.Abs(l.beta-1.5) > 0.2 {
		t.Errorf("slope %+v, want 1.5", l)
	}
	if l := LearnSlope(ps[:slopeDF]); l.used {
		t.Errorf("a slope from %d pairs: %+v", slopeDF, l)
	}
	ps[2].A.Environment = nil
	if l := LearnSlope(ps); l.used {
		t.Errorf("a slope without an environment: %+v", l)
	}
	world.slope = -1.5
	if l := LearnSlope(world.pairs(20)); l.used {
		t.Errorf("steal that makes faster: %+v", l)
	}
	j := NewJudge(known)
	j.Slope = Slope{beta: 1, spread: 1, used: true}
	c := Case{Pairs: trialOf(10, 10).Pairs} // without environments
	if s := j.adjust(sift(c)); s.prior != known || math.Abs(s.diffs[0]-math.Log(1.1)) > 1e-12 {
		t.Errorf("adjusted without an environment: %+v", s)
	}
}
