package isuxi

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// runPerfect runs the benchmarker against an app in memory, which does one thing wrong, and
// loses something after the load; nil for nothing.
func runPerfect(t *testing.T, load time.Duration, broken string, lose func(a *perfectApp)) *iikanji.Run {
	t.Helper()
	w := smallSize.draw()
	ct, err := newContest(arena.Options{Clock: 10}, w.dataset())
	if err != nil {
		t.Fatal(err)
	}
	a := newPerfectApp(w)
	a.broken = broken
	app := a.serve()
	defer app.Close()
	sc := scenario.Scenario(ct)
	if lose != nil {
		sc = losing{ct, func() { a.mu.Lock(); defer a.mu.Unlock(); lose(a) }}
	}
	run, err := bench.Run(t.Context(), sc, bench.Options{URL: app.URL, Seed: rand.Uint64(), Load: load})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestPerfectApp: nothing of a right app is a fault.
func TestPerfectApp(t *testing.T) {
	run := runPerfect(t, time.Second, "", nil)
	for _, f := range run.Faults {
		t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
	}
	if run.Outcome == iikanji.Failed || run.Raw <= 0 {
		t.Errorf("the run %s: %v", run.Outcome, run.Reasons)
	}
	t.Logf("score %.0f", run.Score)
}

// loseAfter is the number of answers after which a broken app begins.
const loseAfter = 120

// spoiled answers a request wrongly.
func (a *perfectApp) spoiled(w http.ResponseWriter, r *http.Request) bool {
	status := 0
	switch {
	case a.broken == "share-errors" && r.URL.Path == "/footprints":
		status = http.StatusInternalServerError
	case a.broken == "share-refusals" && strings.HasPrefix(r.URL.Path, "/profile/"):
		status = http.StatusNotFound
	}
	if status == 0 || a.answers < loseAfter {
		return false
	}
	http.Error(w, "", status)
	return true
}

// TestShares: too many refusals and errors make a run invalid.
func TestShares(t *testing.T) {
	tier.Slow(t)
	for _, check := range []string{"share-errors", "share-refusals"} {
		t.Run(check, func(t *testing.T) { wantCaught(t, runPerfect(t, 2*time.Second, check, nil), check) })
	}
}

func wantCaught(t *testing.T, run *iikanji.Run, checks ...string) {
	t.Helper()
	if run.Outcome != iikanji.Failed || !slices.ContainsFunc(run.Faults, func(f iikanji.Fault) bool { return slices.Contains(checks, f.Check) }) {
		t.Errorf("the run %s: %v", run.Outcome, run.Reasons)
	}
}

// A losing contest has the app lose what was written before the checks after the load.
type losing struct {
	*contest
	lose func()
}

// Validate implements scenario.Validator.
func (l losing) Validate(ctx context.Context, s scenario.Session) error {
	l.lose()
	return l.contest.Validate(ctx, s)
}

// TestValidate: what the app has lost is found after the load.
func TestValidate(t *testing.T) {
	tier.Slow(t)
	for check, lose := range map[string]func(a *perfectApp){
		"stored-entries": func(a *perfectApp) {
			for i := range a.entries {
				if e := &a.entries[i]; e.ID > lastEntry {
					e.Title = "lost"
				}
			}
		},
		"stored-comments": func(a *perfectApp) { a.comments = a.comments[:len(a.world.comments)] },
		"stored-friends":  func(a *perfectApp) { clear(a.friends) },
	} {
		shownBy := []string{check}
		if check == "stored-friends" {
			shownBy = append(shownBy, "stored-comments") // only friends see some of the entries
		}
		t.Run(check, func(t *testing.T) { wantCaught(t, runPerfect(t, 3*time.Second, "", lose), shownBy...) })
	}
}
