package isutrain

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
	loadTime          = 60 * time.Second
	requestTimeout    = 5 * time.Second
	checkTimeout      = 60 * time.Second // of a request before the load
	initializeTimeout = 20 * time.Second
	// refundTime is how long after the load payments may be cancelled.
	refundTime = 5 * time.Second

	// maxClock limits how much faster than in a contest refundTime passes.
	maxClock = 100
)

// newScenario returns the benchmarker. The option Clock is the speed at which pauses pass;
// 0 means the contest's, which is 1.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > maxClock {
		return nil, fmt.Errorf("choosing the clock: %g is not between 0 and %d", o.Clock, maxClock)
	}
	l, err := readLine(o.Data)
	if err != nil {
		return nil, err
	}
	ct := newContest(o, l)
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// A contest is one run of the benchmarker.
type contest struct {
	line    *line
	sums    map[string]verify.Sum
	speed   float64
	payment string // base URL of the payment service; "" until it is known

	s       scenario.Session // set by Prepare
	days    int              // that can be booked, by the answer of initialize
	timeout time.Duration    // of requests

	mu    sync.Mutex // guards what follows, and reservations
	users int
	model *model
}

func newContest(o arena.Options, l *line) *contest {
	return &contest{line: l, sums: sums(), speed: cmp.Or(o.Clock, 1), payment: o.Set[paymentSetting]}
}

var (
	_ scenario.Preparer  = (*contest)(nil)
	_ scenario.Loader    = (*contest)(nil)
	_ scenario.Validator = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isutrain", Steps: stepNames, Table: table, Load: loadTime, Timeout: checkTimeout}
}

// pause waits for a time of the rules. It returns false if the phase ended.
func (ct *contest) pause(ctx context.Context, d time.Duration) bool {
	return scenario.Sleep(ctx, time.Duration(float64(d)/ct.speed))
}

// rand returns the source of what an actor does.
func (ct *contest) rand(name string) *rand.Rand { return ct.s.Rand(name) }

// locked runs do under the lock of the model.
func (ct *contest) locked(do func()) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	do()
}

// wrong is a failed check of an answer that is not kept.
func wrong(step scenario.Step, check, format string, args ...any) error {
	f := scenario.Wrong(nil, check, format, args...)
	f.Step = step
	return f
}

// critical is a failed check that fails the run at once.
func (ct *contest) critical(step scenario.Step, check, format string, args ...any) error {
	err := wrong(step, check, format, args...)
	ct.s.Fail(err)
	return err
}
