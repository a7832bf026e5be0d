package isucholar

import (
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// smallLoad makes a load in which courses finish soon.
var smallLoad = arena.Values{studentsSetting: "6", coursesSetting: "20", seatsSetting: "6", growthSetting: "30"}

// perfectContest returns the benchmarker for a perfect app.
func perfectContest(t *testing.T) (*contest, *perfectApp) {
	t.Helper()
	data := smallSize.draw()
	ct, err := newContest(arena.Options{Clock: 10, Set: smallLoad}, data)
	if err != nil {
		t.Fatal(err)
	}
	return ct, &perfectApp{data: data}
}

// A perfect load is tried with more time until it has reached everything, on a machine of
// any speed.
const (
	leastLoad = 2 * time.Second
	mostLoad  = 64 * time.Second
)

// runPerfect runs the benchmarker against an app for some time. There must be no fault, and
// no goroutine may be left.
func runPerfect(t *testing.T, load time.Duration) *iikanji.Run {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ct, app := perfectContest(t)
	server := httptest.NewServer(app.routes())
	defer server.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: load})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	if run.Outcome == iikanji.Failed || run.Raw <= 0 {
		t.Fatalf("the run %s: %v", run.Outcome, run.Reasons)
	}
	server.Close()
	for deadline := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after the run, %d before it", runtime.NumGoroutine(), goroutines)
		}
	}
	return run
}

// count returns the number of requests of a step.
func count(run *iikanji.Run, step scenario.Step) int64 {
	for _, s := range run.Steps {
		if s.Step == stepNames[step] {
			return s.Count
		}
	}
	return 0
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

// TestPerfectApp: courses finish, students come for them and look at their grades, and
// nothing is a fault, before the load, under it and after it.
func TestPerfectApp(t *testing.T) {
	for load := leastLoad; ; load *= 2 {
		run := runPerfect(t, load)
		if t.Failed() {
			return
		}
		finished, came, grades := gauge(t, run, "courses finished"), gauge(t, run, "students at the end"), count(run,
			stepGrades)
		t.Logf("%v: score %.0f, %.0f courses finished, %.0f students, %d looks at grades, %.0f open writes", load, run.Score,
			finished, came, grades,
			gauge(t, run, "writes open at the end"))
		if finished > 30 && came > 7 && grades > 0 {
			return
		}
		if load > mostLoad {
			t.Fatal("the load did not grow")
		}
	}
}
