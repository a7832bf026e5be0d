package slowlog

import "sync"

// A sequencer accepts batches from workers in any order and passes them on in the
// order of the log, because the meaning of a statement for its thread depends on
// the statements before it. Parsing takes most of the time, so the workers
// rarely wait.
type sequencer struct {
	mu      sync.Mutex
	next    int64
	waiting map[int64]*batch
	take    func(*batch)
}

// put passes b on, or keeps it until the batches before it have come. It returns
// a batch for reuse.
func (s *sequencer) put(b *batch) *batch {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	return b
}
