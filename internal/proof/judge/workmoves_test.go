package judge

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
)

// worked is a run of 1,000 requests whose services used so many seconds of CPU time.
func worked(id int, app, database, rows float64) *iikanji.Run {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return &iikanji.Run{ID: iikanji.RunID(id), Outcome: iikanji.Passed, Score: 1000, Steps: []iikanji.StepStat{{Count: 1000}},
		Counts: map[string]float64{"rows examined": rows},
		Usage:  []iikanji.Usage{{Who: "app", User: seconds(app)}, {Who: "database", User: seconds(database)}, {Who: "generator", User: time.Hour}}}
}

// TestWorkMoved: CPU time counts by its share of all services, so that a small service cannot seem
// to save much; what only one of two runs counted is left out.
func TestWorkMoved(t *testing.T) {
	before, after := Work(worked(1, 9, 1, 500)), Work(worked(2, 9, 0.5, 250))
	delete(after, "app CPU")
	moved := WorkMoved(after, before)
	for name, want := range map[string]float64{"database CPU": -0.05, "rows examined": -0.5} {
		if d := moved[name] - want; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s moved by %v, want %v", name, moved[name], want)
		}
	}
	if _, ok := moved["app CPU"]; ok || len(MeanWork(nil)) != 0 {
		t.Errorf("%v", moved)
	}
}

// TestWorkSays: one pair shows which changes alter the work of a request, if the noise of work is
// known, and says nothing of a site without counters.
func TestWorkSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noisy := func(x float64) float64 { return x * (1 + 0.002*rng.NormFloat64()) }
	id := 0
	run := func(app, database, rows float64) *iikanji.Run {
		id++
		return worked(id, noisy(app), noisy(database), noisy(rows))
	}
	var aa []*iikanji.Run
	for range 8 {
		aa = append(aa, run(4, 6, 100))
	}
	j := Judge{Work: LearnWork([][]*iikanji.Run{aa})}
	for _, c := range []struct {
		name                string
		app, database, rows float64
		want                WorkSays
	}{
		{"nothing", 4, 6, 100, WorkSays{Idle: true}},
		{"less of the database", 4, 5, 100, WorkSays{Saves: true}},
		{"fewer rows", 4, 6, 60, WorkSays{Saves: true}},
		{"more", 5, 6, 100, WorkSays{}},
		{"moved to the app", 5, 5, 100, WorkSays{}},
	} {
		if got := j.WorkSays([]Pair{{A: run(4, 6, 100), B: run(c.app, c.database, c.rows)}}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	bare := []Pair{{A: &iikanji.Run{ID: 1, Outcome: iikanji.Passed, Score: 10, Steps: []iikanji.StepStat{{Count: 10}}},
		B: &iikanji.Run{ID: 2, Outcome: iikanji.Passed, Score: 10, Steps: []iikanji.StepStat{{Count: 10}}}}}
	if got := j.WorkSays(bare); got != (WorkSays{}) {
		t.Errorf("without counters: %+v", got)
	}
	if got := (Judge{}).WorkSays([]Pair{{A: run(4, 6, 100), B: run(4, 6, 100)}}); got.Idle {
		t.Error("one pair whose noise is not known says that nothing moved")
	}
}

// TestWorkOdds: what alters no work is less likely a gain, and what saves some more likely.
func TestWorkOdds(t *testing.T) {
	idle, saves, costs := WithOdds(0.5, WorkOdds(0, 0)), WithOdds(0.5, WorkOdds(1, 0)), WithOdds(0.5, WorkOdds(0, 1))
	if !(idle < costs && costs < 0.5 && 0.5 < saves && saves < 1) || WithOdds(0.3, 1) != 0.3 {
		t.Errorf("idle %v, costs %v, saves %v", idle, costs, saves)
	}
}
