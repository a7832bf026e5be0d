package search

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// rewrite is a candidate of kind gocode.
func rewrite(code, levers, function string, more ...string) Candidate {
	args := map[string]string{"levers": levers, "file": "main.go", "func": function}
	for i := 0; i < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return Candidate{Code: iikanji.Code(code), Where: function, Chance: 0.5, Gain: 0.1, Traits: Traits{Rewrites: true, Apart: code == "APP207"},
		Remedy: iikanji.Remedy{Kind: "gocode", Target: "app", Says: levers + " in " + function, Args: args}}.Keyed()
}

// stateOf is the state of a search with a ledger.
func stateOf(l Ledger) *State {
	s := NewState(Options{})
	s.Ledger, s.Judge, s.Stale = &l, judge.NewJudge(stats.Prior{}), false
	return s
}

// attemptOf is the attempt of a candidate, or of several together.
func attemptOf(cs []Candidate, v iikanji.Verdict) Attempt {
	if len(cs) == 1 {
		return Attempt{Candidate: cs[0], Key: cs[0].Key(), Verdict: v}
	}
	one := Together(cs, "")
	return Attempt{Candidate: one, Key: one.Key(), Parts: PartsOf(cs), Verdict: v}
}

// TestAllRewrites: rewrites of source are tried together, each fix once; knobs and
// other kinds are not among them.
func TestAllRewrites(t *testing.T) {
	q := stateOf(Ledger{})
	q.Options.Time = 1
	first := rewrite("APP201", "APP201,APP204", "a")
	knob := rewrite("APP214", "APP214", "a", "place", "drops (0.9)", "variant", "end")
	other := rewrite("APP206", "APP206", "b")
	q.Candidates = []Candidate{first, rewrite("APP201", "APP201", "a"), rewrite("APP204", "APP204", "a"), knob, other,
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
// others had their trial, unless it promises more than each of them.
func TestRewritesOrder(t *testing.T) {
	a, cache := rewrite("APP201", "APP201", "a"), rewrite("APP207", "APP207", "main")
	most := cache
	most.Gain = 0.5
	tried := Attempt{Candidate: a, Key: a.Key(), Verdict: iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain}}
	for name, test := range map[string]struct {
		attempts []Attempt
		cache    Candidate
		limit    time.Duration
		want     Candidate
	}{
		"a rewrite waits":                {nil, cache, 1, a},
		"none waits":                     {[]Attempt{tried}, cache, 1, cache},
		"the cache promises most of all": {nil, most, 1, most},
		"there is time for both":         {nil, most, 0, a},
	} {
		q := stateOf(Ledger{Attempts: test.attempts})
		q.Options.Time, q.Candidates = test.limit, []Candidate{test.cache, a}
		if got, ok := q.next(false); !ok || got.Key() != test.want.Key() {
			t.Errorf("%s: the next candidate is %s, want %s", name, got.Remedy.Says, test.want.Remedy.Says)
		}
	}
	q := stateOf(Ledger{})
	q.Options.Time, q.Candidates = 1, []Candidate{cache, a}
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
		q := stateOf(Ledger{Attempts: c.attempts, InForce: []iikanji.ChangeID{1}})
		if got, _ := q.HasTried(c.of); got != c.want {
			t.Errorf("%s: tried %v, want %v", name, got, c.want)
		}
	}
	q := stateOf(Ledger{InForce: []iikanji.ChangeID{1}, Attempts: []Attempt{{Candidate: knob, Key: knob.Key(), Changes: []iikanji.ChangeID{1}},
		{Candidate: plain, Key: plain.Key(), Changes: []iikanji.ChangeID{1}}}})
	if q.IsCured(knob) || !q.IsCured(plain) {
		t.Errorf("cured: knob %v, rewrite %v", q.IsCured(knob), q.IsCured(plain))
	}
}

// TestRewriteOrOther: a solid expected gain of another kind comes before rewrites of
// source; otherwise the expected gain per run decides, of the rewrites together.
func TestRewriteOrOther(t *testing.T) {
	other := func(gain float64) Candidate {
		return Candidate{Code: "DB206", Where: "x", Gain: gain, Chance: 0.5,
			Remedy: iikanji.Remedy{Kind: "mysqlconf", Target: "database", Says: "other", Args: map[string]string{"name": "innodb_flush_log_at_trx_commit", "value": "2"}}}.Keyed()
	}
	knob := func(gain float64) Candidate {
		return Candidate{Code: "APP214", Where: "k", Traits: Traits{Rewrites: true}, Gain: gain, Chance: 0.05, Remedy: iikanji.Remedy{Kind: "gocode", Target: "app", Says: "knob",
			Args: map[string]string{"levers": "APP214", "file": "k.go", "func": "k", "place": "p", "variant": "end"}}}.Keyed()
	}
	a, b, c := rewrite("APP201", "APP201", "a"), rewrite("APP204", "APP204", "b"), rewrite("APP206", "APP206", "c")
	for name, test := range map[string]struct {
		candidates []Candidate
		cost       time.Duration
		want       string
	}{
		"one rewrite":             {[]Candidate{other(0.12), a}, time.Second, "other"},
		"three together":          {[]Candidate{other(0.12), a, b, c}, time.Second, "APP201 in a"},
		"solid":                   {[]Candidate{other(Solid.Value()), a, b, c}, time.Second, "other"},
		"no time for a rewrite":   {[]Candidate{other(0.12), a, b, c}, 12 * time.Minute / 5, "other"},
		"only rewrites":           {[]Candidate{a, b}, time.Second, "APP201 in a"},
		"no time for any of them": {[]Candidate{a, b}, 12 * time.Minute / 5, ""},
		"a knob, large gain":      {[]Candidate{other(0.12), knob(Large.Value())}, time.Second, "knob"},
		"a knob, small gain":      {[]Candidate{other(0.12), knob(0.15)}, time.Second, "other"},
		"a knob beside a solid":   {[]Candidate{other(Solid.Value()), knob(Large.Value())}, time.Second, "other"},
	} {
		q := stateOf(Ledger{})
		q.Options, q.Cost, q.Spent = Options{Time: time.Hour, Pairs: 2, Short: time.Second, Full: time.Second}, test.cost, 30*time.Minute
		if test.cost > time.Second { // the rest of the time is ten runs
			q.Spent = 36 * time.Minute
		}
		q.Candidates = test.candidates
		if got, ok := q.next(false); got.Remedy.Says != test.want || ok != (test.want != "") {
			t.Errorf("%s: the next candidate is %q (%v), want %q", name, got.Remedy.Says, ok, test.want)
		}
	}
}

// TestRewriteAfterVainBundle: after a bundle of other candidates without a gain, rewrites of
// source are next, also before its halves; not after a bundle of rewrites, a failed one or a
// trial of a single candidate.
func TestRewriteAfterVainBundle(t *testing.T) {
	setting := func(name string, gain float64) Candidate {
		return Candidate{Code: "DB206", Where: name, Gain: gain, Chance: 0.5,
			Remedy: iikanji.Remedy{Kind: "mysqlconf", Target: "database", Says: name, Args: map[string]string{"name": name, "value": "2"}}}.Keyed()
	}
	x, y, a := setting("sync_binlog", 0.12), setting("innodb_flush_log_at_trx_commit", 0.11), rewrite("APP201", "APP201", "a")
	b := rewrite("APP204", "APP204", "b")
	small, sources := []Candidate{x, y}, []Candidate{a, b}
	for name, test := range map[string]struct {
		tried  []Candidate
		reason iikanji.Reason
		other  Candidate
		want   string
	}{
		"no gain":               {small, iikanji.NoGain, x, "APP201 in a"},
		"no gain, solid waits":  {small, iikanji.NoGain, setting("sync_binlog", Solid.Value()), "sync_binlog"},
		"failed its checks":     {small, iikanji.Gate, x, "sync_binlog"},
		"a single candidate":    {[]Candidate{y}, iikanji.NoGain, x, "sync_binlog"},
		"a bundle of rewrites":  {sources, iikanji.NoGain, x, "sync_binlog"},
		"no rewrite is waiting": {small, iikanji.NoGain, x, "sync_binlog"},
	} {
		q := stateOf(Ledger{Attempts: []Attempt{
			attemptOf(test.tried, iikanji.Verdict{Call: iikanji.Revert, Reason: test.reason}),
			{Candidate: y, Key: "refused", Skipped: "it cannot be planned"}}})
		q.Options, q.Cost, q.Spent = Options{Time: time.Hour, Pairs: 2, Short: time.Second, Full: time.Second}, time.Second, 30*time.Minute
		q.Candidates = []Candidate{test.other, a}
		if name == "no rewrite is waiting" {
			q.Candidates = q.Candidates[:1]
		}
		got, _ := q.next(false)
		if got.Remedy.Says != test.want {
			t.Errorf("%s: the next candidate is %q, want %q", name, got.Remedy.Says, test.want)
		}
		if first := q.rewritesComeFirst(); first != (test.want == a.Remedy.Says) {
			t.Errorf("%s: rewrites come before the halves: %v", name, first)
		}
	}
}

// TestCoveredIsCured: a rewrite whose fixes are in force with those of another finding
// of its function is not tried again, also where a bundle brought them.
func TestCoveredIsCured(t *testing.T) {
	all, part, elsewhere := rewrite("APP201", "APP201,APP203", "a"), rewrite("APP203", "APP203", "a"), rewrite("APP203", "APP203", "b")
	other := rewrite("APP206", "APP206", "c")
	bundle := attemptOf([]Candidate{all, other}, iikanji.Verdict{})
	bundle.Parts[0].Change, bundle.Parts[1].Change = 1, 2
	for name, a := range map[string]Attempt{
		"alone":       {Candidate: all, Key: all.Key()},
		"in a bundle": bundle,
	} {
		a.Changes, a.Verdict = []iikanji.ChangeID{1}, iikanji.Verdict{Call: iikanji.Keep}
		q := stateOf(Ledger{Attempts: []Attempt{a}, InForce: []iikanji.ChangeID{1}})
		if !q.IsCured(part) || q.IsCured(elsewhere) {
			t.Errorf("%s: cured: the same function %v, another one %v", name, q.IsCured(part), q.IsCured(elsewhere))
		}
		q.Ledger.InForce = nil
		if q.IsCured(part) {
			t.Errorf("%s: cured by a change that is not in force", name)
		}
	}
}

// TestLogsFirst: the rest of the time goes to changes of logs only if it does not
// suffice for both, if they can be proven in it, and if they promise more per run.
func TestLogsFirst(t *testing.T) {
	logs := Candidate{Code: "WEB110", Where: "log", Traits: Traits{Blinds: true}, Gain: 0.3, Chance: 0.5,
		Remedy: iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Says: "logs", Args: map[string]string{"act": "access log", "log": "off"}}}.Keyed()
	small := Candidate{Code: "DB206", Where: "x", Gain: 0.1, Chance: 0.3,
		Remedy: iikanji.Remedy{Kind: "mysqlconf", Target: "database", Says: "other", Args: map[string]string{"name": "innodb_flush_log_at_trx_commit", "value": "2"}}}.Keyed()
	weak := logs
	weak.Gain = 0.01
	for name, test := range map[string]struct {
		logs Candidate
		runs int // that are left
		want bool
	}{
		"time for both":       {logs, 40, false},
		"time for one":        {logs, 6, true},
		"too short for logs":  {logs, 2, false},
		"logs promise little": {weak, 18, false},
	} {
		q := stateOf(Ledger{})
		q.Judge = judge.NewJudge(stats.Prior{Var: 0.03 * 0.03, DF: 8})
		q.Options, q.Cost = Options{Time: 2 * time.Hour, Pairs: 2, Short: time.Second, Full: time.Second}, 10*time.Second
		end := q.TimeFor() - time.Duration(test.runs)*q.Cost
		q.Spent = end
		q.Candidates = []Candidate{small, test.logs}
		if got := q.logsFirst(small); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestWorthObserving: a new observation comes before the next trial, unless it leaves no
// time for a trial, or a knob is next that promises much.
func TestWorthObserving(t *testing.T) {
	knob, plain := rewrite("APP214", "APP214", "a", "place", "drops (0.9)", "variant", "end"), rewrite("APP206", "APP206", "b")
	knob.Chance, knob.Gain = 0.25, 1
	for name, test := range map[string]struct {
		next Candidate
		runs int // that are left
		want bool
	}{
		"a rewrite":         {plain, 40, true},
		"a knob":            {knob, 40, false},
		"a knob, too short": {knob, 3, false},
		"too short":         {plain, 3, false},
	} {
		q := stateOf(Ledger{})
		q.Observed, q.Stale, q.Candidates = true, true, []Candidate{test.next}
		q.Options, q.Cost = Options{Time: 2 * time.Hour, Pairs: 2, Short: time.Second, Full: time.Second}, 10*time.Second
		end := q.TimeFor() - time.Duration(test.runs)*q.Cost
		q.Spent = end
		if got := q.worthObserving(); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if q.Observed = false; !q.worthObserving() {
			t.Errorf("%s: the first observation is left out", name)
		}
	}
}

// TestRewriteAfterBundle: a rewrite that had no gain together with others is hardly
// expected to have one alone.
func TestRewriteAfterBundle(t *testing.T) {
	a, b, c := rewrite("APP201", "APP201", "a"), rewrite("APP204", "APP204", "b"), rewrite("APP206", "APP206", "c")
	bundle := attemptOf([]Candidate{a, b}, iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain})
	q := stateOf(Ledger{Attempts: []Attempt{bundle}})
	got := q.believed([]Candidate{a, c})
	if got[0].Chance != Without.Value()*a.Chance || got[1].Chance != c.Chance {
		t.Errorf("chances %v and %v of %v", got[0].Chance, got[1].Chance, a.Chance)
	}
}

// TestRemedyOfKey: a key has all of a remedy that it was made of.
func TestRemedyOfKey(t *testing.T) {
	for _, c := range []Candidate{
		rewrite("APP214", "APP214", "(*app).post", "place", "a share is chosen = at random (0.9)", "variant", "end"),
		{Remedy: iikanji.Remedy{Kind: "ddl", Target: "database", Args: map[string]string{"columns": "a,b", "act": "add index", "empty": ""}}},
		{Remedy: iikanji.Remedy{Kind: "sysctl", Target: "host"}},
	} {
		r := remedyOf(c.Key())
		if got := KeyOf(r); got != c.Key() || r.Kind != c.Remedy.Kind || r.Target != c.Remedy.Target || len(r.Args) != len(c.Remedy.Args) {
			t.Errorf("%q gives %+v", c.Key(), r)
		}
	}
}

// TestKnobProspects: a knob has twice its chance once a rewrite with a large effect is in
// force, also one that the fast lane let in, and less after a trial of another of its values.
func TestKnobProspects(t *testing.T) {
	knob := func(variant string) Candidate {
		c := rewrite("APP214", "APP214", "post", "place", "drops (0.9)", "variant", variant)
		c.Gain = math.Log(10) / 2
		return c
	}
	cs := []Candidate{knob("end"), knob("half")}
	first := rewrite("APP201", "APP201", "a")
	q := stateOf(Ledger{InForce: []iikanji.ChangeID{1}})
	kept := attemptOf([]Candidate{first}, iikanji.Verdict{Call: iikanji.Keep, Effect: iikanji.Interval{Mid: 0.3}})
	kept.Changes = []iikanji.ChangeID{1}
	q.Ledger.Attempts = []Attempt{kept}
	if end := q.believed(cs)[0]; end.Chance != 2*cs[0].Chance {
		t.Errorf("after a rewrite with a large effect the chance is %v of %v", end.Chance, cs[0].Chance)
	}
	q.Ledger.Attempts[0].Fast, q.Ledger.Attempts[0].Verdict.Effect = true, iikanji.Interval{}
	if end := q.believed(cs)[0]; end.Chance != 2*cs[0].Chance {
		t.Errorf("after a rewrite by the fast lane the chance is %v of %v", end.Chance, cs[0].Chance)
	}
	q.Ledger.Attempts = []Attempt{attemptOf(cs[:1], iikanji.Verdict{Call: iikanji.Revert, Reason: iikanji.NoGain})}
	if half := q.believed(cs)[1]; half.Chance != Sibling.Value()*cs[1].Chance {
		t.Errorf("after a trial of another value without a gain the chance is %v of %v", half.Chance, cs[1].Chance)
	}
}

// TestWhyNoneLeft: a search that ends while rewrites wait for which the time is too short
// does not say that none are left.
func TestWhyNoneLeft(t *testing.T) {
	a, b := rewrite("APP201", "APP201", "a"), rewrite("APP206", "APP206", "b")
	for name, test := range map[string]struct {
		time time.Duration
		cs   []Candidate
		want string
	}{
		"none":    {time.Hour, nil, "no candidates are left"},
		"one":     {time.Minute, []Candidate{a}, "the rest of the time is too short for the last candidate: APP201 in a"},
		"several": {time.Minute, []Candidate{a, b}, "the rest of the time is too short for the 2 candidates that are left, the first: APP201 in a"},
	} {
		q := stateOf(Ledger{})
		q.Options.Time, q.Cost, q.Candidates = test.time, 30*time.Second, test.cs
		if got := q.whyNoneLeft(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
