package isucondition

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// userPause is the minimum time between the starts of two iterations of a user.
const userPause = 10 * time.Millisecond

// leaves is the probability that a user signs out after a step.
const leaves = 0.2

// A user is an owner under load. The user visits each ISU in turn, with three
// steps per ISU.
type user struct {
	*browser
	owner  *owner
	rng    *rand.Rand
	chairs []*chair // in order of registration
	minds  []mind   // same order as chairs
	next   int      // index of the current chair
	step   int
}

// A mind is what a user remembers of one ISU.
type mind struct {
	newest int64 // timestamp of the newest condition read
	bad    int64 // timestamp of the newest bad condition read
	recent recent
	graphs *ledger
}

// admitUser starts a new user, with the given id or, if it is empty, the next id
// that the seed offers.
func (ct *contest) admitUser(id string) {
	ct.arrivalsMu.Lock()
	next := ct.arrivals.next(id)
	ct.arrivalsMu.Unlock()
	o, chairs := ct.world.admit(next)
	u := &user{browser: ct.browser(0), owner: o, rng: ct.s.Rand("user " + o.id), chairs: chairs, minds: make([]mind, len(chairs))}
	ct.users.Add(1)
	ct.s.Go("user", u.run)
}

// run executes the user's iterations until the phase ends.
func (u *user) run(ctx context.Context) {
	defer u.cl.Close()
	if !u.arrive(ctx) {
		return
	}
	for ctx.Err() == nil {
		begun := time.Now()
		if err := u.iterate(ctx); err != nil {
			u.ct.s.Report(err)
		}
		untilNext(ctx, begun, userPause)
	}
}

// arrive signs up and registers all chairs. It returns false if the phase ended.
func (u *user) arrive(ctx context.Context) bool {
	if !u.enter(ctx) {
		return false
	}
	for i, c := range u.chairs {
		if !u.ct.insist(ctx, func() error { return u.register(ctx, c) }) {
			return false
		}
		u.minds[i].graphs = newLedger(u.ct.clock.now())
	}
	return true
}

// enter loads the landing page and signs in, and repeats until it succeeds.
func (u *user) enter(ctx context.Context) bool {
	return u.ct.insist(ctx, func() error { return u.landing(ctx, "/") }) &&
		u.glanceAtTrend(ctx) &&
		u.ct.insist(ctx, func() error { return u.signIn(ctx, u.owner.id) }) &&
		u.ct.insist(ctx, func() error { return u.me(ctx, u.owner.id) }) &&
		u.ct.insist(ctx, func() error { return u.home(ctx) })
}

// glanceAtTrend requests the trend that the landing page shows, without waiting
// for the answer.
func (u *user) glanceAtTrend(ctx context.Context) bool {
	u.ct.s.Go("glance", func(ctx context.Context) {
		res, err := u.cl.Do(ctx, &scenario.Request{Step: stepTrend, Path: "/api/trend", Quiet: true})
		if err == nil {
			res.Release()
		}
	})
	return ctx.Err() == nil
}

// home loads the list page with its icons.
func (u *user) home(ctx context.Context) error {
	chairs := u.owner.list()
	if err := u.list(ctx, chairs, false, nil); err != nil {
		return err
	}
	return u.icons(ctx, chairs)
}

// iterate is one iteration: the list page, the ISU's page, one step. After an
// error the state is unchanged, so that the step is repeated.
func (u *user) iterate(ctx context.Context) error {
	c, m := u.chairs[u.next], &u.minds[u.next]
	shown := u.owner.list()
	latest := int64(0)
	err := u.list(ctx, shown, false, func(i int, ts int64) {
		if shown[i] == c {
			latest = ts
		}
	})
	if err != nil {
		return err
	}
	if err := u.icons(ctx, shown); err != nil {
		return err
	}
	if u.step == 0 && latest <= m.newest {
		u.finish()
		return nil
	}
	if _, err := u.detail(ctx, c); err != nil {
		return err
	}
	if err := u.icon(ctx, c); err != nil {
		return err
	}
	if err := u.doStep(ctx, c, m); err != nil {
		return err
	}
	if u.step++; u.step == 3 {
		u.finish()
	}
	if u.rng.Float64() < leaves {
		u.comeBack(ctx)
	}
	return nil
}

// finish moves on to the next chair and offers one more viewer.
func (u *user) finish() {
	u.step = 0
	u.next = (u.next + 1) % len(u.chairs)
	u.ct.offerViewer()
}

// comeBack signs out, verifies it, and signs in again with an empty browser.
func (u *user) comeBack(ctx context.Context) {
	again := false
	if !u.ct.insist(ctx, func() error {
		err := u.signOut(ctx, again)
		again = true
		return err
	}) {
		return
	}
	u.ct.insist(ctx, func() error { return u.meRefused(ctx, "signout") })
	u.forget()
	u.enter(ctx)
}
