package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// undecided is an attempt of a candidate that was parked with one pair, with the gain
// that it had at that time.
func undecided(c Candidate, gain float64, deferred bool, base ...iikanji.RunID) Attempt {
	c.Gain = gain
	return Attempt{Candidate: c, Key: c.Key(), Parked: true, Deferred: deferred, Binding: "cpu",
		Verdict: iikanji.Verdict{Call: iikanji.Inconclusive, Reason: iikanji.TooFew, Base: base, Tried: base}}
}

// keptWith is an attempt of another candidate that was kept with an effect, as change 1.
func keptWith(effect float64) Attempt {
	return Attempt{Candidate: Candidate{Code: "APP204"}, Key: "x", Changes: []iikanji.ChangeID{1},
		Verdict: iikanji.Verdict{Call: iikanji.Keep, Effect: iikanji.Interval{Mid: effect}}}
}

// TestSweep: a sweep has one candidate of each finding, rewrites only where nothing else
// promises much, and of suspects a third; the last suspect is tried alone.
func TestSweep(t *testing.T) {
	q := stateOf(Ledger{})
	q.Options.Time, q.Cost = 20*time.Minute, time.Minute
	index := func(name string, gain float64) Candidate {
		return Candidate{Code: "DB101", Where: name, Chance: 0.5, Gain: gain,
			Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Says: name, Args: map[string]string{"name": name, "value": "1"}}}.Keyed()
	}
	big, same := index("big", 0.6), index("same", 0.5)
	same.Where = "big"
	small := []Candidate{index("a", 0.2), index("b", 0.1), index("c", 0.1), index("d", 0.1)}
	source := rewrite("APP206", "APP206", "f")
	q.Candidates = append([]Candidate{big, same, source, index("trifle", 0.01)}, small...)
	names := func(parts []Candidate) (all []string) {
		for _, p := range parts {
			all = append(all, p.Where)
		}
		return all
	}
	for _, c := range []struct {
		first    Candidate
		suspects []Candidate
		want     []string
	}{
		{big, nil, []string{"big", "a", "b", "c", "d"}},
		{small[0], nil, []string{"a", "big", "b", "c", "d", "f"}},
		{source, nil, []string{"f", "big", "a", "b", "c", "d"}},
		{big, small, []string{"big", "a", "b"}},
		{big, small[1:2], []string{"big", "a", "c", "d"}},
		{small[1], small[1:2], nil},
	} {
		q.Suspects = map[string]bool{}
		for _, s := range c.suspects {
			q.Suspects[s.Key()] = true
		}
		if got := names(q.sweep(c.first)); !slices.Equal(got, c.want) {
			t.Errorf("with %s first and %d suspects: %q, want %q", c.first.Where, len(c.suspects), got, c.want)
		}
	}
	q.Suspects, q.Options.Time = nil, time.Hour
	if parts := q.sweep(big); parts != nil {
		t.Errorf("with time for trials: a sweep of %q", names(parts))
	}
}

// TestUndecidedAgain: an undecided candidate has another trial under the same limit once
// a change was kept that makes it promise more, and not otherwise.
func TestUndecidedAgain(t *testing.T) {
	index := func(gain float64) Candidate {
		return Candidate{Code: "DB101", Where: "visits", Chance: 0.5, Gain: gain,
			Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Args: map[string]string{"name": "index"}}}.Keyed()
	}
	lost := undecided(index(0), 0.3, false)
	lost.Parked, lost.Verdict.Call, lost.Verdict.Reason = false, iikanji.Revert, iikanji.NoGain
	bundle := Together([]Candidate{index(0.3)}, "")
	together := undecided(bundle, 0, true)
	for name, c := range map[string]struct {
		attempts []Attempt
		of       Candidate
		want     bool // tried
	}{
		"nothing kept since":                    {[]Attempt{undecided(index(0), 0.5, true)}, index(0.8), true},
		"ended early, large":                    {[]Attempt{undecided(index(0), 0.8, true), keptWith(0.4)}, index(0.8), false},
		"ended early, promises little":          {[]Attempt{undecided(index(0), 0.2, true), keptWith(0.4)}, index(0.2), true},
		"has grown":                             {[]Attempt{undecided(index(0), 0.2, false), keptWith(0.4)}, index(0.26), false},
		"has hardly grown":                      {[]Attempt{undecided(index(0), 0.5, false), keptWith(0.4)}, index(0.55), true},
		"has grown, and is still small":         {[]Attempt{undecided(index(0), 0.05, false), keptWith(0.4)}, index(0.08), true},
		"a small one was kept":                  {[]Attempt{undecided(index(0), 0.2, true), keptWith(0.04)}, index(0.8), true},
		"kept before":                           {[]Attempt{keptWith(0.4), undecided(index(0), 0.2, true)}, index(0.8), true},
		"tried again since":                     {[]Attempt{undecided(index(0), 0.2, true), keptWith(0.4), undecided(index(0), 0.8, true)}, index(0.8), true},
		"proven to have no gain, and grown":     {[]Attempt{lost, keptWith(0.4)}, index(0.8), true},
		"a bundle, whose gain is not of itself": {[]Attempt{together, keptWith(0.4)}, bundle, true},
	} {
		q := stateOf(Ledger{Attempts: c.attempts, InForce: []iikanji.ChangeID{1}})
		q.Observed, q.Binding = true, "cpu"
		got, _ := q.HasTried(c.of)
		if got != c.want {
			t.Errorf("%s: tried %v, want %v", name, got, c.want)
		}
		if chance := q.believed([]Candidate{c.of})[0].Chance; !got && chance != c.of.Chance/2 {
			t.Errorf("%s: a chance of %v, at first %v", name, chance, c.of.Chance)
		}
	}
}

// TestVoidsGoOn: without a limit of time, a candidate whose trial was given up because its pairs
// did not count is tried again when no other is left; it is given up for good when its trial had
// no further pair. What decided a trial ends it.
func TestVoidsGoOn(t *testing.T) {
	c := Candidate{Code: "DB101", Where: "visits", Chance: 0.5, Gain: 0.3,
		Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Args: map[string]string{"name": "index"}}}.Keyed()
	gaveUp := iikanji.Verdict{Call: iikanji.Inconclusive, Reason: iikanji.Undecided}
	with := func(v iikanji.Verdict, pairs int) iikanji.Verdict {
		for i := range iikanji.RunID(pairs) {
			v.Base, v.Tried = append(v.Base, 2*i+1), append(v.Tried, 2*i+2)
		}
		return v
	}
	before := undecided(c, c.Gain, true, 1) // it had one pair
	for name, test := range map[string]struct {
		key      string
		attempts []Attempt
		over     iikanji.Verdict
		again    bool
	}{
		"a first time":                  {c.Key(), nil, gaveUp, true},
		"with a further pair":           {c.Key(), []Attempt{before}, with(gaveUp, 2), true},
		"without a further pair":        {c.Key(), []Attempt{before}, with(gaveUp, 1), false},
		"after a trial of its own":      {c.Key(), []Attempt{undecided(c, c.Gain, false, 1, 2)}, gaveUp, true},
		"decided":                       {c.Key(), nil, iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.Gate}, false},
		"accepted by the fast lane":     {c.Key(), nil, iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven}, false},
		"a bundle, or a ladder's rung":  {"", nil, gaveUp, false},
		"another one was given up then": {c.Key(), []Attempt{undecided(Candidate{Code: "WEB102"}, 0.1, true, 1)}, gaveUp, true},
	} {
		q := stateOf(Ledger{Attempts: test.attempts})
		q.Observed, q.Binding, q.Candidates = true, "cpu", []Candidate{c}
		q.Trial = &Trial{Key: test.key, Changes: 1, Pairs: 6, Void: "other programs used the CPU", Over: &test.over}
		step := q.inTrial()
		if step.Do != Settle || step.Deferred != test.again {
			t.Errorf("%s: %s", name, step)
		}
		limited := *q
		limited.Options.Time = time.Hour
		if step := limited.inTrial(); step.Deferred {
			t.Errorf("%s, with a limit of time: %s", name, step)
		}
		if test.key == "" || test.over.Call != iikanji.Inconclusive {
			continue
		}
		ended := undecided(c, c.Gain, step.Deferred)
		ended.Verdict = test.over
		q.Ledger.Attempts, q.Trial = append(q.Ledger.Attempts, ended), nil
		if next, ok := q.next(false); ok != test.again || ok && next.Key() != c.Key() {
			t.Errorf("%s: then a candidate is next: %v", name, ok)
		}
	}
}

// TestBudgetEnd checks that time which the search did not need makes the runs of
// the last comparison longer, that no run is longer than the full length, and that the
// search has all the time that the last comparison and weak proofs leave.
func TestBudgetEnd(t *testing.T) {
	for _, c := range []struct {
		spent, load time.Duration
	}{
		{8 * time.Minute, 33 * time.Second},  // more than what is reserved
		{6 * time.Minute, 48 * time.Second},  // two minutes more
		{2 * time.Minute, 60 * time.Second},  // the full length
		{14 * time.Minute, 18 * time.Second}, // too late: the comparison has fewer pairs, not shorter runs than planned
	} {
		b := &State{Options: Options{Time: 15 * time.Minute, Short: 10 * time.Second, Full: time.Minute, Pairs: 4}, Spent: c.spent, Cost: 14 * time.Second}
		b.Ledger = &Ledger{InForce: []iikanji.ChangeID{1}}
		before := b.TimeFor()
		if tail, search := b.TailLeft(), b.TimeFor(); search != tail {
			t.Errorf("after %v: %v for the search, but %v before the last comparison", c.spent, search, tail)
		}
		weak := Attempt{Changes: []iikanji.ChangeID{1}, Verdict: iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven, P: 0.01}}
		b.Ledger.Attempts = []Attempt{weak, weak}
		if tail, search := b.TailLeft(), b.TimeFor(); search != tail-9*b.Cost {
			t.Errorf("after %v, with two weak proofs: %v for the search of %v", c.spent, search, tail)
		}
		b.Stale = true // a gain may have moved the limit
		if tail, search := b.TailLeft(), b.TimeFor(); search != tail-9*b.Cost/2 {
			t.Errorf("after %v, before the site is observed again: %v for the search of %v", c.spent, search, tail)
		}
		b.Stale = false
		b.Ledger.Attempts = nil
		b.BeginEnd()
		if load := max(b.fullLoad(), b.EndLoad); load != c.load {
			t.Errorf("after %v: full runs of %v, want %v", c.spent, load, c.load)
		}
		// A twelfth of the time is left for logs and checks, unless the search took it.
		if tail := b.TailLeft(); c.spent <= 6*time.Minute && (tail < 75*time.Second || before < 0) {
			t.Errorf("after %v: %v for logs and checks", c.spent, tail)
		}
	}
}

// TestCalibrationRuns: long runs get fewer pairs before the first trial.
func TestCalibrationRuns(t *testing.T) {
	for _, c := range []struct {
		time, cost time.Duration
		want       int
	}{
		{15 * time.Minute, 0, 8},
		{0, time.Minute, 8},
		{15 * time.Minute, 14 * time.Second, 6},
		{15 * time.Minute, 28 * time.Second, 4},
		{15 * time.Minute, 31 * time.Second, 4},
		{15 * time.Minute, 50 * time.Second, 2},
		{15 * time.Minute, time.Minute, 1},
		{time.Hour, time.Minute, 6},
	} {
		b := State{Options: Options{Time: c.time}, Cost: c.cost}
		if got := b.calibrationRuns(); got != c.want {
			t.Errorf("%v with runs of %v: %d runs, want %d", c.time, c.cost, got, c.want)
		}
	}
}

// fixed are the options of a benchmarker whose runs cannot be shortened.
func fixed(limit, load time.Duration) Options {
	return Options{Time: limit, Short: load, Full: load, Watch: load, Pairs: 2}
}

// TestTimePlan: the plan divides the time as the search does, before and after the first
// run.
func TestTimePlan(t *testing.T) {
	for _, c := range []struct {
		options Options
		cost    time.Duration
		want    string
	}{
		{fixed(15*time.Minute, 75*time.Second), 78 * time.Second,
			"15m0s hold about 11 runs of 78s: 1 to measure the noise, 1 to observe, 5 for a sweep of all promising changes, 4 for the last comparison"},
		{fixed(15*time.Minute, 75*time.Second), 95 * time.Second,
			"15m0s hold about 9 runs of 95s: 1 to measure the noise, 1 to observe, 3 for a sweep of all promising changes, 4 for the last comparison"},
		{fixed(10*time.Minute, 75*time.Second), 0,
			"10m0s hold about 7 runs of 77s: 1 to measure the noise, 1 to observe, 1 for a sweep of all promising changes, 4 for the last comparison"},
		{Options{Time: 15 * time.Minute, Short: 10 * time.Second, Full: time.Minute, Watch: 10 * time.Second, Pairs: 4, Runs: 40}, 14 * time.Second,
			"15m0s hold about 64 runs of 14s: 6 to measure the noise, 1 to observe, 41 to try changes, 8 with a load of 18s and more for the last comparison; at most 40 runs are allowed"},
		{fixed(20*time.Minute, time.Minute), 23 * time.Second, // the command ends earlier than its length says
			"20m0s hold about 52 runs of 23s: 4 to measure the noise, 1 to observe, 40 to try changes, 4 for the last comparison"},
		{Options{Short: 10 * time.Second, Full: time.Minute, Watch: 10 * time.Second, Pairs: 4}, 0,
			"no time limit; runs of about 12s: 8 to measure the noise, 1 to observe, as many as needed to try changes, 8 with a load of 60s and more for the last comparison"},
	} {
		b := &State{Options: c.options, Cost: c.cost, Ledger: &Ledger{}}
		p := b.TimePlan(0)
		if got := p.String(); got != c.want {
			t.Errorf("%v with runs of %v:\n%s, want\n%s", c.options.Time, c.cost, got, c.want)
		}
		if p.Noise != b.calibrationRuns() || p.Sweep != b.Scarce() {
			t.Errorf("%+v, but %d calibration runs, scarce: %v", p, b.calibrationRuns(), b.Scarce())
		}
	}
	known := (&State{Options: fixed(15*time.Minute, 75*time.Second), Ledger: &Ledger{}}).TimePlan(4)
	if known.Noise != 0 || known.Search < 5 {
		t.Errorf("with four runs of an earlier search: %+v", known)
	}
}

func TestAbsorbed(t *testing.T) {
	type shares = map[string]float64
	for _, c := range []struct {
		name          string
		before, after shares
		saver, user   string
		want          bool
	}{
		{"as measured on isuports", shares{"database": 0.301, "app": 0.182, "nginx": 0.005}, shares{"database": 0.114, "app": 0.334, "nginx": 0.004}, "database", "app", true},
		{"saved, and nobody used it", shares{"database": 0.30, "app": 0.18}, shares{"database": 0.11, "app": 0.20}, "database", "app", false},
		{"saved little", shares{"database": 0.30, "app": 0.18}, shares{"database": 0.26, "app": 0.22}, "database", "app", false},
		{"nothing changed", shares{"database": 0.30}, shares{"database": 0.30}, "", "", false},
		{"no figures", shares{}, shares{}, "", "", false},
	} {
		saver, user, ok := NewState(Options{}).Absorbs(c.before, c.after)
		if ok != c.want || saver != c.saver || user != c.user {
			t.Errorf("%s: %q, %q, %v", c.name, saver, user, ok)
		}
	}
}

// TestProvable checks that the announcement of what a search can prove holds in other
// simulated trials: with a pair's noise of 20 %, × 1.8 can be proven in two pairs,
// and less with more pairs.
func TestProvable(t *testing.T) {
	s := NewState(Options{Time: 15 * time.Minute, Short: 10 * time.Second, Full: 60 * time.Second, Pairs: 4})
	s.Cost, s.Judge = 15*time.Second, judge.NewJudge(stats.Prior{Var: 0.2 * 0.2, DF: 8})
	cast := s.Forecast()
	says := cast.Provable()
	t.Log(says)
	found := regexp.MustCompile(`\+(\d+) % and more in (\d+) pairs`).FindAllStringSubmatch(says, -1)
	if len(found) != 2 || !strings.HasSuffix(says, "; there are 13m56s for trials") {
		t.Fatalf("says %q", says)
	}
	last := math.Inf(1)
	for i, f := range found {
		effect, err1 := strconv.ParseFloat(f[1], 64)
		pairs, err2 := strconv.Atoi(f[2])
		if err1 != nil || err2 != nil || effect >= last {
			t.Fatalf("%q: %v %v", says, err1, err2)
		}
		if last = effect; i == 0 && (effect > 80 || pairs > 2) {
			t.Errorf("× 1.8 is not provable in two pairs: %s", says)
		}
		cast.Seed = 99
		kept := 0
		for _, keep := range cast.trials(math.Log1p(effect/100), pairs) {
			if keep {
				kept++
			}
		}
		if share := float64(kept) / provableTrials; share < 0.7 || share > 0.95 {
			t.Errorf("%+.0f %% was kept after %d pairs in %.0f %% of the trials, want 80 %%", effect, pairs, 100*share)
		}
	}
}
