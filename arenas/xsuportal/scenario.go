package xsuportal

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	loadTime = 60 * time.Second

	// maxClock limits how much faster than in a contest the pauses pass.
	maxClock = 100
)

// newScenario returns the benchmarker. The option Clock is the speed at which all pauses
// pass; 0 means the contest's, which is 1. The times of the simulated contest are shares of
// the load.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > maxClock {
		return nil, fmt.Errorf("choosing the clock: %g is not between 0 and %d", o.Clock, maxClock)
	}
	r, err := rulesOf(o.Set)
	if err != nil {
		return nil, err
	}
	ct := &contest{rules: r, speed: cmp.Or(o.Clock, 1), noLoad: o.NoLoad}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// A contest is one run of the benchmarker, in which a contest takes place.
type contest struct {
	rules  rules
	speed  float64
	noLoad bool // the run ends behind the checks

	s      scenario.Session // set by Prepare, as are those below
	times  times
	seen   checkedBoard
	stop   time.Time // when the actors of the load stop
	queue  string    // URL of the benchmark server
	push   *pushService
	nonces atomic.Int64 // of reports

	mu           sync.Mutex // guards what follows, and the model
	numbers      int        // teams that have begun to register
	stopped      bool       // no further team registers
	teams        map[int64]*team
	half         map[string]*team // teams whose creation has no known outcome, by name
	participants int
	hosts        map[string]*team
	handed       map[int64]bool // jobs that the queue has handed out
	questions    []*question
	byText       map[string]*question
	lastMark     time.Time
	viewers      int
	finishedRuns int
	lostViewers  int
	pushed       int
}

var (
	_ scenario.Preparer  = (*contest)(nil)
	_ scenario.Loader    = (*contest)(nil)
	_ scenario.Validator = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "xsuportal", Steps: stepNames, Table: table, Load: loadTime, Timeout: requestTimeout}
}

// begin forgets what the benchmarker knows of the target.
func (ct *contest) begin(s scenario.Session) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	ct.s = s
	ct.numbers, ct.stopped, ct.participants = 0, false, 0
	ct.teams, ct.half, ct.hosts = map[int64]*team{}, map[string]*team{}, map[string]*team{}
	ct.handed, ct.questions, ct.byText = map[int64]bool{}, nil, map[string]*question{}
	ct.viewers, ct.finishedRuns, ct.lostViewers, ct.pushed = 0, 0, 0, 0
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

// gauges reports figures that explain the run.
func (ct *contest) gauges() {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	answered := 0
	for _, q := range ct.questions {
		if !q.put.IsZero() {
			answered++
		}
	}
	for _, g := range []struct {
		name  string
		value int
	}{
		{"teams", len(ct.teams)},
		{"participants", ct.participants},
		{"questions asked", len(ct.questions)},
		{"questions answered", answered},
		{"viewers at the end", ct.viewers - ct.lostViewers},
		{"viewers lost", ct.lostViewers},
		{"notifications pushed", ct.pushed},
	} {
		ct.s.Gauge(g.name, "", float64(g.value))
	}
}
