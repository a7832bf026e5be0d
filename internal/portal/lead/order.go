package lead

import (
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji/internal/portal/contest"
	"github.com/iikanji/iikanji/internal/portal/queue"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// waiting reads the jobs that may start now. kinds gets the kind of problem of each round.
func (c *Core) waiting(tx *store.Tx, kinds map[string]string) (*queue.State, map[string]*job, error) {
	all, err := readJobs(tx, "WHERE state = 'queued'")
	if err != nil {
		return nil, nil, err
	}
	s := &queue.State{Now: c.Now(), FIFO: true, Used: &c.used}
	jobs := map[string]*job{}
	for _, j := range all {
		r, err := c.round(tx, j.Round)
		if err != nil {
			return nil, nil, err
		}
		if r.Clock.Paused(s.Now) {
			continue
		}
		if left, ends := r.Clock.Left("", s.Now); ends && r.Round.Kind == contest.Live && left > 0 && left < lastHalfHour {
			s.HighOnly = true
		}
		if r.Round.Queue.Order == "fair" {
			s.FIFO = false
		}
		kinds[j.Round] = kindOf(r)
		jobs[j.ID] = j
		s.Waiting = append(s.Waiting, queue.Job{ID: j.ID, Team: j.Team, Lane: j.Lane, Enqueued: j.Enqueued, Number: j.Place, Again: j.Again})
	}
	return s, jobs, nil
}

// order is the order of a state.
func (c *Core) order(s *queue.State) []queue.Pick {
	c.queueMu.Lock()
	defer c.queueMu.Unlock()
	s.Median, s.Upper = median(c.waits), c.upper
	return s.Order()
}

// started notes a start.
func (c *Core) started(s *queue.State, pick queue.Pick) {
	c.queueMu.Lock()
	defer c.queueMu.Unlock()
	s.Upper = c.upper
	c.upper = s.Started(pick)
	c.correct.Started(pick.ID, s.Now)
	c.waits = append(c.waits, s.Now.Sub(pick.Enqueued))
	c.waits = c.waits[max(0, len(c.waits)-kept):]
}

// median is the median of some durations; 0 of none.
func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(d))[len(d)/2]
}

// A Queue is the queue at an instant.
type Queue struct {
	Order   []queue.Pick
	Starts  []time.Duration // expected, from now, for each of Order; nil without a worker
	Next    time.Duration   // the same for a job that is enqueued now, at the end
	Running int
	Slots   int
}

// Queue is the queue as it is now.
func (c *Core) Queue(ctx context.Context) (*Queue, error) {
	q := &Queue{}
	var state *queue.State
	var slots []queue.Running
	c.queueMu.Lock()
	length := median(c.runs)
	c.queueMu.Unlock()
	err := c.store.Read(ctx, func(tx *store.Tx) (err error) {
		if state, _, err = c.waiting(tx, map[string]string{}); err != nil {
			return err
		}
		busy, err := readJobs(tx, "WHERE state IN ('offered', 'running')")
		if err != nil {
			return err
		}
		for _, j := range busy {
			r, err := c.round(tx, j.Round)
			if err != nil {
				return err
			}
			if length == 0 {
				length = r.Problem().Load
			}
			left := length
			if !j.Started.IsZero() {
				left -= state.Now.Sub(j.Started)
			}
			slots = append(slots, queue.Running{Left: left})
		}
		q.Running = len(busy)
		if length == 0 && len(state.Waiting) > 0 {
			length = time.Minute
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	free, err := c.slots(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range free {
		for range w.Slots {
			slots = append(slots, queue.Running{})
		}
	}
	q.Order, q.Slots = c.order(state), len(slots)
	last := append(slices.Clone(q.Order), queue.Pick{})
	if q.Starts = queue.Expect(last, slots, length); q.Starts != nil {
		q.Next, q.Starts = q.Starts[len(last)-1], q.Starts[:len(last)-1]
		c.corrected(q, state.Now)
	}
	return q, nil
}

// corrected corrects the expected starts by how earlier ones turned out.
func (c *Core) corrected(q *Queue, now time.Time) {
	c.queueMu.Lock()
	defer c.queueMu.Unlock()
	mean := c.used.Mean(now)
	for i, pick := range q.Order {
		q.Starts[i] = c.correct.Tell(pick.ID, q.Starts[i], c.used.At(pick.Team, now), mean, now)
	}
}
