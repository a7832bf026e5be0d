package isuports

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/scenario"
)

// perfectContest returns the benchmarker for a perfect app.
func perfectContest(t *testing.T, clock float64) (*contest, *perfectApp) {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	data := new(Dataset)
	if err := SmallSize.draw(t.Context(), data, nil, nil); err != nil {
		t.Fatal(err)
	}
	ct, err := newContest(arena.Options{Clock: clock}, data, key, perfectPublic)
	if err != nil {
		t.Fatal(err)
	}
	return ct, &perfectApp{key: &key.PublicKey}
}

// perfectRun runs the benchmarker, which set may change, against a perfect app for
// some time. before sees the requests of the load before the app does, and returns
// true for those that it has answered. Both may be nil.
func perfectRun(t *testing.T, set func(ct *contest), load time.Duration, before func(w http.ResponseWriter, r *http.Request) bool) *iikanji.Run {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ct, app := perfectContest(t, 10)
	if set != nil {
		set(ct)
	}
	var loading atomic.Bool
	routes := app.routes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !loading.Load() || !before(w, r) {
			routes.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: load,
		OnPhase: func(p scenario.Phase, begins bool) { loading.Store(p == scenario.Load && begins) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	server.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after the run, %d before it", runtime.NumGoroutine(), goroutines)
		}
	}
	return run
}

// gauge returns a gauge of a run.
func gauge(t *testing.T, run *iikanji.Run, name string) float64 {
	t.Helper()
	for _, g := range run.Gauges {
		if g.Name == name {
			return g.Value
		}
	}
	t.Fatalf("no gauge %q", name)
	return 0
}

func TestPerfectApp(t *testing.T) {
	run := perfectRun(t, nil, 2*time.Second, nil)
	for _, p := range run.Points {
		if p.Count == 0 {
			t.Errorf("no %s", p.Event)
		}
	}
	for _, name := range []string{"competition rounds", "walks over the billing", "players at the end"} {
		if gauge(t, run, name) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if tenants, walks := gauge(t, run, "tenants at the end"), gauge(t, run, "walks over the billing"); tenants < initialTenants+walks {
		t.Errorf("%g tenants after %g walks", tenants, walks)
	}
	t.Logf("%s, score %.0f: %v", run.Outcome, run.Score, run.Reasons)
}

// TestGrowthRefused: a target may refuse growth with 429 and Retry-After, without
// penalty.
func TestGrowthRefused(t *testing.T) {
	var n atomic.Int64
	run := perfectRun(t, nil, time.Second, func(w http.ResponseWriter, r *http.Request) bool {
		if grows := r.URL.Path == "/api/admin/tenants/add" || r.URL.Path == "/api/organizer/competitions/add"; !grows || n.Add(1)%2 == 0 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	if refused := gauge(t, run, "growth refused with 429"); refused == 0 || run.Deducted != 0 {
		t.Errorf("growth was refused %g times, which cost %g", refused, run.Deducted)
	}
	if gauge(t, run, "competition rounds") == 0 {
		t.Error("no round after a refusal")
	}
}

// TestPlayersLeave: players leave when rankings are slow.
func TestPlayersLeave(t *testing.T) {
	const slow = 20 * time.Millisecond
	run := perfectRun(t, func(ct *contest) { ct.tooSlow = slow }, 2*time.Second, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/ranking") {
			scenario.Sleep(r.Context(), 2*slow)
		}
		return false
	})
	if gauge(t, run, "players who left") == 0 {
		t.Error("no player left")
	}
}

// TestVisits: of the visits of a player, the first one decides whether the player
// is billed as a visitor.
func TestVisits(t *testing.T) {
	for name, spoil := range map[string]func(app *perfectApp){
		"visits after the end are billed": func(app *perfectApp) { app.billsLate = true },
		"only the last visit is kept":     func(app *perfectApp) { app.keepsLast = true },
	} {
		ct, app := perfectContest(t, 10)
		spoil(app)
		server := httptest.NewServer(app.routes())
		run, err := bench.Run(t.Context(), checksOnly{ct}, bench.Options{URL: server.URL, Seed: 1})
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Faults) != 1 || run.Faults[0].Check != "billing-report" {
			t.Errorf("%s: %s %+v, want one fault of check billing-report", name, run.Outcome, run.Faults)
		}
	}
}
