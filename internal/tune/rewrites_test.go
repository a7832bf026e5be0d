package tune

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
	"github.com/iikanji/iikanji/internal/stats"
)

// rewrite is a candidate of kind gocode.
func rewrite(code, levers, function string, more ...string) Candidate {
	args := map[string]string{"levers": levers, "file": "main.go", "func": function}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return Candidate{Code: iikanji.Code(code), Where: function, Chance: 0.5, Gain: 0.1,
		Remedy: iikanji.Remedy{Kind: "gocode", Target: "app", Says: levers + " in " + function, Args: args}}.cached()
}

// queueOf is a queue without a search.
func queueOf(l ledger) *queue {
	e := &evidence{judge: judge.NewJudge(stats.Prior{})}
	return &queue{shared: shared{budget: &budget{}, evidence: e, records: &records{evidence: e, ledger: l}, display: &display{}}}
}

// TestAllRewrites: rewrites of source are tried together, each fix once; knobs and
// other kinds are not among them.
func TestAllRewrites(t *testing.T) {
	q := queueOf(ledger{})
	q.options.Time = 1
	first := rewrite("APP201", "APP201,APP204", "a")
	knob := rewrite("APP214", "APP214", "a", "place", "drops (0.9)", "variant", "end")
	other := rewrite("APP206", "APP206", "b")
	q.candidates = []Candidate{first, rewrite("APP201", "APP201", "a"), rewrite("APP204", "APP204", "a"), knob, other,
		{Code: "DB101", Gain: 0.2, Chance: 0.5, Remedy: iikanji.Remedy{Kind: "knob", Target: "site", Args: map[string]string{"name": "x"}}}}
	var got []string
	for _, c := range q.allRewrites(first) {
		got = append(got, c.Remedy.Says)
	}
	if want := []string{"APP201,APP204 in a", "APP206 in b"}; !slices.Equal(got, want) {
		t.Errorf("together %q, want %q", got, want)
	}
	if parts := q.allRewrites(knob); parts != nil {
		t.Errorf("a knob is tried with %v", parts)
	}
	if q.factors(first) != nil {
		t.Error("rewrites are screened")
	}
}

// TestRewritesOrder: a rewrite that is planned from all of the source waits until the
// others had their trial, however large its expected gain is.
func TestRewritesOrder(t *testing.T) {
	a, cache := rewrite("APP201", "APP201", "a"), rewrite("APP207", "APP207", "main")
	cache.Gain = 0.5
	tried := Attempt{Candidate: a, Key: a.Key(), Verdict: iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain}}
	for name, test := range map[string]struct {
		attempts []Attempt
		want     Candidate
	}{
		"a rewrite waits": {nil, a},
		"none waits":      {[]Attempt{tried}, cache},
	} {
		q := queueOf(ledger{Attempts: test.attempts})
		q.options.Time, q.candidates = 1, []Candidate{cache, a}
		if got, ok := q.next(false); !ok || got.Key() != test.want.Key() {
			t.Errorf("%s: the next candidate is %s, want %s", name, got.Remedy.Says, test.want.Remedy.Says)
		}
	}
	q := queueOf(ledger{})
	q.options.Time, q.candidates = 1, []Candidate{cache, a}
	if parts := q.allRewrites(a); len(parts) != 1 {
		t.Errorf("the cache is tried with others: %v", parts)
	}
}

// TestKnobAgain: a knob without a gain is tried again once another change has moved
// the limit, and another value of it after one is kept; a rewrite is not.
func TestKnobAgain(t *testing.T) {
	knob, plain := rewrite("APP214", "APP214", "a", "place", "drops (0.9)", "variant", "end"), rewrite("APP206", "APP206", "b")
	keep := func(effect float64, id iikanji.ChangeID) Attempt {
		return Attempt{Candidate: Candidate{Code: "DB101"}, Key: "x", Changes: []iikanji.ChangeID{id},
			Verdict: iikanji.Verdict{Call: iikanji.Keep, Effect: iikanji.Interval{Mid: effect}}}
	}
	lost := func(c Candidate, reason iikanji.Reason) Attempt {
		return Attempt{Candidate: c, Key: c.Key(), Verdict: iikanji.Verdict{Call: iikanji.Revert, Reason: reason}}
	}
	for name, c := range map[string]struct {
		attempts []Attempt
		of       Candidate
		want     bool // tried
	}{
		"no gain":                  {[]Attempt{lost(knob, iikanji.NoGain)}, knob, true},
		"then a large gain":        {[]Attempt{lost(knob, iikanji.NoGain), keep(0.3, 1)}, knob, false},
		"then a small gain":        {[]Attempt{lost(knob, iikanji.NoGain), keep(0.03, 1)}, knob, true},
		"a large gain before":      {[]Attempt{keep(0.3, 1), lost(knob, iikanji.NoGain)}, knob, true},
		"then one that was undone": {[]Attempt{lost(knob, iikanji.NoGain), keep(0.3, 2)}, knob, true},
		"wrong answers":            {[]Attempt{lost(knob, iikanji.Gate), keep(0.3, 1)}, knob, true},
		"a rewrite":                {[]Attempt{lost(plain, iikanji.NoGain), keep(0.3, 1)}, plain, true},
	} {
		q := queueOf(ledger{Attempts: c.attempts, InForce: []iikanji.ChangeID{1}})
		if got, _ := q.tried(c.of); got != c.want {
			t.Errorf("%s: tried %v, want %v", name, got, c.want)
		}
	}
	q := queueOf(ledger{InForce: []iikanji.ChangeID{1}, Attempts: []Attempt{{Candidate: knob, Key: knob.Key(), Changes: []iikanji.ChangeID{1}},
		{Candidate: plain, Key: plain.Key(), Changes: []iikanji.ChangeID{1}}}})
	if q.cured(knob) || !q.cured(plain) {
		t.Errorf("cured: knob %v, rewrite %v", q.cured(knob), q.cured(plain))
	}
}
