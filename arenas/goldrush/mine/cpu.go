package mine

import (
	"context"
	"math/bits"
	"sync"
	"time"
)

// The virtual CPU.
const (
	// TicksPerSecond is its speed.
	TicksPerSecond = 10_000
	tick           = time.Second / TicksPerSecond
	// offerEvery is how often the CPU offers its ticks.
	offerEvery = time.Millisecond
	// Buffer is the most ticks that are kept for later requests while no request asks for any,
	// the ticks of 2 ms. Further ones are lost.
	Buffer = 20
	// Late is how many ticks of a wake-up that comes late are offered all the same: 10 ms.
	// The rest is lost, and counted apart from the ticks that no request asked for. The
	// contest's server made up for 2 ms.
	Late = 100
)

// ExploreTicks is the cost of exploring an area of a number of cells.
func ExploreTicks(area int) int { return 5 * max(1, bits.Len(uint(area))-1) }

// DigTicks is the cost of a dig at a depth.
func DigTicks(depth int) int { return 10 + depth - 1 }

// CashTicks is the cost of cashing a treasure.
const CashTicks = 100

// Ticks are those that a CPU has offered, by what came of them.
type Ticks struct {
	Used   int64 `json:"used"`   // by requests that were answered
	Wasted int64 `json:"wasted"` // by requests that took too long
	Idle   int64 `json:"idle"`   // lost: no request asked for them
	Late   int64 `json:"late"`   // lost: this process ran too late to offer them
}

// Offered is the number of all ticks.
func (t Ticks) Offered() int64 { return t.Used + t.Wasted + t.Idle + t.Late }

// A cpu divides its ticks among the jobs in progress: the jobs stand in a queue, and each
// tick goes to the first one, which then goes to the end of the queue.
type cpu struct {
	mu     sync.Mutex
	queue  []*job
	stored int
	ticks  Ticks
}

type job struct {
	left, taken int
	given       bool // up: its ticks are not needed any more
	done        chan struct{}
}

// run offers ticks until ctx is done.
func (c *cpu) run(ctx context.Context) {
	t := time.NewTicker(offerEvery)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		n := int(time.Since(last) / tick)
		last = last.Add(time.Duration(n) * tick)
		c.offer(n)
	}
}

// offer gives n ticks to the jobs, and keeps a few of those that no job takes.
func (c *cpu) offer(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if most := int(offerEvery/tick) + Late; n > most {
		c.ticks.Late += int64(n - most)
		n = most
	}
	for n > 0 && len(c.queue) > 0 {
		j := c.queue[0]
		c.queue = c.queue[1:]
		if j.given {
			continue
		}
		n--
		j.taken++
		if j.left--; j.left > 0 {
			c.queue = append(c.queue, j)
			continue
		}
		c.ticks.Used += int64(j.taken)
		close(j.done)
	}
	c.stored += n
	if c.stored > Buffer {
		c.ticks.Idle += int64(c.stored - Buffer)
		c.stored = Buffer
	}
}

// use waits until a job has got its ticks. It returns false if that takes longer than limit,
// or if ctx ends; the ticks that the job got are then wasted. No limit is 0.
func (c *cpu) use(ctx context.Context, ticks int, limit time.Duration) bool {
	j := c.begin(ticks)
	if j == nil {
		return true
	}
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-j.done:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return !c.giveUp(j)
}

// begin queues a job, unless stored ticks are enough for it.
func (c *cpu) begin(ticks int) *job {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	if len(c.queue) == 0 {
		n = min(c.stored, ticks)
		c.stored -= n
	}
	if n == ticks {
		c.ticks.Used += int64(n)
		return nil
	}
	j := &job{left: ticks - n, taken: n, done: make(chan struct{})}
	c.queue = append(c.queue, j)
	return j
}

// giveUp takes a job out of the queue. It returns false if the job is done already.
func (c *cpu) giveUp(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-j.done:
		return false
	default:
	}
	j.given = true
	c.ticks.Wasted += int64(j.taken)
	return true
}

// count returns the ticks so far.
func (c *cpu) count() Ticks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ticks
}
