package tune

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// undecided is an attempt of a candidate that was parked with one pair, with the gain
// that it had at that time.
func undecided(c search.Candidate, gain float64, deferred bool, base ...iikanji.RunID) search.Attempt {
	c.Gain = gain
	return search.Attempt{Candidate: c, Key: c.Key(), Parked: true, Deferred: deferred, Binding: "cpu",
		Verdict: iikanji.Verdict{Call: iikanji.Inconclusive, Reason: iikanji.TooFew, Base: base, Tried: base}}
}

// keptWith is an attempt of another candidate that was kept with an effect, as change 1.
func keptWith(effect float64) search.Attempt {
	return search.Attempt{Candidate: search.Candidate{Code: "APP204"}, Key: "x", Changes: []iikanji.ChangeID{1},
		Verdict: iikanji.Verdict{Call: iikanji.Keep, Effect: iikanji.Interval{Mid: effect}}}
}

// TestTuneAnotherChance: a large candidate whose trial was ended early is tried again
// before small ones once another change has moved the limit, with new pairs at half the
// error.
func TestTuneAnotherChance(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 15)
	tu.Options.Time = 20 * time.Minute
	m.effects = map[string]float64{"big=1": math.Log(2)}
	m.at = func(int) {
		if m.on()["big=1"] {
			m.effects["slow=1"] = 0.5
		}
	}
	m.binding = func(map[string]bool) string { return "cpu" }
	m.finds = func(on map[string]bool) []iikanji.Finding {
		found := []iikanji.Finding{turn("DB101", "slow", "1", 9), turn("APP204", "big", "1", 7)}
		for _, name := range []string{"a", "b", "c", "d"} {
			found = append(found, turn("WEB10"+name, name, "1", 1))
		}
		return slices.DeleteFunc(found, func(f iikanji.Finding) bool { return on[f.Remedies[0].Says+"=1"] })
	}
	out, err := tu.Tune(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var trials []search.Attempt
	small := 0
	for _, a := range out.Attempts {
		switch {
		case a.Says == "turn slow to 1":
			trials = append(trials, a)
		case a.Says != "turn big to 1" && len(trials) < 2:
			small++
		}
	}
	if on := m.on(); len(trials) != 2 || !trials[0].Deferred || trials[1].Verdict.Call != iikanji.Keep || small > 0 || !on["slow=1"] || !on["big=1"] {
		t.Fatalf("%d trials, %d of small ones before, the site is %v, calls %v", len(trials), small, on, m.calls(out))
	}
	for _, id := range trials[0].Verdict.Base {
		if slices.Contains(trials[1].Verdict.Base, id) {
			t.Errorf("the second trial has run %d of the first", id)
		}
	}
}

// TestTakeUp: an undecided trial goes on with its pairs at the same error, and begins
// anew at half the error if the candidate promises more since.
func TestTakeUp(t *testing.T) {
	m, tu := newMeadow(t, 16)
	if err := tu.openLedger(); err != nil {
		t.Fatal(err)
	}
	var ids []iikanji.RunID
	for range 2 {
		run, _, err := m.Bench(t.Context(), load.Spec{Load: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, run.ID)
	}
	c := search.Candidate{Code: "DB101", Gain: 0.5, Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Args: map[string]string{"name": "index"}}}
	early := undecided(c, 0.5, true, ids[0])
	early.Verdict.Tried = ids[1:]
	for name, test := range map[string]struct {
		attempts []search.Attempt
		pairs    int
		error    float64 // share of the error of a first trial
	}{
		"a first trial":               {nil, 0, 1},
		"goes on":                     {[]search.Attempt{early}, 1, 1},
		"goes on once more":           {[]search.Attempt{early, early}, 1, 1},
		"anew":                        {[]search.Attempt{early, keptWith(0.4)}, 0, 0.5},
		"anew, then goes on":          {[]search.Attempt{early, keptWith(0.4), undecided(c, 0.5, true)}, 0, 0.5},
		"anew for the second time":    {[]search.Attempt{early, keptWith(0.4), undecided(c, 0.5, true), keptWith(0.4)}, 0, 0.25},
		"a trial that was not ended":  {[]search.Attempt{early, early, keptWith(0.4)}, 0, 0.5},
		"another after a whole trial": {[]search.Attempt{undecided(c, 0.3, false, ids[0]), keptWith(0.4)}, 0, 0.5},
	} {
		tu.book.ledger().Attempts, tu.book.ledger().InForce = test.attempts, []iikanji.ChangeID{1}
		earlier := tu.book.state.Earlier(c, c.Key())
		pairs, err := tu.pairsOf(earlier)
		if err != nil {
			t.Fatal(err)
		}
		if got := earlier.Share(); len(pairs) != test.pairs || got != test.error {
			t.Errorf("%s: %d pairs at %.2f of the error, want %d at %.2f", name, len(pairs), got, test.pairs, test.error)
		}
	}
}
