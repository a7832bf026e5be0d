package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/bench"
)

// A group is the generators of one run, as the first of them sees them.
type group struct {
	ahead    time.Duration // from the last ready generator to the begin of the load
	prepared chan struct{} // closed when the target is prepared
	begun    chan struct{} // closed when start is known
	over     chan struct{} // closed when the run ends before its time

	mu       sync.Mutex
	counts   []bench.Counts
	ready    map[int]bool
	start    time.Time
	measured []*bench.Measured
	why      string // why the run ends before its time
	lost     bool   // why is that a generator is lost
}

func newGroup(n int, ahead time.Duration) *group {
	return &group{ahead: ahead, prepared: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{}),
		counts: make([]bench.Counts, n), ready: map[int]bool{}, measured: make([]*bench.Measured, n)}
}

// end ends the run; the first reason counts.
func (g *group) end(why string, lost bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why != "" {
		return
	}
	g.why, g.lost = why, lost
	close(g.over)
}

// ending is why the run ends before its time; "" if it goes on.
func (g *group) ending() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// lostWhy is why the run is void; "" if no generator is lost.
func (g *group) lostWhy() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost {
		return g.why
	}
	return ""
}

// wait waits for one of the channels above, or the end.
func (g *group) wait(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	default:
	}
	select {
	case <-c:
		return nil
	case <-g.over:
		return errors.New(g.ending())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isReady notes that a generator can begin; the last one sets the instant.
func (g *group) isReady(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready[n] {
		return
	}
	if g.ready[n] = true; len(g.ready) == len(g.counts) {
		g.start = time.Now().Add(g.ahead)
		close(g.begun)
	}
}

// begins is when the load begins.
func (g *group) begins() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.start
}

// exchange notes the counts of a generator. It returns the sums of the others, and why the run
// ends.
func (g *group) exchange(n int, own bench.Counts) (others bench.Counts, stop string) {
	if own.Fatal != "" {
		g.end(fmt.Sprintf("generator %d failed: %s", n+1, own.Fatal), false)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts[n] = own
	others.Events = make([]int64, len(own.Events))
	for i, c := range g.counts {
		if i == n {
			continue
		}
		for e := range min(len(c.Events), len(others.Events)) {
			others.Events[e] += c.Events[e]
		}
		others.Errors, others.Timeouts = others.Errors+c.Errors, others.Timeouts+c.Timeouts
	}
	return others, g.why
}

// keep keeps what a generator measured.
func (g *group) keep(n int, m *bench.Measured) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.measured[n] = m
}

// parts are what was measured, the first generator's first.
func (g *group) parts() (out []*bench.Measured) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.measured {
		if m != nil {
			out = append(out, m)
		}
	}
	return out
}

// A local is the link of the first generator.
type local struct{ *group }

// Prepared implements bench.Link.
func (l local) Prepared(context.Context) error {
	close(l.prepared)
	return nil
}

// Ready implements bench.Link.
func (l local) Ready(ctx context.Context) (time.Time, error) {
	l.isReady(0)
	err := l.wait(ctx, l.begun)
	return l.begins(), err
}

// Exchange implements bench.Link.
func (l local) Exchange(_ context.Context, own bench.Counts) (bench.Counts, string, error) {
	others, stop := l.exchange(0, own)
	return others, stop, nil
}

// Loaded implements bench.Link.
func (l local) Loaded() {}
