package isucholar

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/contest/arena/kit/verify"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	loadTime = 60 * time.Second

	// maxClock limits how much faster than in a contest the pauses pass.
	maxClock = 100
)

// newScenario returns the benchmarker. The option Clock is the speed at which all pauses
// pass; 0 means the contest's, which is 1.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > maxClock {
		return nil, fmt.Errorf("choosing the clock: %g is not between 0 and %d", o.Clock, maxClock)
	}
	data, err := readDataset(o.Data)
	if err != nil {
		return nil, err
	}
	ct, err := newContest(o, data)
	if err != nil {
		return nil, err
	}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// A contest is one run of the benchmarker.
type contest struct {
	data  *Dataset
	rules rules
	sums  map[string]verify.Sum
	speed float64

	s   scenario.Session // set by Prepare
	ids ulids

	mu       sync.Mutex // guards what follows, and students, courses and classes
	plan     *plan
	students []*student // active, in the order of their activation
	courses  []*course  // of the load
	byID     map[string]*course
	waiting  []*course // that can be registered, the oldest first
	teachers map[string]*teacherSession
	pairs    int // of a student and a finished course
	grown    int // students that came for them
	finished int // courses
	exports  int
	open     []unfinished
	// lostCourse is set when it is not known whether the target has created a course.
	lostCourse bool
}

// newContest returns a run on initial data.
func newContest(o arena.Options, data *Dataset) (*contest, error) {
	r, err := rulesOf(o.Set)
	if err != nil {
		return nil, err
	}
	if r.students > len(data.Students) {
		r.students = len(data.Students)
	}
	return &contest{data: data, rules: r, sums: sums(), speed: cmp.Or(o.Clock, 1)}, nil
}

var (
	_ scenario.Preparer  = (*contest)(nil)
	_ scenario.Loader    = (*contest)(nil)
	_ scenario.Validator = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isucholar", Steps: stepNames, Table: table, Load: loadTime, Timeout: requestTimeout}
}

// begin sets up the contest for a session.
func (ct *contest) begin(s scenario.Session) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	ct.s, ct.plan = s, newPlan(s, ct.data)
	ct.students, ct.courses, ct.waiting, ct.open = nil, nil, nil, nil
	ct.byID, ct.teachers = map[string]*course{}, map[string]*teacherSession{}
	ct.pairs, ct.grown, ct.finished, ct.exports, ct.lostCourse = 0, 0, 0, 0, false
}

// span converts a time of the rules to the speed of the run.
func (ct *contest) span(d time.Duration) time.Duration {
	return time.Duration(float64(d) / ct.speed)
}

// pause waits for a time of the rules. It returns false if the phase ended.
func (ct *contest) pause(ctx context.Context, d time.Duration) bool {
	return scenario.Sleep(ctx, ct.span(d))
}

// rand returns the source of what an actor does.
func (ct *contest) rand(name string) *rand.Rand { return ct.s.Rand(name) }

// locked runs do under the lock of the model.
func (ct *contest) locked(do func()) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	do()
}

// gauges reports figures that explain the run.
func (ct *contest) gauges() {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, g := range []struct {
		name  string
		value int
	}{
		{"students at the end", len(ct.students)},
		{"courses opened", len(ct.courses)},
		{"courses finished", ct.finished},
		{"classes exported", ct.exports},
		{"writes open at the end", len(ct.open)},
	} {
		ct.s.Gauge(g.name, "", float64(g.value))
	}
}
