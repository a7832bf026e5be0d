package bench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Counts are what a shard has counted in the load so far, or the sums of all others.
type Counts struct {
	Events   []int64 `json:"events,omitempty"` // by event
	Errors   int64   `json:"errors,omitempty"`
	Timeouts int64   `json:"timeouts,omitempty"`
	// Fatal is why the run has failed in a shard; "" if it has not.
	Fatal string `json:"fatal,omitempty"`
}

// A Link connects a shard with the others of its run.
type Link interface {
	// Prepared returns when the first shard has prepared the target. The first shard itself
	// calls it when it has.
	Prepared(ctx context.Context) error
	// Ready says that this shard can begin its load. It returns when the load of all begins,
	// by the clock of this process.
	Ready(ctx context.Context) (time.Time, error)
	// Exchange tells what this shard has counted and returns the sums of the others. stop is
	// why the run ends at once; "" if it goes on.
	Exchange(ctx context.Context, own Counts) (others Counts, stop string, err error)
	// Loaded says that no Exchange follows.
	Loaded()
}

// ErrNotShardable is the error of a scenario whose load cannot be divided.
var ErrNotShardable = errors.New("the load of this benchmarker cannot be divided among several generators")

// exchangeEvery is how often shards exchange their counts.
const exchangeEvery = 100 * time.Millisecond

// A linked has what a session knows of the other shards of its run.
type linked struct {
	part   scenario.Part
	link   Link
	began  time.Time // of the load
	events []atomic.Int64

	errors, timeouts atomic.Int64
}

// RunPart runs one part of a sharded run and returns what it measured. As for Run, an error means
// that the part could not start.
func RunPart(ctx context.Context, sc scenario.Scenario, p scenario.Part, link Link, o Options) (*Measured, error) {
	whole, ok := sc.(scenario.Shardable)
	if !ok {
		return nil, ErrNotShardable
	}
	if err := whole.Shard(p); err != nil {
		return nil, err
	}
	l := &linked{part: p, link: link, events: make([]atomic.Int64, len(sc.Info().Table.Events))}
	s, run, err := measure(ctx, sc, o, l)
	if err != nil {
		return nil, err
	}
	return s.measured(ctx, run), nil
}

// first reports whether a session is a whole run, or the first shard of one.
func (l *linked) first() bool { return l == nil || l.part.First() }

// add adds what the other shards have counted to a shard's own sums.
func (l *linked) add(counts []int64) []int64 {
	if l == nil {
		return counts
	}
	for i := range counts {
		counts[i] += l.events[i].Load()
	}
	return counts
}

func (l *linked) allErrors(own int64) int64 {
	if l == nil {
		return own
	}
	return own + l.errors.Load()
}

func (l *linked) allTimeouts(own int64) int64 {
	if l == nil {
		return own
	}
	return own + l.timeouts.Load()
}

// preparing is what a session does before its load; nil for nothing.
func (s *session) preparing() func(context.Context, scenario.Session) error {
	if !s.linked.first() {
		return s.sc.(scenario.Shardable).Join
	}
	if sc, ok := s.sc.(scenario.Preparer); ok {
		return sc.Prepare
	}
	return nil
}

// awaitPrepared waits in a later shard until the first one has prepared the target.
func (s *session) awaitPrepared(ctx context.Context) bool {
	if s.linked.first() {
		return true
	}
	if err := s.linked.link.Prepared(ctx); err != nil {
		s.stop(err.Error())
		return false
	}
	return true
}

// stop ends the run at once for a reason that lies in another shard.
func (s *session) stop(why string) {
	s.mu.Lock()
	s.stopped = why
	s.mu.Unlock()
	s.current().cancel()
}

// awaitBegin waits until the load of all shards begins.
func (s *session) awaitBegin(ctx context.Context) bool {
	l := s.linked
	if l == nil {
		return true
	}
	if l.part.First() {
		if err := l.link.Prepared(ctx); err != nil {
			s.stop(err.Error())
			return false
		}
	}
	at, err := l.link.Ready(ctx)
	if err != nil {
		s.stop(err.Error())
		return false
	}
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	l.began = time.Now()
	return true
}

// exchange exchanges counts with the other shards until end is called.
func (s *session) exchange(ctx context.Context) (end func()) {
	l := s.linked
	if l == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticks := time.NewTicker(exchangeEvery)
		defer ticks.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticks.C:
				s.exchangeOnce(ctx)
			}
		}
	}()
	return func() {
		close(quit)
		<-done
		l.link.Loaded()
	}
}

// exchangeOnce tells the shard's counts, takes those of the others, and ends the load where the
// run ends.
func (s *session) exchangeOnce(ctx context.Context) {
	l := s.linked
	others, stop, err := l.link.Exchange(ctx, s.counts())
	if err != nil {
		stop = err.Error()
	}
	for i := range min(len(l.events), len(others.Events)) {
		l.events[i].Store(others.Events[i])
	}
	l.errors.Store(others.Errors)
	l.timeouts.Store(others.Timeouts)
	if limit := s.info.Table.MaxErrors; stop == "" && limit > 0 && l.allErrors(s.errors.Load()) > limit {
		stop = tooMany(limit)
	}
	if stop != "" {
		s.stop(stop)
	}
}

// counts are what this shard has counted.
func (s *session) counts() Counts {
	c := Counts{Events: s.events.all(), Errors: s.errors.Load(), Timeouts: s.timeouts.Load()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fatal) > 0 {
		c.Fatal = s.fatal[0]
	}
	return c
}

// limited is why a generator was the limit.
func limited(g *iikanji.Generator) string {
	if g.Void {
		return g.Why
	}
	return ""
}
