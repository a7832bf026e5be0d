package isuports

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// perfectContest returns the benchmarker for a perfect app.
func perfectContest(t *testing.T, clock float64) (*contest, *perfectApp) {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	data := new(Dataset)
	if err := smallSize.draw(t.Context(), data, nil, nil); err != nil {
		t.Fatal(err)
	}
	ct, err := newContest(arena.Options{Clock: clock}, data, key, perfectPublic)
	if err != nil {
		t.Fatal(err)
	}
	return ct, &perfectApp{key: &key.PublicKey}
}

// A perfectTest is a run of the benchmarker against a perfect app.
type perfectTest struct {
	set func(ct *contest) // changes the benchmarker; may be nil
	// before sees the requests of the load before the app does, and returns true for
	// those that it has answered. It may be nil.
	before func(w http.ResponseWriter, r *http.Request) bool
	// until ends the load, on a machine of any speed.
	until func(ct *contest) bool
}

// perfectDeadline limits a load that should end by itself: only a dead machine
// misses it.
const perfectDeadline = 2 * time.Minute

// run runs the test. There must be no fault, and no goroutine may be left.
func (p perfectTest) run(t *testing.T) *iikanji.Run {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ct, app := perfectContest(t, 10)
	if p.set != nil {
		p.set(ct)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var loading atomic.Bool
	routes := app.routes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loading.Load() && p.until(ct) {
			cancel()
		}
		if p.before == nil || !loading.Load() || !p.before(w, r) {
			routes.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	run, err := bench.Run(ctx, ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: perfectDeadline,
		OnPhase: func(p scenario.Phase, begins bool) { loading.Store(p == scenario.Load && begins) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	if run.Outcome != iikanji.Interrupted {
		t.Errorf("the run %s after %v: %v", run.Outcome, run.Took, run.Reasons)
	}
	server.Close()
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
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

// TestPerfectApp: every request that scores is sent, rounds and walks make the load
// grow, and nothing is a fault.
func TestPerfectApp(t *testing.T) {
	run := perfectTest{until: func(ct *contest) bool {
		for e := range scenario.Event(scoringSteps) {
			if ct.s.Count(e) == 0 {
				return false
			}
		}
		return ct.walks.Load() > 1 && ct.rounds.Load() > 3 && ct.guests.Load() > newGuests
	}}.run(t)
	if tenants, walks := gauge(t, run, "tenants at the end"), gauge(t, run, "walks over the billing"); tenants < initialTenants+walks {
		t.Errorf("%g tenants after %g walks", tenants, walks)
	}
	if run.Raw <= 0 || run.Deducted != 0 {
		t.Errorf("score %g − %g", run.Raw, run.Deducted)
	}
}

// TestGrowthRefused: a target may refuse growth with 429 and Retry-After, without
// penalty.
func TestGrowthRefused(t *testing.T) {
	var n atomic.Int64
	run := perfectTest{
		before: func(w http.ResponseWriter, r *http.Request) bool {
			if grows := r.URL.Path == "/api/admin/tenants/add" || r.URL.Path == "/api/organizer/competitions/add"; !grows || n.Add(1)%2 == 0 {
				return false
			}
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		},
		until: func(ct *contest) bool { return ct.putOff.Load() > 2 && ct.rounds.Load() > 0 },
	}.run(t)
	if run.Deducted != 0 {
		t.Errorf("refused growth cost %g", run.Deducted)
	}
}

// TestPlayersLeave: players leave when rankings are slow.
func TestPlayersLeave(t *testing.T) {
	tier.Slow(t)
	const slow = 20 * time.Millisecond
	perfectTest{
		set: func(ct *contest) { ct.tooSlow = slow },
		before: func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/ranking") {
				scenario.Sleep(r.Context(), 2*slow)
			}
			return false
		},
		until: func(ct *contest) bool { return ct.left.Load() > 0 },
	}.run(t)
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
		run, err := bench.Run(t.Context(), scenario.ChecksOnly(ct), bench.Options{URL: server.URL, Seed: 1})
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Faults) != 1 || run.Faults[0].Check != "billing-report" {
			t.Errorf("%s: %s %+v, want one fault of check billing-report", name, run.Outcome, run.Faults)
		}
	}
}
