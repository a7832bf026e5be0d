package sim

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/lead"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// Options are for Run.
type Options struct {
	Teams   int
	Workers int           // each with one slot
	Length  time.Duration // of the round
	Run     time.Duration // mean length of a run
	Think   time.Duration // mean time of a steady team between two runs
	Seed    uint64
	// Faults: workers die and fall silent, runs are void, results are sent twice.
	Faults bool
	Boards int    // how many times the board is compared with a naive one
	Dir    string // a scratch folder for the database
	// Database is its address; "" for a SQLite file in Dir.
	Database string
}

// A simulation is the state of a Run.
type simulation struct {
	o        Options
	rng      *rand.Rand
	now      time.Time
	events   events
	order    int64
	store    *store.Store
	carry    carry.Carrier
	core     *lead.Core
	leader   *lead.Leader
	round    string
	start    time.Time
	teams    []*team
	byID     map[string]*team
	jobs     map[string]*told
	workers  []*worker
	history  lead.History
	report   Report
	busy     time.Duration
	ids      int
	problems []error
}

// A told is what a team was told of a waiting job.
type told struct {
	team    *team
	at      time.Time
	starts  time.Duration
	known   bool
	started bool
}

// An event is something that happens at an instant.
type event struct {
	at    time.Time
	order int64
	do    func(context.Context) error
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// after plans an event.
func (s *simulation) after(d time.Duration, do func(context.Context) error) {
	s.order++
	heap.Push(&s.events, event{s.now.Add(d), s.order, do})
}

const contestText = `name = "Simulation"
local = true
[[rounds]]
id = "day"
problem = "p"
start = 2027-02-06T10:00:00Z
hours = %g
freeze = "%s"
[rounds.rules]
standing = "last"
tail = "30m"
[rounds.queue]
[rounds.queue.budget]
agent = "60 runs, 8 an hour"
[problem.p]
command = ["true"]
load = "%ds"
timeout = "%ds"
`

// Run simulates a contest. The error lists the violated invariants.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	s := &simulation{o: o, rng: rand.New(rand.NewPCG(o.Seed, 38)), byID: map[string]*team{}, jobs: map[string]*told{},
		start: time.Date(2027, 2, 6, 10, 0, 0, 0, time.UTC)}
	s.now = s.start.Add(-time.Minute)
	s.report.Teams, s.report.Workers = o.Teams, o.Workers
	address := o.Database
	if address == "" {
		address = filepath.Join(o.Dir, "sim.db")
	}
	var err error
	if s.store, err = store.Open(ctx, address, store.Options{Unsafe: true}); err != nil {
		return nil, err
	}
	defer s.store.Close()
	if err := s.setUp(ctx); err != nil {
		return nil, err
	}
	end := s.start.Add(o.Length + 45*time.Minute)
	for s.events.Len() > 0 && ctx.Err() == nil {
		e := heap.Pop(&s.events).(event)
		if e.at.After(end) {
			break
		}
		s.now = e.at
		if err := e.do(ctx); err != nil {
			return nil, fmt.Errorf("at %s: %w", s.now.Sub(s.start), err)
		}
	}
	if err := errors.Join(ctx.Err(), s.finalChecks(ctx)); err != nil {
		return nil, err
	}
	s.waits()
	s.report.Took = time.Since(began)
	return &s.report, errors.Join(s.problems...)
}

// setUp makes the contest, its teams and workers.
func (s *simulation) setUp(ctx context.Context) (err error) {
	clock := func() time.Time { return s.now }
	s.carry = carry.NewMemory(clock)
	s.core = lead.New(lead.Options{Store: s.store, Carry: s.carry, Secret: []byte("simulation"), Now: clock, NewID: s.newID})
	text := fmt.Sprintf(contestText, s.o.Length.Hours(), s.freeze(), int(s.o.Run.Seconds()), int(3*s.o.Run.Seconds()))
	if _, err := s.core.AddContest(ctx, []byte(text), "sim.toml"); err != nil {
		return err
	}
	s.round = lead.RoundID("sim", "day")
	for i := range s.o.Teams {
		if err := s.addTeam(ctx, i); err != nil {
			return err
		}
	}
	for i := range s.o.Workers {
		if err := s.addWorker(ctx, i); err != nil {
			return err
		}
	}
	if s.leader, err = s.core.Elect(ctx, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	s.after(0, s.scan)
	for i := range s.o.Boards {
		at := s.start.Sub(s.now) + s.o.Length*time.Duration(i+1)/time.Duration(s.o.Boards)
		s.after(at, s.compareBoards)
	}
	return nil
}

// freeze is how long before the end the board freezes.
func (s *simulation) freeze() time.Duration { return s.o.Length / 8 }

// newID gives the same ids for one seed.
func (s *simulation) newID() string {
	s.ids++
	return fmt.Sprintf("%08x", s.ids)
}

const scanEvery = 5 * time.Second

// scan is the leader's regular work.
func (s *simulation) scan(ctx context.Context) error {
	s.after(scanEvery, s.scan)
	return s.tick(ctx, true)
}

// tick lets the leader work, and idle workers take what it offers.
func (s *simulation) tick(ctx context.Context, scan bool) error {
	if err := s.leader.Tick(ctx, scan); err != nil {
		return err
	}
	for _, w := range s.workers {
		if w.down || w.job != nil {
			continue
		}
		if err := w.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

// enqueued notes what a team was told of its new job.
func (s *simulation) enqueued(ctx context.Context, t *team, j *api.Job) error {
	s.report.Jobs++
	note := &told{team: t, at: s.now}
	s.jobs[j.ID] = note
	q, err := s.core.Queue(ctx)
	if err != nil {
		return err
	}
	for i, pick := range q.Order {
		if pick.ID == j.ID && q.Starts != nil {
			note.starts, note.known = q.Starts[i], true
		}
	}
	return nil
}
