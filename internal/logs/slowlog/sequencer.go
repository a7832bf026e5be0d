package slowlog

import (
	"sync"
	"time"
)

const (
	// maxWaiting is the number of batches that are kept for an earlier one. The
	// system may stop a worker in the middle of a block for many milliseconds; the
	// others would parse hundreds of blocks in that time.
	maxWaiting = 8
	// longestWait bounds the wait of a worker that is ahead. If the earlier batch
	// never comes, because its worker failed to read, the reading ends anyway.
	longestWait = time.Second
)

// A sequencer accepts batches from workers in any order and passes them on in the
// order of the log, because the meaning of a statement for its thread depends on
// the statements before it. Parsing takes most of the time, so the workers
// rarely wait.
type sequencer struct {
	mu      sync.Mutex
	next    int64
	waiting map[int64]*batch
	moved   chan struct{} // closed when next changes
	take    func(*batch)
}

func newSequencer(take func(*batch)) *sequencer {
	return &sequencer{waiting: map[int64]*batch{}, moved: make(chan struct{}), take: take}
}

// put passes b on, or keeps it until the batches before it have come. It returns
// a batch for reuse.
func (s *sequencer) put(b *batch) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowDown(b.offset)
	if b.offset != s.next {
		b.own()
		s.waiting[b.offset] = b
		return new(batch)
	}
	for now := b; now != nil; now = s.waiting[s.next] {
		delete(s.waiting, now.offset)
		s.next = now.end
		s.take(now)
	}
	close(s.moved)
	s.moved = make(chan struct{})
	return b
}

// slowDown waits while enough batches are kept. s.mu is not held meanwhile.
func (s *sequencer) slowDown(offset int64) {
	if offset == s.next || len(s.waiting) < maxWaiting {
		return
	}
	late := time.NewTimer(longestWait)
	defer late.Stop()
	for offset != s.next && len(s.waiting) >= maxWaiting {
		moved := s.moved
		s.mu.Unlock()
		select {
		case <-moved:
			s.mu.Lock()
		case <-late.C:
			s.mu.Lock()
			return
		}
	}
}
