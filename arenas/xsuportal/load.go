package xsuportal

import (
	"context"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Times of the rules.
const (
	registerEnd = time.Second            // before the start of the contest: no further team registers
	stopBefore  = 500 * time.Millisecond // before the end of the contest: nobody does anything
	errorPause  = 100 * time.Millisecond // after an error, before the next try
	// pushGrace is how long messages are taken after the load at most.
	pushGrace = time.Minute
)

// Load lets the contest take place: teams register, then each of their members acts until
// half a second before the end.
func (ct *contest) Load(ctx context.Context, s scenario.Session) error {
	s.Gauge("offered work (digest)", "", work(s))
	ct.push.forget() // the subscriptions of the checks
	// Validate closes the push service, unless the run ends without.
	context.AfterFunc(ctx, func() { time.AfterFunc(pushGrace, ct.push.close) })
	load := ct.times.end.Sub(ct.times.open)
	lastTeam := ct.times.start.Add(-min(ct.span(registerEnd), load/60))
	ct.stop = ct.times.end.Add(-min(ct.span(stopBefore), load/60))
	ctx, cancel := ct.play(ctx)
	defer cancel()
	s.Go("admin", ct.player(ct.adminLoop))
	ct.register(ctx, lastTeam)
	ct.mu.Lock()
	teams := len(ct.teams)
	ct.mu.Unlock()
	if ctx.Err() == nil && teams == 0 {
		return wrong(stepCreateTeam, "no-team", "no team has registered")
	}
	<-ctx.Done()
	ct.gauges()
	return nil
}

// play returns a context that ends when the actors of the contest stop. It has no deadline,
// because a request that a deadline cuts counts as a timeout.
func (ct *contest) play(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(time.Until(ct.stop), cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// player makes an actor that stops when the others do.
func (ct *contest) player(actor func(ctx context.Context)) func(ctx context.Context) {
	return func(ctx context.Context) {
		ctx, cancel := ct.play(ctx)
		defer cancel()
		actor(ctx)
	}
}

// register has teams register until a time, or until the target refuses one because there are
// enough. Some begin at once; half as many join them then, and again each second. It returns
// at the start of the contest.
func (ct *contest) register(ctx context.Context, last time.Time) {
	registering, cancel := context.WithDeadline(ctx, last)
	defer cancel()
	var all sync.WaitGroup
	begin := func(n int) {
		for range n {
			all.Go(func() {
				for registering.Err() == nil && ct.registerTeam(ctx) {
				}
			})
		}
	}
	first, more := ct.registrars()
	begin(first)
	for registering.Err() == nil && !ct.closed() {
		begin(more)
		ct.pause(registering, time.Second)
	}
	all.Wait()
	scenario.Sleep(ctx, time.Until(ct.times.start))
	ct.mu.Lock()
	defer ct.mu.Unlock()
	for _, t := range ct.teams {
		ct.participants += t.joined
		if t.complete {
			ct.start(t)
		}
	}
}

// registrars are how many teams register at once at the begin, and join them then and each
// second. A load that is shorter than the contest's begins with fewer: its registration is
// shorter, too.
func (ct *contest) registrars() (first, more int) {
	const least = 2
	first = ct.rules.registrars
	if load := ct.times.end.Sub(ct.times.open); load < loadTime {
		first = max(min(least, first), int(int64(first)*int64(load)/int64(loadTime)))
	}
	return first, (first + 1) / 2
}

// closed reports whether no further team can register.
func (ct *contest) closed() bool {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	return ct.stopped
}

// start starts the actors of a team. The caller holds the lock.
func (ct *contest) start(t *team) {
	ct.s.Go("developer", ct.player(func(ctx context.Context) { ct.enqueueLoop(ctx, t) }))
	ct.s.Go("operator", ct.player(func(ctx context.Context) { ct.viewLoop(ctx, t) }))
	if t.asks {
		ct.s.Go("leader", ct.player(func(ctx context.Context) { ct.askLoop(ctx, t) }))
	}
}
