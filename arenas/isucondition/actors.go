package isucondition

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Limits of the actors of the load other than users, viewers and ISU.
const (
	firstUsers    = 6 // besides the user "isucon", in the contest
	growEvery     = 5 * time.Second
	growPer       = 500 // updates seen by viewers, per user, that add one user
	patience      = 20  // timeouts per user after which no user is added any more
	malformEvery  = time.Second
	irregularEach = 500 * time.Millisecond
)

// Load starts all actors.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	ct.loading.Store(true)
	for range ct.firstUsers {
		ct.admitUser("")
	}
	ct.admitUser("isucon")
	s.Gauge("offered work (digest)", "", ct.work())
	s.Every("adder", scenario.Arrivals{First: growEvery, Period: growEvery}, ct.grow)
	m := &malformer{ct: ct, cl: s.NewClient(scenario.ClientOptions{MaxConns: 1, UserAgent: posterAgent}), rng: s.Rand("malformer")}
	s.Every("error poster", scenario.Arrivals{First: malformEvery, Period: malformEvery}, m.post)
	rng := s.Rand("error checker")
	s.Every("error checker", scenario.Arrivals{First: irregularEach, Period: irregularEach}, func(ctx context.Context, _ time.Time) {
		ct.checkRandomOwner(ctx, rng)
	})
	<-ctx.Done()
	ct.jia.close()
	ct.gauges()
	return nil
}

// grow adds users according to the updates that viewers have seen. After too many
// timeouts it makes the viewers leave and adds no users any more.
func (ct *contest) grow(context.Context, time.Time) {
	users := ct.users.Load()
	if ct.s.Timeouts() > patience*users {
		if !ct.viewersGone.Swap(true) {
			ct.s.Say("too many timeouts: no new users, all viewers leave")
		}
	}
	if ct.viewersGone.Load() {
		return
	}
	more, used := growth(ct.updates.Load(), users)
	ct.updates.Add(-used)
	for range more {
		ct.admitUser("")
	}
	if more > 0 {
		ct.s.Say("%d more users, now %d", more, users+more)
	}
}

// growth returns how many users the updates seen add, and how many of the updates
// that consumes.
func growth(updates, users int64) (more, used int64) {
	more = updates / (growPer * users)
	return more, more * growPer * users
}

// A malformer posts conditions that no target may store, and reads some of them
// back.
type malformer struct {
	ct    *contest
	cl    scenario.Client
	rng   *rand.Rand
	posts int // posts that hold a well-formed condition
}

// malformed lists conditions that are invalid as elements of a post. The first
// element of the post is well-formed; the whole post must be refused.
var malformed = []string{
	"is_dirty=false,is_overweight=false",
	"is_broken=false,is_dirty=false,is_overweight=false",
	"is_dirty=maybe,is_overweight=false,is_broken=false",
	"is_dirty=false,is_overweight=false,is_broken=false,",
	"",
}

// readBackEach is the number of malformed posts per post that is read back.
// Reading back is rare because a target without an index takes long to answer.
const readBackEach = 4

// malformedBody returns a post that must be refused whole, and its first
// timestamp. Its timestamps lie between those of all slots, so that none of its
// conditions can be confused with a posted one.
func malformedBody(kind int, now int64) (body []byte, ts int64) {
	ts = newestSlot(now)*slotSeconds + slotSeconds/2
	element := func(condition string, ts int64) string {
		return fmt.Sprintf(`{"is_sitting":true,"condition":%q,"message":"broken","timestamp":%d}`, condition, ts)
	}
	first := element(Flags(0).Condition(), ts)
	switch {
	case kind < len(malformed):
		return []byte("[" + first + "," + element(malformed[kind], ts+1) + "]"), ts
	case kind == len(malformed):
		return []byte("[" + first), ts
	default:
		return []byte("[]"), ts
	}
}

// post sends one malformed post to a random active ISU. It ignores the status,
// because the contest's app drops most posts unread. But a condition of the post
// that appears in an answer is a fault: it was never validly posted.
func (m *malformer) post(ctx context.Context, _ time.Time) {
	active := m.ct.world.active()
	if len(active) == 0 {
		return
	}
	c := active[m.rng.IntN(len(active))]
	kind := m.rng.IntN(len(malformed) + 2)
	body, ts := malformedBody(kind, m.ct.clock.now())
	res, err := m.cl.Do(ctx, &scenario.Request{Step: stepPost, Method: http.MethodPost, Path: "/api/condition/" + c.uuid,
		ContentType: "application/json", Body: body, Quiet: true})
	if err != nil {
		return
	}
	res.Release()
	if kind >= len(malformed) {
		return
	}
	if m.posts++; m.posts%readBackEach == 1 {
		m.readBack(ctx, c, ts)
	}
}

// readBack reads the seconds of a malformed post as the owner of the ISU. It
// reports only failed checks; slow answers are measured by the users.
func (m *malformer) readBack(ctx context.Context, c *chair, ts int64) {
	b := m.ct.browser(0)
	defer b.cl.Close()
	if b.signIn(ctx, c.owner.id) != nil {
		return
	}
	q := conditionQuery{start: ts, end: ts + 2, levels: allLevels}
	asked := m.ct.clock.sinceOrigin(time.Now())
	err := b.do(ctx, &scenario.Request{Step: stepCondition, Path: q.path(c.uuid), Quiet: true}, func(res *scenario.Response) error {
		_, err := checkConditions(res, c, q, asked, nil)
		return err
	})
	if scenario.KindOf(err) == iikanji.FaultCheck {
		m.ct.s.Report(err)
	}
}
