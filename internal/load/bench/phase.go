package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// actorGrace is how long actors may take to return after their phase has ended.
// Everything that they wait for was cut.
const actorGrace = 5 * time.Second

// Numbers of the phases in a sample, see samplePhases.
const (
	numPrepare uint8 = iota
	numLoad
	numValidate
)

// A phase is one of the scenario's three phases, with the actors that run in it.
type phase struct {
	number uint8
	name   scenario.Phase
	ctx    context.Context
	cancel context.CancelFunc
	done   <-chan struct{} // of ctx

	mu    sync.Mutex
	over  bool // accepts no more actors
	alive map[string]int64
	total int
	empty chan struct{} // closed when over and total is 0
}

func newPhase(parent context.Context, number uint8, name scenario.Phase) *phase {
	p := &phase{number: number, name: name, alive: make(map[string]int64), empty: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(parent)
	p.done = p.ctx.Done()
	return p
}

// enter counts an actor in. It returns false when the phase accepts no more.
func (p *phase) enter(kind string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	p.alive[kind]++
	p.total++
	return true
}

func (p *phase) leave(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive[kind]--
	if p.total--; p.total == 0 && p.over {
		close(p.empty)
	}
}

// shut stops accepting actors.
func (p *phase) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = true; p.total == 0 {
		close(p.empty)
	}
}

// actors returns the number of actors by kind.
func (p *phase) actors() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.alive)
}

// spawn runs a function of the scenario as an actor of a phase. A panic in it
// fails the run.
func (s *session) spawn(p *phase, kind string, actor func(ctx context.Context)) {
	if !p.enter(kind) {
		return
	}
	go func() {
		defer p.leave(kind)
		defer func() {
			if v := recover(); v != nil {
				s.panicked(kind, v, debug.Stack())
			}
		}()
		actor(p.ctx)
	}()
}

// maxStack limits the stack trace in a warning, in bytes.
const maxStack = 4 << 10

// panicked turns a panic of the scenario into a fatal fault and adds its stack
// to the run's warnings.
func (s *session) panicked(kind string, v any, stack []byte) {
	s.warn("panic in actor %q: %v\n%s", kind, v, stack[:min(len(stack), maxStack)])
	s.Fail(&scenario.Fault{Kind: iikanji.FaultCheck, Step: -1, Check: "panic", Message: fmt.Sprintf("in actor %q: %v", kind, v)})
}

// runPhase runs one phase of the scenario, with main as its first actor, and
// waits for all its actors. The phase ends after limit at the latest, which is
// an error for phases that are not timed. atEnd is called at the end, before
// anything is cut; it may be nil.
func (s *session) runPhase(p *phase, limit time.Duration, timed bool, main func(ctx context.Context) error, atEnd func()) {
	s.enterPhase(p)
	returned := make(chan struct{})
	s.spawn(p, "("+string(p.name)+")", func(ctx context.Context) {
		defer close(returned)
		if err := main(ctx); err != nil {
			s.mainFailed(p, err)
		}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	ended := (<-chan struct{})(returned)
	if timed {
		ended = nil // the load phase lasts until its limit, even after Load returns
	}
	select {
	case <-p.done: // interrupted, or the run failed
	case <-ended:
	case <-timer.C:
		if !timed {
			s.Fail(fmt.Errorf("%s did not end within %v", p.name, limit))
		}
	}
	s.leavePhase()
	if atEnd != nil {
		atEnd()
	}
	s.closePhase(p)
	p.shut()
	s.awaitActors(p)
}

// mainFailed handles an error of a phase's main function. It ignores an error
// that only means that the phase has ended.
func (s *session) mainFailed(p *phase, err error) {
	if p.ctx.Err() != nil && (isCut(faultOf(err)) || errors.Is(err, context.DeadlineExceeded)) {
		return
	}
	s.Fail(err)
}

// Writes that are in flight at the end of a phase get writeGrace to be answered,
// because an app usually finishes what its client gave up: the row would be there
// after the next initialize, and the next run would fail for it. The actor gets a
// cut fault in any case. Once the reads are cut, writes are answered soon.
const (
	writeGrace = 5 * time.Second
	writePoll  = 5 * time.Millisecond
)

// closePhase cancels the phase's contexts, cuts the reads in flight, waits for the
// writes, and cuts those that take too long.
func (s *session) closePhase(p *phase) {
	p.cancel()
	for end := time.Now().Add(writeGrace); s.cutReads() && time.Now().Before(end); {
		time.Sleep(writePoll)
	}
	for _, c := range s.openClients() {
		c.cut(stateCut)
	}
}

// cutReads cuts the reads in flight and reports whether writes are left.
func (s *session) cutReads() (left bool) {
	for _, c := range s.openClients() {
		left = c.cutReads() || left
	}
	return left
}

func (s *session) openClients() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.clients))
}

// awaitActors waits until all actors have returned. It warns of those that do not.
func (s *session) awaitActors(p *phase) {
	timer := time.NewTimer(actorGrace)
	defer timer.Stop()
	select {
	case <-p.empty:
		return
	case <-timer.C:
	}
	var stuck []string
	for kind, n := range p.actors() {
		if n > 0 {
			stuck = append(stuck, fmt.Sprintf("%d %s", n, kind))
		}
	}
	sort.Strings(stuck)
	s.warn("actors did not return within %v after the end of %s: %s", actorGrace, p.name, strings.Join(stuck, ", "))
}
