package isucondition

import (
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// recent holds the history indexes that a user saw last in GET condition, newest
// first.
type recent []int32

// see merges a page's indexes into the newest seen.
func (r recent) see(p *page) recent {
	all := append(slices.Clone(r), p.at[:p.n]...)
	slices.SortFunc(all, func(a, b int32) int { return int(b - a) })
	all = slices.Compact(all)
	return all[:min(len(all), pageLimit)]
}

// doStep executes the user's current step.
func (u *user) doStep(ctx context.Context, c *chair, m *mind) error {
	switch u.step {
	case 0:
		return u.readNew(ctx, c, m)
	case 1:
		return u.readBad(ctx, c, m)
	default:
		return u.readGraphs(ctx, c, m)
	}
}

// read reads a page of conditions and records it.
func (u *user) read(ctx context.Context, c *chair, m *mind, q conditionQuery, points bool) (page, int64, error) {
	p, fresh, err := u.conditions(ctx, c, q, m.recent, points)
	if err != nil {
		return p, 0, err
	}
	m.recent = m.recent.see(&p)
	sum := int64(0)
	for l := Info; l <= Critical; l++ {
		if fresh[l] > 0 {
			u.ct.s.Add(levelEvent(l), fresh[l])
			sum += fresh[l]
		}
	}
	u.ct.read.Add(sum)
	return p, sum, nil
}

// readNew is step 0: it reads pages of new conditions back to the last one read
// before.
func (u *user) readNew(ctx context.Context, c *chair, m *mind) error {
	q := conditionQuery{start: fromEver, end: u.ct.clock.now(), levels: allLevels}
	for {
		p, fresh, err := u.read(ctx, c, m, q, true)
		if err != nil {
			return err
		}
		if p.n > 0 {
			m.newest = max(m.newest, c.timeAt(p.at[0]))
		}
		if fresh < pageLimit {
			return nil
		}
		q.end = c.timeAt(p.at[p.n-1])
	}
}

// timeAt returns the timestamp of an index in the history.
func (c *chair) timeAt(at int32) int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return unixOf(c.past.times[at])
}

// readBad is step 1: it reads bad conditions. If there is a newer one than last
// time, it repairs its flags.
func (u *user) readBad(ctx context.Context, c *chair, m *mind) error {
	q := conditionQuery{start: fromEver, end: u.ct.clock.now(), levels: badLevels}
	p, _, err := u.read(ctx, c, m, q, false)
	if err != nil || p.n == 0 {
		return err
	}
	if newest := c.timeAt(p.at[0]); newest > m.bad {
		m.bad = newest
		if w := c.walk.Load(); w != nil {
			w.repair(p.states[0].flags())
		}
	}
	return nil
}

// readGraphs is step 2: it reads the graphs from today back to the days that are
// paid, then the conditions of one hour of them.
func (u *user) readGraphs(ctx context.Context, c *chair, m *mind) error {
	now := u.ct.clock.now()
	today, todays := dayOf(now), scenario.Event(0)
	var hours []int64 // starts of hours with conditions
	for day := today; ; day -= daySeconds {
		g, err := u.graph(ctx, c, day)
		if err != nil {
			return err
		}
		m.graphs.learn(day, &g.counts)
		if day == today {
			todays = scenario.Event(payToday(day, now, &g.counts))
		} else if band, ok := m.graphs.pay(day, &g.counts); ok {
			u.ct.s.Add(eventDay+scenario.Event(band), 1)
		}
		for h, n := range g.counts {
			if n > 0 {
				hours = append(hours, day+int64(h)*hourSeconds)
			}
		}
		if !m.graphs.needs(day - daySeconds) {
			break
		}
	}
	u.ct.s.Add(eventToday+todays, 1) // added last, because a walk that fails is repeated
	if len(hours) == 0 {
		return nil
	}
	start := hours[u.rng.IntN(len(hours))]
	_, _, err := u.read(ctx, c, m, conditionQuery{start: start, end: start + hourSeconds, levels: allLevels}, false)
	return err
}

// offerViewer adds one more viewer, up to three per user.
func (ct *contest) offerViewer() {
	for {
		n := ct.viewers.Load()
		if n >= viewersPerUser*ct.users.Load() || ct.viewersGone.Load() {
			return
		}
		if ct.viewers.CompareAndSwap(n, n+1) {
			break
		}
	}
	v := &viewer{browser: ct.browser(0)}
	ct.s.Go("viewer", v.run)
}

// untilNext waits for the rest of a loop's minimum time. It returns false if ctx
// ended.
func untilNext(ctx context.Context, begun time.Time, least time.Duration) bool {
	if wait := least - time.Since(begun); wait > 0 {
		return pause(ctx, wait)
	}
	return ctx.Err() == nil
}
