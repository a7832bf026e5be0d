package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A session is a run in progress.
type session struct {
	sc   scenario.Scenario
	info scenario.Info
	o    Options
	url  string

	clock    *clock
	timer    *dueTimer
	pool     responsePool
	heads    *headSampler
	bodies   *bodies
	shards   []shard
	dials    dials
	now      atomic.Pointer[phase]
	nextID   atomic.Uint32
	spoken   sync.Map     // scenario.Protocol that a target has chosen, by address
	repeated atomic.Int64 // requests that were sent again because they were not processed

	events   *eventCounts
	scoring  atomic.Bool  // events count: the load phase runs
	errors   atomic.Int64 // reported in the load phase, as the table counts them
	timeouts atomic.Int64
	outside  atomic.Int64 // reported in Prepare and Validate
	faults   faultGroups
	linked   *linked     // of a part of a sharded run; else nil
	tallies  []stepTally // of the load, by step

	mu       sync.Mutex
	clients  map[*client]struct{}
	fatal    []string // why the run failed, first reason first
	stopped  string   // why another shard ended the run; "" if none did
	warnings []string
	notes    []string
	note     string // the latest, for the progress display
	gauges   []iikanji.Gauge
	phases   []iikanji.PhaseStat
	timed    phaseTime
	sendLag  tally.Sketch
	dropped  map[string]int64 // due times, by kind
}

var _ scenario.Session = (*session)(nil)

func newSession(sc scenario.Scenario, o Options) (*session, error) {
	u, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	info := sc.Info()
	if len(info.Steps) > 1<<16-1 {
		panic("BUG: a scenario of more than 65,535 steps")
	}
	s := &session{
		sc: sc, info: info, o: o, url: strings.TrimSuffix(u.String(), "/"),
		clock: &clock{base: time.Now()}, bodies: newBodies(), events: newEventCounts(len(info.Table.Events)),
		clients: make(map[*client]struct{}), dropped: make(map[string]int64),
	}
	if s.timer, err = newDueTimer(s.clock); err != nil {
		return nil, err
	}
	s.shards = newShards(4*runtime.NumCPU(), len(info.Steps), nil)
	return s, nil
}

// close closes the run's browsers and timer.
func (s *session) close() {
	for _, c := range s.openClients() {
		c.Close()
	}
	s.timer.close()
}

func (s *session) current() *phase    { return s.now.Load() }
func (s *session) phaseNumber() uint8 { return s.now.Load().number }

// forget removes a closed browser.
func (s *session) forget(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

// URL implements scenario.Session.
func (s *session) URL() string { return s.url }

// Seed implements scenario.Session.
func (s *session) Seed() uint64 { return s.o.Seed }

// Rand implements scenario.Session.
func (s *session) Rand(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash never returns an error
	return rand.New(rand.NewPCG(s.o.Seed, h.Sum64()))
}

// NewClient implements scenario.Session.
func (s *session) NewClient(o scenario.ClientOptions) scenario.Client {
	c := newClient(s, o, s.nextID.Add(1))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c] = struct{}{}
	return c
}

// Go implements scenario.Session.
func (s *session) Go(kind string, actor func(ctx context.Context)) {
	s.spawn(s.current(), kind, actor)
}

// Every implements scenario.Session.
func (s *session) Every(kind string, o scenario.Arrivals, do func(ctx context.Context, due time.Time)) {
	if o.Period <= 0 {
		panic("BUG: arrivals without a period")
	}
	s.spawn(s.current(), kind, func(ctx context.Context) { s.arrive(ctx, kind, o, do) })
}

// arrive is the actor that runs a schedule.
func (s *session) arrive(ctx context.Context, kind string, o scenario.Arrivals, do func(ctx context.Context, due time.Time)) {
	var lag tally.Sketch
	var dropped int64
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sendLag.Merge(&lag)
		s.dropped[kind] += dropped
	}()
	sleeper := newSleeper()
	due, free := s.clock.now()+int64(o.First), int64(0)
	for s.timer.sleep(ctx, sleeper, due) {
		// The lateness is the generator's only if the former call ended in time.
		if free <= due {
			lag.Add(time.Duration(s.clock.now() - due))
		}
		do(ctx, s.clock.time(due))
		free = s.clock.now()
		var d int64
		due, d = nextDue(due, free, int64(o.Period), o.Queue)
		dropped += d
	}
}

// Add implements scenario.Session.
func (s *session) Add(e scenario.Event, n int64) {
	if s.scoring.Load() {
		s.events.add(e, n)
	}
}

// Count implements scenario.Session.
func (s *session) Count(e scenario.Event) int64 {
	n := s.events.count(e)
	if s.linked != nil {
		n += s.linked.events[e].Load()
	}
	return n
}

// Errors implements scenario.Session.
func (s *session) Errors() int64 { return s.linked.allErrors(s.errors.Load()) }

// Timeouts implements scenario.Session.
func (s *session) Timeouts() int64 { return s.linked.allTimeouts(s.timeouts.Load()) }

// Report implements scenario.Session.
func (s *session) Report(err error) {
	if err == nil {
		return
	}
	f := faultOf(err)
	if isCut(f) {
		return
	}
	s.faults.add(f, s.info.Steps, false)
	timeout := f.Kind == iikanji.FaultTimeout
	if !f.Counted && f.Step >= 0 && int(f.Step) < len(s.info.Steps) {
		s.shards[int(f.Step)%len(s.shards)].fault(f.Step, timeout)
	}
	switch {
	case s.phaseNumber() != numLoad:
		s.outside.Add(1)
	case timeout && !s.info.Table.TimeoutErrors:
		s.timeouts.Add(1)
	default:
		n, limit := s.linked.allErrors(s.errors.Add(max(f.Weight, 1))), s.info.Table.MaxErrors
		if limit > 0 && n > limit {
			s.fail(tooMany(limit))
		}
	}
}

func tooMany(limit int64) string { return fmt.Sprintf("more than %d errors", limit) }

// Fail implements scenario.Session.
func (s *session) Fail(err error) {
	if err == nil {
		return
	}
	f := faultOf(err)
	if isCut(f) && s.current().ctx.Err() != nil {
		return // the error only means that the phase has ended
	}
	s.faults.add(f, s.info.Steps, true)
	s.fail(f.Error())
}

// fail marks the run as failed and ends it at once.
func (s *session) fail(reason string) {
	s.mu.Lock()
	s.fatal = append(s.fatal, reason)
	s.mu.Unlock()
	s.current().cancel()
}

func (s *session) failed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.fatal) > 0 || s.stopped != ""
}

// Gauge implements scenario.Session.
func (s *session) Gauge(name, unit string, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.gauges {
		if g := &s.gauges[i]; g.Name == name && g.Unit == unit {
			g.Value = value
			return
		}
	}
	s.gauges = append(s.gauges, iikanji.Gauge{Name: name, Value: value, Unit: unit})
}

// maxNotes limits the lines that a scenario can add to a run.
const maxNotes = 1000

// Say implements scenario.Session.
func (s *session) Say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = fmt.Sprintf(format, args...)
	if len(s.notes) < maxNotes {
		s.notes = append(s.notes, s.note)
	}
}

func (s *session) warn(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// LoadTime implements scenario.Session.
func (s *session) LoadTime() time.Duration { return firstOf(s.o.Load, s.info.Load, time.Minute) }

// score computes the score of the counts so far.
func (s *session) score() scenario.Score {
	return s.info.Table.Score(s.linked.add(s.events.all()), s.Errors(), s.Timeouts())
}
