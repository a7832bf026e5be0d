package isucondition

import (
	"crypto/ecdsa"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// clockRate is the default speed of virtual time. README.md gives the reason.
const clockRate = 30000

const (
	loadTime       = 60 * time.Second
	requestTimeout = time.Second
)

// newScenario returns the benchmarker.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > 1e6 {
		return nil, fmt.Errorf("choosing the clock: %g virtual seconds per second is not between 0 and 1,000,000", o.Clock)
	}
	if o.Clock == 0 {
		o.Clock = clockRate
	}
	data, err := LoadData(o.Data)
	if err != nil {
		return nil, err
	}
	key, err := SigningKey(o.Set[keySetting])
	if err != nil {
		return nil, err
	}
	first, err := usersAtBegin(o.Set[usersSetting])
	if err != nil {
		return nil, err
	}
	ct := &contest{options: o, data: data, key: key, firstUsers: first}
	if o.NoLoad {
		return scenario.ChecksOnly(ct), nil
	}
	return ct, nil
}

// A contest is one run of the benchmarker.
type contest struct {
	options arena.Options
	data    *Data
	key     *ecdsa.PrivateKey

	firstUsers int // besides the user "isucon"

	// Made by Prepare.
	s     scenario.Session
	world *world
	clock clock
	jia   *jia

	arrivalsMu sync.Mutex
	arrivals   *arrivals

	loading       atomic.Bool
	users         atomic.Int64
	viewers       atomic.Int64
	viewersGone   atomic.Bool // true after too many timeouts: no viewer or user may come
	updates       atomic.Int64
	posts         atomic.Int64
	offered, read atomic.Int64 // conditions
}

var (
	_ scenario.Preparer = (*contest)(nil)
	_ scenario.Loader   = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isucondition", Steps: stepNames, Table: table, Load: loadTime, Timeout: requestTimeout}
}

// begin sets up the contest for a session's target.
func (ct *contest) begin(s scenario.Session) error {
	world, err := newWorld(ct.data)
	if err != nil {
		return err
	}
	j, err := newJIA(s.URL(), ct.options.Addresses)
	if err != nil {
		return err
	}
	j.find, j.activate = world.chair, ct.activate
	if err := j.listen(ct.options.Set[jiaSetting], ct.options.Set[jiaURLSetting]); err != nil {
		return err
	}
	ct.s, ct.world, ct.jia = s, world, j
	ct.arrivals = newArrivals(s.Rand("plan"), ct.data)
	return nil
}

// gauges reports figures that explain the run.
func (ct *contest) gauges() {
	registered := len(ct.world.ids())
	for _, g := range []struct {
		name, unit string
		value      float64
	}{
		{"users at the end", "", float64(ct.users.Load())},
		{"viewers at the end", "", float64(ct.viewers.Load())},
		{"ISU at the end", "", float64(registered)},
		{"ISU that post", "", float64(len(ct.world.active()))},
		{"posts sent", "", float64(ct.posts.Load())},
		{"conditions offered", "", float64(ct.offered.Load())},
		{"conditions read", "", float64(ct.read.Load())},
		{"virtual days", "", float64(ct.clock.now()-T0.Unix()) / daySeconds},
	} {
		ct.s.Gauge(g.name, g.unit, g.value)
	}
}

// work returns a digest of the work that the seed offers: users, their ISU, and
// the random events of each ISU's first virtual days.
func (ct *contest) work() float64 {
	ct.arrivalsMu.Lock()
	defer ct.arrivalsMu.Unlock()
	for _, c := range ct.world.arrivingLate() {
		w := newWalk(ct.s.Rand("walk "+c.uuid), 0)
		for range 100 {
			ts, s := w.step()
			fmt.Fprintln(ct.arrivals.digest, ts, s)
		}
	}
	return ct.arrivals.sum()
}
