package isucondition

import (
	"context"
	"math/rand/v2"
	"time"
)

// checkedISU is how many ISU of an owner are checked in detail.
const checkedISU = 5

// checkOwner checks everything that an owner of the initial data can read. The
// whole history is known, so every answer must be exact.
func (ct *contest) checkOwner(ctx context.Context, o *owner) error {
	b := ct.browser(checkTimeout)
	defer b.cl.Close()
	rng := ct.s.Rand("check " + o.id)
	if err := b.signIn(ctx, o.id); err != nil {
		return err
	}
	if err := b.me(ctx, o.id); err != nil {
		return err
	}
	chairs := o.list()
	if err := b.list(ctx, chairs, true, nil); err != nil {
		return err
	}
	for _, i := range rng.Perm(len(chairs))[:min(len(chairs), checkedISU)] {
		if err := b.checkChair(ctx, rng, chairs[i]); err != nil {
			return err
		}
	}
	if err := b.signOut(ctx, false); err != nil {
		return err
	}
	if err := b.meRefused(ctx, "signout"); err != nil {
		return err
	}
	return b.post(ctx, stepSignout, "/api/signout", wantSignedOut)
}

// checkChair checks one ISU of the initial data.
func (b *browser) checkChair(ctx context.Context, rng *rand.Rand, c *chair) error {
	if _, err := b.detail(ctx, c); err != nil {
		return err
	}
	for range 2 { // the second answer may be 304, if the target supports it
		if err := b.icon(ctx, c); err != nil {
			return err
		}
	}
	if c.past.len() == 0 {
		return b.checkNothing(ctx, c, b.ct.clock.now())
	}
	last := dayOf(unixOf(c.past.times[c.past.len()-1]))
	for _, day := range []int64{last, last - daySeconds} {
		if _, err := b.graph(ctx, c, day); err != nil {
			return err
		}
	}
	for _, q := range b.queries(rng, c) {
		if _, _, err := b.conditions(ctx, c, q, nil, false); err != nil {
			return err
		}
	}
	return nil
}

// queries returns the condition queries for an ISU's initial history. Starts and
// ends lie exactly on conditions, to check that the range is half-open.
func (b *browser) queries(rng *rand.Rand, c *chair) []conditionQuery {
	n := c.past.len()
	at := func(i int) int64 { return unixOf(c.past.times[i]) }
	some := rng.IntN(n)
	level := Info + Level(rng.IntN(3))
	middle := at(n/2 + rng.IntN((n+1)/2))
	queries := []conditionQuery{
		{start: fromEver, end: b.ct.clock.now() + daySeconds, levels: allLevels},
		{start: fromEver, end: at(n - 1), levels: allLevels},
		{start: at(c.past.from(middle - int64(rng.IntN(12))*hourSeconds)), end: middle, levels: allLevels},
		{start: at(some), end: at(some) + hourSeconds, levels: setOf(level)},
		{start: at(some), end: at(some) + hourSeconds, levels: setOf(c.past.states[some].level())},
	}
	for l := Info; l <= Critical; l++ {
		queries = append(queries, conditionQuery{start: fromEver, end: at(n-1) + 1, levels: setOf(l)})
	}
	if n > pageLimit { // the second page
		queries = append(queries, conditionQuery{start: fromEver, end: at(n - pageLimit), levels: allLevels})
	}
	return queries
}

// checkNothing checks an ISU that has never posted: no conditions and an empty
// graph.
func (b *browser) checkNothing(ctx context.Context, c *chair, now int64) error {
	if _, _, err := b.conditions(ctx, c, conditionQuery{start: fromEver, end: now + daySeconds, levels: allLevels}, nil, false); err != nil {
		return err
	}
	_, err := b.graph(ctx, c, dayOf(now))
	return err
}

// patient waits for d during the checks.
func patient(ctx context.Context, d time.Duration) error {
	if !pause(ctx, d) {
		return ctx.Err()
	}
	return nil
}
