package search

import (
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestNeeding: a query cache and the rewrite of a program that empties it are tried as a pair
// when each alone had no gain, the program first; once, and not where one of them failed.
func TestNeeding(t *testing.T) {
	cache, program, other := rewrite("APP207", "APP207", "main"), rewrite("APP209", "APP209", "login"), rewrite("APP206", "APP206", "page")
	elsewhere := rewrite("APP209", "APP209", "login")
	elsewhere.Remedy.Target = "worker"
	elsewhere = elsewhere.Keyed()
	lost := func(c Candidate, reason iikanji.Reason) Attempt {
		return attemptOf([]Candidate{c}, iikanji.Verdict{Call: iikanji.Revert, Reason: reason})
	}
	vain := iikanji.NoGain
	for name, test := range map[string]struct {
		candidates []Candidate
		attempts   []Attempt
		want       []string
	}{
		"each alone in vain":        {[]Candidate{cache, program}, []Attempt{lost(program, vain), lost(cache, vain)}, []string{"APP209 in login", "APP207 in main"}},
		"the other way around":      {[]Candidate{program, cache}, []Attempt{lost(cache, vain), lost(program, vain)}, []string{"APP209 in login", "APP207 in main"}},
		"one was not tried":         {[]Candidate{cache, program}, []Attempt{lost(cache, vain)}, nil},
		"one failed its checks":     {[]Candidate{cache, program}, []Attempt{lost(program, iikanji.Gate), lost(cache, vain)}, nil},
		"of another app":            {[]Candidate{cache, elsewhere}, []Attempt{lost(elsewhere, vain), lost(cache, vain)}, nil},
		"one that it does not need": {[]Candidate{cache, other}, []Attempt{lost(other, vain), lost(cache, vain)}, nil},
	} {
		q := stateOf(Ledger{Attempts: test.attempts})
		q.Candidates = test.candidates
		var got []string
		for _, c := range q.needing() {
			got = append(got, c.Remedy.Says)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	both := []Candidate{program, cache}
	q := stateOf(Ledger{Attempts: []Attempt{lost(program, vain), lost(cache, vain)}})
	q.Candidates, q.Plan.Looked, q.Phase = both, true, Searching
	step := Next(*q)
	if step.Do != TryTogether || len(step.Parts) != 2 || step.Parts[1].Key() != cache.Key() || step.Why != oneNeeds {
		t.Errorf("the next step is %v of %d parts (%s)", step.Do, len(step.Parts), step.Why)
	}
	q.Ledger.Attempts = append(q.Ledger.Attempts, attemptOf(both, iikanji.Verdict{Call: iikanji.Revert, Reason: vain}))
	if step := Next(*q); step.Do == TryTogether && len(step.Parts) == 2 {
		t.Error("the pair is tried twice")
	}
}
