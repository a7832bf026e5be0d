package xsuportal

import (
	"sync"
	"time"
)

// What the benchmarker knows of the target. contest.mu guards all fields that change.
type (
	// A team has three members: the leader, who asks, the developer, who starts benchmarks,
	// and the operator, who looks at boards.
	team struct {
		plan
		id          int64
		inviteToken string
		members     [members]*member
		joined      int
		complete    bool // all members are in it
		unsure      bool // a request of its registration has no known outcome

		results []*result // reported or being reported, in their order
		job     int64     // the job that is open, 0 for none
		done    bell      // a job is done, a question is answered, or both may have happened
		open    int       // questions without a resolved answer
		heard   map[int64]bool
	}

	member struct {
		person
		agent *agent
		team  *team

		mu       sync.Mutex // guards what follows
		last     int64      // the highest notification that was seen
		answered int64      // the highest last_answered_clarification_id
		seen     map[int64]bool
		order    []int64 // of seen
		inbox    chan notice

		kept []notice // of the checks, which one goroutine does
	}

	// A result is what a benchmark has given.
	result struct {
		job               int64
		host              string
		handle            string
		raw, deduction    int64
		passed            bool
		reason            string
		started, finished time.Time
		acked             time.Time // when the target had stored it; zero before
		done              bool      // its notification has come
	}

	// A question is a clarification.
	question struct {
		team      *team
		id        int64
		text      string
		answer    string
		disclosed bool
		posted    time.Time // when the target had stored it; zero before
		sent      time.Time // when its answer was sent; zero before
		put       time.Time // when the target had stored the answer; zero before
		resolved  bool
	}
)

const members = 3

func (t *team) leader() *member    { return t.members[0] }
func (t *team) developer() *member { return t.members[1] }
func (t *team) operator() *member  { return t.members[2] }

// score is what boards show of a result.
func (r *result) score() int64 { return r.raw - r.deduction }

// A bell wakes all that wait for it.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait returns a channel that the next ring closes.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// mark returns a time in milliseconds that no other result has.
func (ct *contest) mark() time.Time {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	now := time.Now().Truncate(time.Millisecond)
	if !now.After(ct.lastMark) {
		now = ct.lastMark.Add(time.Millisecond)
	}
	ct.lastMark = now
	return now
}

// locked runs do under the lock of the model.
func (ct *contest) locked(do func()) {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	do()
}
