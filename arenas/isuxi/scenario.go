package isuxi

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	loadTime          = 60 * time.Second
	requestTimeout    = 30 * time.Second
	initializeTimeout = 30 * time.Second
	// checksTimeout limits the checks before the load.
	checksTimeout = 90 * time.Second
	// visibleWithin is how long a write may need to be visible for others.
	visibleWithin = time.Second

	// maxClock limits how much faster than in a contest pauses pass.
	maxClock = 100
)

// newScenario returns the benchmarker. The option Clock is the speed at which pauses pass;
// 0 means the contest's, which is 1.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > maxClock {
		return nil, fmt.Errorf("choosing the clock: %g is not between 0 and %d", o.Clock, maxClock)
	}
	d, err := readDataset(o.Data)
	if err != nil {
		return nil, err
	}
	ct, err := newContest(o, d)
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
	data  *dataset
	speed float64
	poll  time.Duration
	part  scenario.Part // of a sharded run

	s     scenario.Session // set by Prepare, as all below
	set   *userSet
	users []*user // of the set
	tally *tally
	draft draft  // of the checks
	day   string // on which the run began

	mu      sync.Mutex // guards what follows
	entries []posted   // titles by their authors, of answered requests
	remarks []remark   // answered comments
	made    []bond     // friendships
}

// A posted entry, comment or friendship was acknowledged by the target.
type (
	posted struct {
		by    *user
		title string
	}
	remark struct {
		by    *user
		entry string // its path
		text  string
	}
	bond struct{ one, another *user }
)

func newContest(o arena.Options, d *dataset) (*contest, error) {
	poll, err := pollOf(o.Set)
	return &contest{data: d, speed: cmp.Or(o.Clock, 1), poll: poll}, err
}

var (
	_ scenario.Preparer  = (*contest)(nil)
	_ scenario.Loader    = (*contest)(nil)
	_ scenario.Validator = (*contest)(nil)
	_ scenario.Shardable = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isuxi", Steps: stepNames, Table: table, Load: loadTime, Timeout: requestTimeout}
}

// begin draws the users of the run.
func (ct *contest) begin(s scenario.Session) {
	ct.s, ct.tally, ct.day = s, new(tally), today()
	ct.set = &ct.data.Sets[ct.rand("set").IntN(len(ct.data.Sets))]
	for _, m := range ct.set.Users {
		ct.users = append(ct.users, &user{ct: ct, member: m, cl: s.NewClient(scenario.ClientOptions{UserAgent: userAgent})})
	}
}

// today is the day of the site, by which footprints are grouped.
func today() string { return time.Now().In(tokyo).Format(time.DateOnly) }

// pause waits for a time of the rules. It returns false if the phase ended.
func (ct *contest) pause(ctx context.Context, d time.Duration) bool {
	return scenario.Sleep(ctx, time.Duration(float64(d)/ct.speed))
}

// rand returns the source of what an actor does.
func (ct *contest) rand(name string) *rand.Rand { return ct.s.Rand(name) }

// locked runs do under the lock of what was acknowledged.
func (ct *contest) locked(do func()) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	do()
}

// digits draws a text that no earlier row has.
func digits(r *rand.Rand) string { return fmt.Sprintf("%016d", r.Uint64N(1e16)) }
