package xsuportal

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// smallLoad makes a load with few teams.
var smallLoad = arena.Values{registrarsSetting: "2", pollSetting: "300", audienceSetting: "8"}

// A quietSession takes faults alone.
type quietSession struct {
	scenario.Session
	mu     sync.Mutex
	faults []string
}

func (s *quietSession) Report(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var f *scenario.Fault
	if errors.As(err, &f) {
		s.faults = append(s.faults, f.Check)
	}
}

func (s *quietSession) Rand(name string) *rand.Rand {
	return rand.New(rand.NewPCG(1, uint64(len(name))))
}

// quietContest returns a benchmarker that is not in a run.
func quietContest(t *testing.T) (*contest, *quietSession) {
	t.Helper()
	sc, err := newScenario(arena.Options{Clock: 10, Set: smallLoad})
	if err != nil {
		t.Fatal(err)
	}
	s := new(quietSession)
	ct := sc.(*contest)
	ct.begin(s)
	return ct, s
}

// runPerfect runs the benchmarker against an app for some time. No goroutine may be left.
func runPerfect(t *testing.T, app *perfectApp, load time.Duration) *iikanji.Run {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	sc, err := newScenario(arena.Options{Clock: 10, Set: smallLoad})
	if err != nil {
		t.Fatal(err)
	}
	url, stop, err := app.serve()
	if err != nil {
		t.Fatal(err)
	}
	run, err := bench.Run(context.Background(), sc, bench.Options{URL: url, Seed: rand.Uint64(), Load: load})
	if err != nil {
		t.Fatal(err)
	}
	if app.pusher != nil {
		app.pusher.wait.Wait()
	}
	stop()
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > goroutines+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) { // two may be idle connections of the pusher
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

// event returns the count of an event.
func event(run *iikanji.Run, e scenario.Event) int64 { return run.Points[e].Count }

// A perfect load is tried with more time until it has reached everything, on a machine of
// any speed.
const (
	leastLoad = 8 * time.Second
	mostLoad  = 64 * time.Second
)

// TestPerfectApp: teams register, benchmarks finish, questions are answered and boards are
// looked at, and nothing is a fault, before the load, under it and after it: with
// notifications that are polled, and with pushed ones.
func TestPerfectApp(t *testing.T) {
	for _, pushed := range []bool{false, true} {
		for load := leastLoad; ; load *= 2 {
			app := &perfectApp{capacity: 12}
			if pushed {
				app.pusher = newPusher()
			}
			run := runPerfect(t, app, load)
			for _, f := range run.Faults {
				if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
					t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
				}
			}
			if run.Outcome == iikanji.Failed || run.Raw <= 0 {
				t.Fatalf("the run %s: %v", run.Outcome, run.Reasons)
			}
			t.Logf("pushed %v, %v: score %.0f, %.0f teams, %d benchmarks, %d answers, %d and %d looks, %.0f pushed", pushed, load, run.Score,
				gauge(t, run, "teams"), event(run, finished), event(run, resolved), event(run, viewed), event(run, watched),
				gauge(t, run, "notifications pushed"))
			if event(run, finished) > 30 && event(run, resolved) > 3 && event(run, watched) > 0 &&
				pushed == (gauge(t, run, "notifications pushed") > 30) {
				break
			}
			if load > mostLoad {
				t.Fatal("the load did not grow")
			}
		}
	}
}

// TestBonus: the bonus grows by a fifth with each sixty participants, up to as much again.
func TestBonus(t *testing.T) {
	for participants, want := range map[int]int64{0: 0, 30: 0, 59: 0, 60: 2, 119: 2, 120: 4, 180: 6, 240: 8, 299: 8, 300: 10, 360: 10} {
		if got := tenths(participants); got != want {
			t.Errorf("%d participants: %d tenths, want %d", participants, got, want)
		}
	}
}
