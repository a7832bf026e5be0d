package sim

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestContest: 60 teams play eight hours with workers that die, fall silent, and send results
// twice. The invariants hold all the time, and the queue is fair.
func TestContest(t *testing.T) {
	tier.Slow(t)
	r, err := Run(t.Context(), Options{Teams: 60, Workers: 9, Length: 8 * time.Hour, Run: 75 * time.Second, Think: 7 * time.Minute, Seed: 1, Faults: true, Boards: 100, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", *r)
	if r.Jobs < 1500 || r.Results < r.Jobs*9/10 || r.Lost == 0 || r.Voids == 0 || r.Twice == 0 || r.Strays == 0 || r.Boards < 100 {
		t.Error("too little happened: the test would prove nothing")
	}
	if r.Jain < 0.95 {
		t.Errorf("the fairness of waits is %.3f, want 0.95", r.Jain)
	}
	if r.Longest > r.Limit {
		t.Errorf("a job waited %v, at most %v are allowed", r.Longest, r.Limit)
	}
	if r.Told < 100 || r.Expected > 0.3 {
		t.Errorf("%d expected starts are wrong by %.0f %% in the median, want 30 %%", r.Told, 100*r.Expected)
	}
}

// TestRepeats: a seed gives the same contest again, and another seed another one.
func TestRepeats(t *testing.T) {
	digest := func(seed uint64) string {
		r, err := Run(t.Context(), Options{Teams: 6, Workers: 2, Length: 2 * time.Hour, Run: 75 * time.Second, Think: 5 * time.Minute, Seed: seed, Faults: true, Boards: 3, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Digest
	}
	if one := digest(1); one != digest(1) || one == digest(2) {
		t.Error("the simulation does not repeat by its seed")
	}
}
