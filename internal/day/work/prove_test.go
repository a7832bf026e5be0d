package work_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestProve: the pairs of two states prove a gain of +30 %, and prove none of an edit that
// does nothing; the site is as it was then, also after an interruption.
func TestProve(t *testing.T) {
	tier.Slow(t)
	s := startFerry(t)
	f := openFerry(t, s.Dir, s.URL, t.TempDir())
	first := f.look()
	f.replace("conf/site-ferry.conf", "upstream counter {", "upstream counter { keepalive 16;")
	f.reload()
	f.sql("ALTER TABLE booking ADD INDEX by_crossing (crossing_id)")
	now := f.look()
	rng := rand.New(rand.NewPCG(1, 2))
	x := &change.Executor{Hands: f.subject.Site(), Journal: f.h}
	prove := func(gain float64, bench func(run *iikanji.Run) error) (iikanji.Verdict, int, error) {
		t.Helper()
		c := f.plan(first)
		if err := f.h.AddChange(c, change.Diff(c)); err != nil {
			t.Fatal(err)
		}
		p := &work.Proving{Day: f.day, Executor: x, Back: c, Pairs: 8, Seed: 1, Say: func(string, ...any) {}, States: [2]iikanji.Fingerprint{"now", "then"},
			Bench: func(_ context.Context, state iikanji.Fingerprint) (*iikanji.Run, string, error) {
				text, err := os.ReadFile(filepath.Join(f.dir, "conf/site-ferry.conf"))
				if err != nil {
					return nil, "", err
				}
				present := strings.Contains(string(text), "keepalive")
				if present != (state == "now") {
					t.Errorf("a run of the state %q while the edits are there: %v", state, present)
				}
				y := math.Log(10_000) + 0.02*rng.NormFloat64()
				if present {
					y += math.Log1p(gain)
				}
				run := &iikanji.Run{Outcome: iikanji.Passed, Score: math.Exp(y), State: state}
				return run, "", bench(run)
			}}
		v, pairs, err := p.Run(t.Context())
		if left, lerr := work.Unproven(f.day.Store.Dir()); len(left) > 0 || lerr != nil {
			t.Errorf("the note of changes %v is left: %v", left, lerr)
		}
		if got := f.look(); what(got) != what(now) {
			t.Errorf("the site is not as it was:\n%s", firstDifference(what(got), what(now)))
		}
		return v, len(pairs), err
	}
	fine := func(*iikanji.Run) error { return nil }
	if v, n, err := prove(0.30, fine); err != nil || v.Call != iikanji.Keep || n > 4 {
		t.Errorf("+30 %%: %s after %d pairs: %v", v.Call, n, err)
	}
	if v, n, err := prove(0, fine); err != nil || v.Call == iikanji.Keep {
		t.Errorf("nothing: %s after %d pairs: %v", v.Call, n, err)
	}
	broken := errors.New("the benchmarker is gone")
	if _, _, err := prove(0.30, func(*iikanji.Run) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("a run that fails to run: %v", err)
	}
}
