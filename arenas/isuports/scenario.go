package isuports

import (
	"cmp"
	"context"
	"crypto/rsa"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	loadTime = 60 * time.Second

	// allowedDelay is how late billing may follow the end of a competition, and
	// refusals a disqualification.
	allowedDelay = 3 * time.Second

	// maxClock limits how much faster than in a contest the pauses pass.
	maxClock = 100
)

// newScenario returns the benchmarker. The option Clock is the speed at which all
// pauses and allowed delays pass; 0 means the contest's, which is 1.
func newScenario(o arena.Options) (scenario.Scenario, error) {
	if o.Clock < 0 || o.Clock > maxClock {
		return nil, fmt.Errorf("choosing the clock: %g is not between 0 and %d", o.Clock, maxClock)
	}
	data, err := readDataset(o.Data)
	if err != nil {
		return nil, err
	}
	key, err := readSigningKey(o.Set[keySetting])
	if err != nil {
		return nil, err
	}
	public, err := fs.Sub(webapp, "public")
	if err != nil {
		return nil, fmt.Errorf("opening the static files: %w", err)
	}
	ct, err := newContest(o, data, key, public)
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
	data   *Dataset
	key    *rsa.PrivateKey
	static []staticFile
	domain string
	speed  float64
	// tooSlow is the time of a ranking from which it counts as slow. The clock does
	// not change it.
	tooSlow time.Duration

	s scenario.Session // set by Prepare

	mu      sync.Mutex
	plan    *plan
	tenants []*tenant           // in the order of their ids
	ids     map[string]struct{} // of the players and competitions of this run

	guests  atomic.Int64 // permanent player workers
	left    atomic.Int64 // those that left
	workers atomic.Int64 // organizers under load
	rounds  atomic.Int64
	walks   atomic.Int64
	putOff  atomic.Int64 // answers with status 429
}

// newContest returns a run on initial data, with the static files of public.
func newContest(o arena.Options, data *Dataset, key *rsa.PrivateKey, public fs.FS) (*contest, error) {
	static, err := staticFiles(public)
	if err != nil {
		return nil, err
	}
	return &contest{data: data, key: key, static: static, domain: cmp.Or(o.Set[domainSetting], defaultDomain),
		speed: cmp.Or(o.Clock, 1), tooSlow: tooSlow}, nil
}

var (
	_ scenario.Preparer = (*contest)(nil)
	_ scenario.Loader   = (*contest)(nil)
)

// Info describes the benchmarker.
func (ct *contest) Info() scenario.Info {
	return scenario.Info{Name: "isuports", Steps: stepNames, Table: table, Load: loadTime, Timeout: requestTimeout}
}

// begin sets up the contest for a session.
func (ct *contest) begin(s scenario.Session) {
	ct.s, ct.plan = s, newPlan(s)
	ct.ids = map[string]struct{}{}
	ct.tenants = nil
	for i := range ct.data.Tenants {
		ct.tenants = append(ct.tenants, initialTenant(&ct.data.Tenants[i]))
	}
}

// span converts a time of the rules to the speed of the run.
func (ct *contest) span(d time.Duration) time.Duration {
	return time.Duration(float64(d) / ct.speed)
}

// pause waits for a time of the rules. It returns false if the phase ended.
func (ct *contest) pause(ctx context.Context, d time.Duration) bool {
	return scenario.Sleep(ctx, ct.span(d))
}

// addTenant records a tenant. It returns false if another tenant has its id.
func (ct *contest) addTenant(t *tenant) bool {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	i, taken := slices.BinarySearchFunc(ct.tenants, t.id, func(t *tenant, id int64) int { return cmp.Compare(t.id, id) })
	if !taken {
		ct.tenants = slices.Insert(ct.tenants, i, t)
	}
	return !taken
}

// tenant returns the known tenant of an id, nil for an unknown one.
func (ct *contest) tenant(id int64) *tenant {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	i, found := slices.BinarySearchFunc(ct.tenants, id, func(t *tenant, id int64) int { return cmp.Compare(t.id, id) })
	if !found {
		return nil
	}
	return ct.tenants[i]
}

// initial reports whether an id is one that the initial data may have.
func (ct *contest) initial(id int64) bool { return id <= int64(len(ct.data.Tenants)) }

// tenantsBelow returns up to n known tenants with an id below before, the highest
// first; with before 0, of all.
func (ct *contest) tenantsBelow(before int64, n int) (list []*tenant) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, t := range slices.Backward(ct.tenants) {
		if len(list) == n {
			break
		}
		if before == 0 || t.id < before {
			list = append(list, t)
		}
	}
	return list
}

// noID is the id that no player and no competition may have.
const noID = "0000000000"

// checkID checks that a new id is not in use.
func (ct *contest) checkID(res *scenario.Response, id string) error {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	if _, taken := ct.ids[id]; taken || id == "" || id == noID {
		return scenario.Wrong(res, "id-unique", "id %.40q is empty, reserved or in use", id)
	}
	ct.ids[id] = struct{}{}
	return nil
}

// planned returns the next tenant that the seed offers.
func (ct *contest) planned() tenantPlan {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	return ct.plan.tenant()
}

// gauges reports figures that explain the run.
func (ct *contest) gauges() {
	ct.mu.Lock()
	tenants := len(ct.tenants)
	ct.mu.Unlock()
	for _, g := range []struct {
		name  string
		value int64
	}{
		{"tenants at the end", int64(tenants)},
		{"organizers at the end", ct.workers.Load()},
		{"players at the end", ct.guests.Load()},
		{"players who left", ct.left.Load()},
		{"competition rounds", ct.rounds.Load()},
		{"walks over the billing", ct.walks.Load()},
		{"growth refused with 429", ct.putOff.Load()},
	} {
		ct.s.Gauge(g.name, "", float64(g.value))
	}
}
