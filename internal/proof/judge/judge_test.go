package judge

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// known is a prior of 2 % noise in a difference.
var known = stats.Prior{Var: 0.02 * 0.02, DF: 8}

// ran is a clean run.
func ran(id int, score float64) *iikanji.Run {
	return &iikanji.Run{ID: iikanji.RunID(id), Outcome: iikanji.Passed, Score: score}
}

// trial makes pairs whose candidate differs from an incumbent of 1000 by the
// effects given, in percent.
func trialOf(effects ...float64) Case {
	c := Case{Change: iikanji.Change{ID: 3, Kind: "nginxconf"}}
	for i, e := range effects {
		c.Pairs = append(c.Pairs, Pair{A: ran(100+2*i, 1000), B: ran(101+2*i, 1000*(1+e/100))})
	}
	return c
}

func with(c Case, f func(*Case)) Case {
	f(&c)
	return c
}

func fault(kind iikanji.FaultKind, check string) iikanji.Fault {
	return iikanji.Fault{Kind: kind, Step: "trend", Check: check, Count: 1}
}

// TestDecide takes every branch of the method's table.
func TestDecide(t *testing.T) {
	both := func(r *iikanji.Run, usage time.Duration) {
		r.Steps = []iikanji.StepStat{{Count: 100}}
		r.Usage = []iikanji.Usage{{Who: "database", User: usage}}
	}
	for _, c := range []struct {
		name   string
		prior  stats.Prior
		trial  Case
		call   iikanji.Call
		reason iikanji.Reason
		needed int
		why    string // a part of the verdict's reason
	}{
		{"nothing yet", known, trialOf(), iikanji.CallUnknown, iikanji.TooFew, 2, "0 pairs"},
		{"one pair is not a look", known, trialOf(30), iikanji.CallUnknown, iikanji.TooFew, 1, "1 pair more"},
		{"clear at two", known, trialOf(10, 11), iikanji.Keep, iikanji.Proven, 0, "a gain is proven"},
		{"clear loss at two", known, trialOf(-10, -9), iikanji.Revert, iikanji.NoGain, 0, "1 % or more"},
		{"unclear at two", known, trialOf(2, 3), iikanji.CallUnknown, iikanji.TooFew, 1, "not decided"},
		{"unclear at four", known, trialOf(2, 1, 2, 1), iikanji.CallUnknown, iikanji.TooFew, 1, "1 pair more"},
		{"five decides", known, trialOf(10, 10, 10, 10, 10), iikanji.Keep, iikanji.Proven, 0, "in 5 pairs"},
		{"six decides", known, trialOf(3, 3, 2, 3, 3, 3), iikanji.Keep, iikanji.Proven, 0, "in 6 pairs"},
		{"seven decides", known, trialOf(2, 1, 2, 1, 2, 1, 2), iikanji.Keep, iikanji.Proven, 0, "in 7 pairs"},
		{"eight ends it", known, trialOf(2, 0, 2, 0, 2, 0, 2, 0), iikanji.Inconclusive, iikanji.Undecided, 0, "pairs would prove"},
		{"proven but too small", stats.Prior{Var: 1e-6, DF: 8}, trialOf(0.5, 0.5), iikanji.Revert, iikanji.NoGain, 0, "ruled out"},
		{"no prior, two pairs", stats.Prior{}, trialOf(10, 14), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"no prior, three pairs", stats.Prior{}, trialOf(10, 11, 10), iikanji.Keep, iikanji.Proven, 0, ""},
		{"an index must give 2 %", known, with(trialOf(1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2), func(c *Case) {
			c.Change.Worth = 0.02
		}), iikanji.Revert, iikanji.NoGain, 0, "2 % or more"},
		{"durability must be worth 3 %", known, with(trialOf(2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5), func(c *Case) {
			c.Change.Weakens, c.Allow = []iikanji.Promise{iikanji.Durability}, []iikanji.Promise{iikanji.Durability}
			c.Change.Worth = 0.03
		}), iikanji.Inconclusive, iikanji.Undecided, 0, ""},

		{"a promise that policy keeps", known, with(trialOf(50, 50), func(c *Case) {
			c.Change.Weakens, c.Allow = []iikanji.Promise{iikanji.RowOrder}, []iikanji.Promise{iikanji.Durability}
		}), iikanji.Revert, iikanji.Gate, 0, "row-order"},
		{"sick", known, with(trialOf(50), func(c *Case) { c.Pairs[0].Sick = "port 80 is closed" }),
			iikanji.Revert, iikanji.Gate, 0, "port 80 is closed"},
		{"sick before its run", known, with(trialOf(), func(c *Case) { c.Pairs = []Pair{{Sick: "does not start"}} }),
			iikanji.Revert, iikanji.Gate, 0, "does not start"},
		{"failed checks", known, with(trialOf(50), func(c *Case) {
			c.Pairs[0].B.Outcome, c.Pairs[0].B.Reasons = iikanji.Failed, []string{"critical error"}
		}), iikanji.CallUnknown, iikanji.TooFew, 2, ""},
		{"failed checks twice", known, with(trialOf(50, 50), func(c *Case) {
			for _, p := range c.Pairs {
				p.B.Outcome, p.B.Reasons = iikanji.Failed, []string{"critical error"}
			}
		}), iikanji.Revert, iikanji.Gate, 0, "2 runs failed with it, and none without: critical error"},
		{"failed checks with a new wrong answer", known, with(trialOf(50), func(c *Case) {
			c.Pairs[0].B.Outcome, c.Pairs[0].B.Faults = iikanji.Failed, []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
		}), iikanji.Revert, iikanji.Gate, 0, "run 101 failed with it, and none without: x"},
		{"scored nothing twice", known, trialOf(-100, -100), iikanji.Revert, iikanji.Gate, 0, "it scored 0"},
		{"the incumbent failed as often before", known, with(trialOf(-100, -100, 10, 11), func(c *Case) {
			c.Earlier = Record{Runs: 10, Failed: 4}
		}), iikanji.Keep, iikanji.Proven, 0, ""},
		{"both fail", known, with(trialOf(5, 5), func(c *Case) {
			c.Pairs[0].A.Outcome, c.Pairs[0].B.Outcome = iikanji.Failed, iikanji.Failed
		}), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"fails more often than the incumbent", known, with(trialOf(5, 5, 5, 5), func(c *Case) {
			c.Pairs[0].A.Outcome, c.Earlier = iikanji.Failed, Record{Runs: 8}
			for _, p := range c.Pairs {
				p.B.Outcome = iikanji.Failed
			}
		}), iikanji.Revert, iikanji.Gate, 0, "4 runs failed with it and 1 without"},
		{"a new wrong answer in a passed run", known, with(trialOf(50, 50), func(c *Case) {
			c.Pairs[1].B.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "trend-backwards")}
		}), iikanji.Revert, iikanji.Gate, 0, "trend-backwards"},
		{"a new fatal timeout", known, with(trialOf(50, 50), func(c *Case) {
			f := fault(iikanji.FaultTimeout, "initialize")
			f.Fatal = true
			c.Pairs[1].B.Faults = []iikanji.Fault{f}
		}), iikanji.Revert, iikanji.Gate, 0, "initialize"},
		{"a fault that the incumbent shows too", known, with(trialOf(10, 11), func(c *Case) {
			c.Pairs[1].B.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
			c.Pairs[0].A.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
		}), iikanji.Keep, iikanji.Proven, 0, ""},
		{"a fault that is known from before", known, with(trialOf(10, 11), func(c *Case) {
			c.Pairs[1].B.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
			c.Known = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
		}), iikanji.Keep, iikanji.Proven, 0, ""},
		{"a few timeouts", known, with(trialOf(10, 11), func(c *Case) {
			c.Pairs[1].B.Faults = []iikanji.Fault{fault(iikanji.FaultTimeout, ""), fault(iikanji.FaultCut, "")}
		}), iikanji.Keep, iikanji.Proven, 0, ""},
		{"many errors", known, with(trialOf(10, 11), func(c *Case) {
			for _, p := range c.Pairs {
				p.A.Steps = []iikanji.StepStat{{Count: 1000, Errors: 1}}
				p.B.Steps = []iikanji.StepStat{{Count: 1000, Errors: 9}}
			}
		}), iikanji.Revert, iikanji.Gate, 0, "errors rose from 0.10 % to 0.90 %"},
		{"many errors in one of many uneven runs", known, with(trialOf(10, 11), func(c *Case) {
			for i, p := range c.Pairs {
				p.A.Steps = []iikanji.StepStat{{Count: 1000, Errors: 10}}
				p.B.Steps = []iikanji.StepStat{{Count: 1000, Errors: int64(10 + 15*i)}}
			}
		}), iikanji.Keep, iikanji.Proven, 0, ""},
		{"errors within the step", known, with(trialOf(10, 11), func(c *Case) {
			for _, p := range c.Pairs {
				p.B.Steps = []iikanji.StepStat{{Count: 1000, Errors: 4}}
			}
		}), iikanji.Keep, iikanji.Proven, 0, ""},

		{"a void pair never enters", known, with(trialOf(10, 11), func(c *Case) {
			c.Pairs[0].Void = "apt ran"
			c.Pairs[0].B.Outcome = iikanji.Failed
			c.Pairs[0].B.Faults = []iikanji.Fault{fault(iikanji.FaultStatus, "x")}
		}), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"a wrong answer in a void pair counts", known, with(trialOf(10, 11), func(c *Case) {
			c.Pairs[0].Void = "apt ran"
			c.Pairs[0].B.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
		}), iikanji.Revert, iikanji.Gate, 0, "new fault"},
		{"its runs are void more often", known, with(trialOf(10, 11, 10), func(c *Case) {
			c.Earlier = Record{Runs: 12}
			for i := range 2 {
				c.Pairs[i].Void, c.Pairs[i].VoidArm = "swapping", ArmCandidate
			}
		}), iikanji.Revert, iikanji.Gate, 0, "do not count more often: 2 of them and 0 without"},
		{"one void run of its own delays a keep", known, with(trialOf(10, 11, 10), func(c *Case) {
			c.Earlier = Record{Runs: 20}
			c.Pairs[0].Void, c.Pairs[0].VoidArm = "swapping", ArmCandidate
		}), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"a void run never enters", known, with(trialOf(10, 11), func(c *Case) { c.Pairs[0].A.Load.Void = true }),
			iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"an interrupted run never enters", known, with(trialOf(10, 11), func(c *Case) { c.Pairs[1].B.Partial = true }),
			iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"an unfinished pair never enters", known, with(trialOf(10, 11), func(c *Case) { c.Pairs[1].B = nil }),
			iikanji.CallUnknown, iikanji.TooFew, 1, ""},

		{"less work, no loss, simpler", known, with(trialOf(2, 0, 2, 0, 2, 0, 2, 0), func(c *Case) {
			c.Simplifies = true
			for _, p := range c.Pairs {
				both(p.A, 1000)
				both(p.B, 800)
			}
		}), iikanji.Keep, iikanji.Neutral, 0, "database CPU per request changed by -20.0 %"},
		{"less work and not simpler", known, with(trialOf(2, 0, 2, 0, 2, 0, 2, 0), func(c *Case) {
			for _, p := range c.Pairs {
				both(p.A, 1000)
				both(p.B, 800)
			}
		}), iikanji.Inconclusive, iikanji.Undecided, 0, ""},
		{"hardly less work", known, with(trialOf(2, 0, 2, 0, 2, 0, 2, 0), func(c *Case) {
			c.Simplifies = true
			for _, p := range c.Pairs {
				both(p.A, 1000)
				both(p.B, 950)
			}
		}), iikanji.Inconclusive, iikanji.Undecided, 0, ""},
		{"less work and a possible loss", stats.Prior{Var: 0.04 * 0.04, DF: 8}, with(trialOf(4, -4, 4, -4, 4, -4, 4, -4), func(c *Case) {
			c.Simplifies = true
			for _, p := range c.Pairs {
				both(p.A, 1000)
				both(p.B, 800)
			}
		}), iikanji.Inconclusive, iikanji.Undecided, 0, ""},

		{"two modes wait for five", known, trialOf(10, 24, 12, 20), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
		{"two modes and the exact test agrees", known, trialOf(10, 24, 12, 20, 11, 23), iikanji.Keep, iikanji.Proven, 0, ""},
		{"two modes and the exact test does not", known, trialOf(-6, -5, 30, 31, 30, 31), iikanji.CallUnknown, iikanji.TooFew, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewJudge(c.prior).Decide(c.trial)
			if v.Call != c.call || v.Reason != c.reason || v.Needed != c.needed {
				t.Errorf("%v (%v), needed %d; want %v (%v), %d\n%s", v.Call, v.Reason, v.Needed, c.call, c.reason, c.needed, v.Why)
			}
			if v.Why == "" || !strings.Contains(v.Why, c.why) {
				t.Errorf("why %q, want %q in it", v.Why, c.why)
			}
			if call := NewJudge(c.prior).Call(c.trial); call != c.call {
				t.Errorf("the call alone is %v, want %v", call, c.call)
			}
			if v.Change != 3 || len(v.Base) != len(v.Tried) {
				t.Errorf("change %d, runs %v %v", v.Change, v.Base, v.Tried)
			}
			if _, err := json.Marshal(v); err != nil {
				t.Errorf("not fit for the history: %v", err)
			}
		})
	}
}

// TestCall compares the call alone with that of whole verdicts, for trials of every
// length with noise, drift, incumbents before them, and failures.
func TestCall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	calls := map[iikanji.Call]int{}
	for i := range 3000 {
		noise, effect := 0.02*rng.ExpFloat64(), 0.03*rng.NormFloat64()
		c := Case{Change: iikanji.Change{ID: 3}, Simplifies: i%3 == 0}
		score := func(e float64) float64 { return 1000 * math.Exp(e+noise*rng.NormFloat64()) }
		for id := range rng.IntN(5) {
			c.Before = append(c.Before, ran(id+1, score(0)))
		}
		for n := range rng.IntN(9) {
			p := Pair{A: ran(100+2*n, score(0)), B: ran(101+2*n, score(effect))}
			switch rng.IntN(60) {
			case 0:
				p.B.Outcome, p.B.Score = iikanji.Failed, 0
			case 1:
				p.Void = "another program"
			}
			c.Pairs = append(c.Pairs, p)
		}
		j := NewJudge(known)
		want := j.Decide(c).Call
		if got := j.Call(c); got != want {
			t.Fatalf("case %d: %v, and the verdict is %v", i, got, want)
		}
		calls[want]++
	}
	for _, call := range []iikanji.Call{iikanji.CallUnknown, iikanji.Keep, iikanji.Revert, iikanji.Inconclusive} {
		if calls[call] < 20 {
			t.Errorf("only %d cases of %v: %v", calls[call], call, calls)
		}
	}
}

// TestDecideNumbers checks the arithmetic of one verdict by hand: differences
// ln 1.10 and ln 1.12, s0 2 % with 8 degrees of freedom.
func TestDecideNumbers(t *testing.T) {
	v := NewJudge(known).Decide(trialOf(10, 12))
	d1, d2 := math.Log(1.10), math.Log(1.12)
	mean := (d1 + d2) / 2
	// The incumbent's two runs are equal, the candidate's have (d1−d2)²/2 as their
	// sum of squares. A difference has twice the variance of a run.
	se := math.Sqrt((8*0.0004+2*(d1-d2)*(d1-d2)/2)/10) / math.Sqrt2
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mid", v.Effect.Mid, mean},
		{"lo", v.Effect.Lo, mean - stats.StudentQuantile(1-0.0113, 10)*se},
		{"hi", v.Effect.Hi, mean + stats.StudentQuantile(1-0.0113, 10)*se},
		{"level", v.Effect.Level, 0.90},
		{"shrunk", v.Shrunk, mean * 0.09 / (0.09 + se*se)}, // the chance of no effect is nil
		{"p", v.P, stats.StudentCDF(-mean/se, 10)},
		{"worth", v.Worth, 0.01},
	} {
		if math.Abs(c.got-c.want) > 1e-4*math.Abs(c.want) {
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
	if !slices.Equal(v.Base, []iikanji.RunID{100, 102}) || !slices.Equal(v.Tried, []iikanji.RunID{101, 103}) {
		t.Errorf("runs %v and %v", v.Base, v.Tried)
	}
}

// TestVoidIsSaid checks that the reason and the number of a void pair are reported.
func TestVoidIsSaid(t *testing.T) {
	c := trialOf(10, 10, 10)
	c.Pairs[0].Void = "another process used 0.8 cores"
	c.Pairs[1].A.Load.Void, c.Pairs[1].A.Load.Why = true, "the generator was the limit"
	v := NewJudge(known).Decide(c)
	want := []string{"pair 1 does not count: void: another process used 0.8 cores",
		"pair 2 does not count: the incumbent's run 102 is void: the generator was the limit"}
	if !slices.Equal(v.Warnings, want) {
		t.Errorf("warnings %q", v.Warnings)
	}
}

// TestShift: when the incumbent's own runs leave their control limits, the
// last pair is void and no call is made; new A/A runs end this state.
func TestShift(t *testing.T) {
	c := trialOf(10, 10, 10)
	for i := range 4 {
		c.Before = append(c.Before, ran(i+1, 1000+float64(i%2)))
	}
	j := NewJudge(known)
	if v := j.Decide(c); v.Call != iikanji.Keep {
		t.Fatalf("in control: %v %s", v.Call, v.Why)
	}
	for i, score := range []float64{1000, 985, 890} {
		c.Pairs[i].A.Score, c.Pairs[i].B.Score = score, 1.1*score
	}
	v := j.Decide(c)
	if v.Call != iikanji.CallUnknown || v.Reason != iikanji.Shifted || v.Needed != 1 || len(v.Base) != 2 ||
		!strings.Contains(v.Why, "environment has shifted") {
		t.Errorf("shifted: %v %v, needed %d, base %v: %s", v.Call, v.Reason, v.Needed, v.Base, v.Why)
	}
	c.Pairs[2].Void = "the environment shifted"
	c.Before = []*iikanji.Run{ran(201, 900), ran(202, 890), ran(203, 895), ran(204, 900)}
	c.Pairs = append(c.Pairs, Pair{A: ran(205, 900), B: ran(206, 990)})
	if v := j.Decide(c); v.Call != iikanji.Keep {
		t.Errorf("calibrated again: %v %s", v.Call, v.Why)
	}
	c.Before = c.Before[:3]
	c.Pairs[3].A.Score, c.Pairs[3].B.Score = 100, 110
	if v := j.Decide(c); v.Reason == iikanji.Shifted {
		t.Error("three runs are not a control chart")
	}
}

// TestSmallShift: runs that agree within a thousandth have narrow control limits; a move
// below what is worth keeping is no shift, and one above it is.
func TestSmallShift(t *testing.T) {
	tight := NewJudge(stats.Prior{Var: 1e-6, DF: 20})
	for _, moved := range []struct {
		score float64
		shift bool
	}{{994, false}, {1006, false}, {970, true}} {
		c := trialOf(10, 10, 10)
		for i := range 4 {
			c.Before = append(c.Before, ran(i+1, 1000+float64(i%2)))
		}
		for i := range c.Pairs {
			c.Pairs[i].A.Score, c.Pairs[i].B.Score = moved.score, 1.1*moved.score
		}
		if v := tight.Decide(c); (v.Reason == iikanji.Shifted) != moved.shift {
			t.Errorf("the incumbent moved from 1000 to %.0f: %v %s", moved.score, v.Reason, v.Why)
		}
	}
}

// TestOrder checks that two pairs are ABBA or BAAB, drawn anew for every two pairs.
func TestOrder(t *testing.T) {
	first, same := map[Order]int{}, 0
	for id := range iikanji.ChangeID(200) {
		for n := 0; n < 8; n += 2 {
			o := NextOrder(9, id, n)
			first[o]++
			if NextOrder(9, id, n+1) == o {
				t.Fatalf("change %d: pairs %d and %d have the same order", id, n, n+1)
			}
			if n > 0 && o == NextOrder(9, id, n-2) {
				same++
			}
		}
	}
	if first[AB] < 320 || first[BA] < 320 {
		t.Errorf("the coin fell %v", first)
	}
	if same < 240 || same > 360 {
		t.Errorf("%d of 600 blocks began as the one before: the coin is not thrown anew", same)
	}
}

// TestFastLane checks that one run far above the noise of the incumbent makes a
// change provisional, and that the change is reverted if later runs do not confirm it.
func TestFastLane(t *testing.T) {
	j, hour := NewJudge(known), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	at := func(r *iikanji.Run, h int) *iikanji.Run { r.Began = hour.Add(time.Duration(h) * time.Hour); return r }
	a := []*iikanji.Run{at(ran(1, 1000), 0), at(ran(2, 1010), 0), at(ran(3, 990), 0)}
	c := Case{Change: iikanji.Change{ID: 1, Kind: "ddl"}}
	p := j.FastLane(c, a, at(ran(4, 2200), 0))
	y := LogScores(a)
	df := known.DF + 2
	spread := math.Sqrt((known.DF*known.Var/2 + stats.SumSquares(y)) / df)
	want := stats.Mean(y) + stats.StudentQuantile(0.995, df)*spread*math.Sqrt(4.0/3)
	if !p.OK || math.Abs(p.Bound-want) > 1e-5 {
		t.Fatalf("%+v, want the bound %v", p, want)
	}
	if !p.Holds(nil) || !p.Holds([]*iikanji.Run{ran(5, 2100)}) || p.Holds([]*iikanji.Run{ran(5, 1000)}) {
		t.Error("holds or falls wrongly")
	}
	broken := ran(6, 0)
	broken.Outcome = iikanji.Failed
	if p.Holds([]*iikanji.Run{ran(5, 2100), broken}) {
		t.Error("a failed run does not let it stand")
	}
	if p := j.FastLane(c, a, ran(4, 1050)); p.OK || !strings.Contains(p.Why, "pairs must decide") {
		t.Errorf("within chance: %+v", p)
	}
	// A mean that moved by 5 % within an hour widens the bound by three times that.
	drifting := append(slices.Clone(a), at(ran(7, 1050), 1))
	steady := append(slices.Clone(a), at(ran(7, 1050), 0))
	wider := j.FastLane(c, drifting, ran(8, 2200)).Bound - j.FastLane(c, steady, ran(8, 2200)).Bound
	if want := 3 * (math.Log(1050) - stats.Mean(y)); math.Abs(wider-want) > 1e-9 {
		t.Errorf("drift widens by %v, want %v", wider, want)
	}
	wrong := ran(4, 2200)
	wrong.Faults = []iikanji.Fault{fault(iikanji.FaultCheck, "x")}
	void := ran(4, 2200)
	void.Load.Void = true
	for name, p := range map[string]Provisional{
		"wrong answers": j.FastLane(c, a, wrong), "void": j.FastLane(c, a, void), "no runs": j.FastLane(c, nil, ran(4, 9e9)),
		"one run, nothing known": NewJudge(stats.Prior{}).FastLane(c, a[:1], ran(4, 9e9)),
	} {
		if p.OK || p.Why == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestNoise checks that A/A runs and the arms of past trials are pooled, each around
// its own mean.
func TestNoise(t *testing.T) {
	runs := []*iikanji.Run{ran(1, 1000), ran(2, 1020), ran(3, 1000), ran(4, 980), ran(5, 1)}
	p := Noise(runs[:4], trialOf(50, 50).Pairs)
	y := LogScores(runs[:4])
	if want := 2 * stats.SumSquares(y) / 5; math.Abs(p.Var-want) > 1e-12 || p.DF != 5 {
		t.Errorf("prior %+v, want variance %v", p, want)
	}
}

// TestWork compares work per successful request, for the counters that all runs have.
func TestWork(t *testing.T) {
	c := trialOf(0, 0, 0)
	for i, p := range c.Pairs {
		p.A.Steps = []iikanji.StepStat{{Count: 1100, Errors: 100, Received: 5000}}
		p.B.Steps = []iikanji.StepStat{{Count: 2000, Received: 10000}}
		p.A.Usage = []iikanji.Usage{{Who: "app", User: 600, System: 400}, {Who: "generator", User: 1}}
		p.B.Usage = []iikanji.Usage{{Who: "app", User: 1000}, {Who: "generator", User: 100}}
		rows := func(n int64) []iikanji.Profile {
			return []iikanji.Profile{{Source: iikanji.Slow, Rows: []iikanji.Row{{Count: n, Query: &iikanji.SQLRow{Examined: 7 * n}}}}}
		}
		if p.A.Profiles = rows(1000); i != 1 {
			p.B.Profiles = rows(1000)
		}
	}
	works := compareWork(c.Pairs)
	if len(works) != 2 || works[0].Name != "app CPU" || works[1].Name != "bytes answered" {
		t.Fatalf("%+v", works)
	}
	if d := works[0].Effect.Mid; math.Abs(d-math.Log(0.5)) > 1e-12 {
		t.Errorf("app CPU fell by %v", d)
	}
	if works := compareWork(c.Pairs[:1]); works != nil {
		t.Errorf("one pair has no interval: %+v", works)
	}
}

// TestWorth checks the precedence of the least effect: the case's, else the
// change's, else that of a line of configuration.
func TestWorth(t *testing.T) {
	for _, c := range []struct{ ofCase, ofChange, want float64 }{{0, 0, 0.01}, {0, 0.03, 0.03}, {0.05, 0.03, 0.05}} {
		v := NewJudge(known).Decide(Case{Change: iikanji.Change{ID: 1, Worth: c.ofChange}, Worth: c.ofCase})
		if v.Worth != c.want {
			t.Errorf("worth %v, want %v", v.Worth, c.want)
		}
	}
}
