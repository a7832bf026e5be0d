package bench

import (
	"container/heap"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji/internal/logs/tally"
)

// probeEvery is how often the timer measures its own lateness: 200 wake-ups a
// second cost about 0.2 % of a core and give 12,000 samples a minute.
const probeEvery = int64(5 * time.Millisecond)

// A dueTimer wakes goroutines at due times to within some ten microseconds. The
// runtime's own timers are late by up to a millisecond in an idle process,
// because the runtime waits for the network in whole milliseconds. The dueTimer
// waits for a timerfd, a descriptor like those of the network.
//
// While probing it also measures its own lateness. It waits for the processor
// like every goroutine that waits for an answer, so their lateness is the same.
type dueTimer struct {
	clock *clock
	file  *os.File
	set   func(d int64) // arms the timer

	mu      sync.Mutex
	queue   dueQueue
	probeAt int64 // 0: not probing
	lag     tally.Sketch
	done    chan struct{}
}

// A sleeper waits for one due time at a time.
type sleeper struct {
	due   int64
	wake  chan struct{}
	index int // in the queue, -1 when not in it
}

func newSleeper() *sleeper { return &sleeper{wake: make(chan struct{}, 1), index: -1} }

func newDueTimer(clock *clock) (*dueTimer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating a timer: %w", err)
	}
	m := &dueTimer{clock: clock, file: os.NewFile(uintptr(fd), "timerfd"), done: make(chan struct{})}
	raw, err := m.file.SyscallConn()
	if err != nil {
		_ = m.file.Close() // it cannot be used
		return nil, fmt.Errorf("creating a timer: %w", err)
	}
	m.set = func(d int64) {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(d, 1))}
		_ = raw.Control(func(fd uintptr) { // fails only after close
			_ = unix.TimerfdSettime(int(fd), 0, &spec, nil) // cannot fail with a valid time
		})
	}
	go m.run()
	return m, nil
}

func (m *dueTimer) close() {
	_ = m.file.Close() // run returns
	<-m.done
}

// run wakes all due sleepers each time the timerfd fires.
func (m *dueTimer) run() {
	defer close(m.done)
	var ticks [8]byte
	for {
		if _, err := m.file.Read(ticks[:]); err != nil {
			return // closed
		}
		m.mu.Lock()
		m.fire(m.clock.now())
		m.mu.Unlock()
	}
}

// fire wakes all due sleepers and arms the timerfd for the next due time.
func (m *dueTimer) fire(now int64) {
	if m.probeAt > 0 && m.probeAt <= now {
		m.lag.Add(time.Duration(now - m.probeAt))
		m.probeAt, _ = nextDue(m.probeAt, now, probeEvery, false)
	}
	for len(m.queue) > 0 && m.queue[0].due <= now {
		heap.Pop(&m.queue).(*sleeper).wake <- struct{}{}
	}
	m.arm(now)
}

func (m *dueTimer) arm(now int64) {
	next := m.probeAt
	if len(m.queue) > 0 && (next == 0 || m.queue[0].due < next) {
		next = m.queue[0].due
	}
	if next > 0 {
		m.set(next - now)
	}
}

// sleep waits until the clock time due. It returns false when ctx ended first.
func (m *dueTimer) sleep(ctx context.Context, s *sleeper, due int64) bool {
	now := m.clock.now()
	if due <= now {
		return ctx.Err() == nil
	}
	m.mu.Lock()
	s.due = due
	heap.Push(&m.queue, s)
	if s.index == 0 {
		m.arm(now)
	}
	m.mu.Unlock()
	select {
	case <-s.wake:
		return ctx.Err() == nil
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.index >= 0 {
		heap.Remove(&m.queue, s.index)
	} else {
		<-s.wake // fire has woken it at the same time
	}
	return false
}

// probe starts or stops measuring lateness and returns what was measured so far.
func (m *dueTimer) probe(on bool) tally.Sketch {
	m.mu.Lock()
	defer m.mu.Unlock()
	lag := m.lag
	m.lag, m.probeAt = tally.Sketch{}, 0
	if on {
		now := m.clock.now()
		m.probeAt = now + probeEvery
		m.arm(now)
	}
	return lag
}

// dueQueue is a heap of sleepers, the earliest due time first.
type dueQueue []*sleeper

func (q dueQueue) Len() int           { return len(q) }
func (q dueQueue) Less(i, j int) bool { return q[i].due < q[j].due }
func (q dueQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *dueQueue) Push(x any) {
	s := x.(*sleeper)
	s.index = len(*q)
	*q = append(*q, s)
}
func (q *dueQueue) Pop() any {
	old := *q
	s := old[len(old)-1]
	s.index = -1
	*q = old[:len(old)-1]
	return s
}
