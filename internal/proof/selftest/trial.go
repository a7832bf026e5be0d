package selftest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// A Trial is the result of one simulated trial.
type Trial struct {
	Call   iikanji.Call
	Pairs  int
	Effect iikanji.Interval // measured
	Expect iikanji.Interval // shown
}

// A Rule decides a trial in a World, with as many runs as it needs. effect is the
// true effect, as a share.
type Rule func(w World, effect float64, rng *rand.Rand) Trial

// trialLoad is the load of a run of a trial.
const trialLoad = 10 * time.Second

// aaRuns is how many runs of the unchanged site a search makes first.
const aaRuns = 8

// JudgeRule is the real judge with simulated runs.
func JudgeRule(w World, effect float64, rng *rand.Rand) Trial {
	t := newTrial(w, effect, rng)
	j := judge.NewJudge(stats.Prior{})
	if !w.NoPrior {
		t.c.Before = t.calibration(aaRuns)
		j = judge.NewJudge(judge.Noise(t.c.Before))
	}
	usable := 0
	for {
		t.c.Pairs = append(t.c.Pairs, t.pair(usable))
		v := j.Decide(t.c)
		switch {
		case v.Reason == iikanji.Shifted:
			t.c.Pairs[len(t.c.Pairs)-1].Void = "shifted"
			t.c.Before = t.calibration(judge.ShiftRuns)
		case v.Call != iikanji.CallUnknown:
			return Trial{v.Call, len(t.c.Pairs), v.Effect, v.Expect}
		case v.Needed == 0:
			panic("BUG: the judge neither decides nor asks for more")
		}
		usable = len(v.Tried)
	}
}

// SingleRunRule keeps a change if one run scores better than one earlier run by
// more than a share, as is common practice.
func SingleRunRule(better float64) Rule {
	return func(w World, effect float64, rng *rand.Rand) Trial {
		t := newTrial(w, effect, rng)
		a, b := t.run(false, false), t.run(true, false)
		if b.Score > a.Score*(1+better) {
			return Trial{Call: iikanji.Keep, Pairs: 1}
		}
		return Trial{Call: iikanji.Revert, Pairs: 1}
	}
}

// A simulated trial generates the runs of one trial.
type simulated struct {
	machine
	c      judge.Case
	effect float64 // on ln(score)
	coin   uint64
	clock  time.Time
	in     int // runs of pairs
	lucky  int // which of them scores 30 % more; −1 for none
}

func newTrial(w World, effect float64, rng *rand.Rand) *simulated {
	t := &simulated{machine: machine{World: w, rng: rng}, effect: math.Log1p(effect), lucky: -1, coin: rng.Uint64()}
	t.clock = time.Unix(1e9, rng.Int64N(int64(disturbEvery)))
	if w.Lucky {
		t.lucky = rng.IntN(4)
	}
	t.c = judge.Case{Change: iikanji.Change{ID: 1}, Pairs: make([]judge.Pair, 0, 8)}
	return t
}

// run generates a run of the incumbent or of the candidate.
func (t *simulated) run(candidate, prior bool) *iikanji.Run {
	y := math.Log(10_000)
	t.clock = t.clock.Add(defaultOverhead)
	if t.EveryFourth && disturbed(t.clock, trialLoad) {
		y += math.Log(1 - disturbLoss)
	}
	t.clock = t.clock.Add(trialLoad)
	y += t.noise(candidate, prior)
	if candidate {
		y += t.effect
	}
	return &iikanji.Run{ID: iikanji.RunID(t.ran), Outcome: iikanji.Passed, Score: math.Exp(y)}
}

// calibration generates runs of the incumbent.
func (t *simulated) calibration(n int) []*iikanji.Run {
	runs := make([]*iikanji.Run, n)
	for i := range runs {
		runs[i] = t.run(false, true)
	}
	return runs
}

// pair generates the pair after usable ones, in the order that the method
// prescribes.
func (t *simulated) pair(usable int) judge.Pair {
	var p judge.Pair
	if usable%2 == 0 { // the tuner rests before each second pair
		t.clock = t.clock.Add(time.Duration(t.rng.Int64N(int64(trial.MostRest))))
	}
	for _, candidate := range judge.NextOrder(t.coin, 1, usable).Arms() {
		r := t.run(candidate, false)
		if t.in == t.lucky {
			r.Score *= 1.3
		}
		t.in++
		p.Put(candidate, r, "")
	}
	return p
}

// A TrialTally counts the results of simulated trials.
type TrialTally struct {
	Trials, Kept, Reverted, Inconclusive, Pairs int

	InTwo   int     // kept ones that took two pairs
	Covered int     // kept ones whose shown interval covers the truth
	Shown   float64 // sum of the effects shown for kept ones, on ln(score)
}

// Add counts one trial of a change with a true effect on ln(score).
func (t *TrialTally) Add(r Trial, truth float64) {
	t.Trials++
	t.Pairs += r.Pairs
	switch r.Call {
	case iikanji.Keep:
		t.Kept++
		t.InTwo += one(r.Pairs <= 2)
		t.Shown += r.Expect.Mid
		if r.Expect.Lo <= truth && truth <= r.Expect.Hi {
			t.Covered++
		}
	case iikanji.Revert:
		t.Reverted++
	case iikanji.Inconclusive:
		t.Inconclusive++
	}
}

// Join adds the counts of another tally.
func (t *TrialTally) Join(o TrialTally) {
	t.Trials, t.Kept, t.Reverted = t.Trials+o.Trials, t.Kept+o.Kept, t.Reverted+o.Reverted
	t.Inconclusive, t.Pairs = t.Inconclusive+o.Inconclusive, t.Pairs+o.Pairs
	t.InTwo, t.Covered, t.Shown = t.InTwo+o.InTwo, t.Covered+o.Covered, t.Shown+o.Shown
}

// KeptShare is the share of trials that kept the change, 0…1.
func (t TrialTally) KeptShare() float64 { return float64(t.Kept) / float64(t.Trials) }

// MeanPairs is the mean number of pairs per trial.
func (t TrialTally) MeanPairs() float64 { return float64(t.Pairs) / float64(t.Trials) }

// SimulateTrials runs trials first … first+n−1 of a change with a true effect in
// a world. Each trial has its own seed, so the sum over parts does not depend on
// how the trials are split.
func SimulateTrials(w World, effect float64, rule Rule, seed uint64, first, n int) TrialTally {
	var t TrialTally
	for i := first; i < first+n; i++ {
		t.Add(rule(w, effect, rand.New(rand.NewPCG(seed, uint64(i)))), math.Log1p(effect))
	}
	return t
}
