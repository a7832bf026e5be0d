package carry

import (
	"context"
	"strings"
	"sync"
	"time"
)

// maxMemory is how many messages of a queue are kept.
const maxMemory = 100_000

// A memory is a Carrier in memory.
type memory struct {
	now func() time.Time

	mu       sync.Mutex
	queues   map[string][]*queued // of work queues, by subject
	ids      map[string]time.Time
	buckets  map[Bucket]map[string]entry
	watchers map[int]watcher
	next     int
	revision uint64
	changed  chan struct{} // closed and made anew at each publication
}

type queued struct {
	Message
	taken time.Time // zero: it waits
}

type entry struct {
	value    []byte
	revision uint64
	until    time.Time
}

type watcher struct {
	stream Stream
	prefix string
	do     func(Message)
}

// NewMemory is a Carrier in memory. now is its clock.
func NewMemory(now func() time.Time) Carrier {
	m := &memory{now: now, watchers: map[int]watcher{}, changed: make(chan struct{})}
	m.clear()
	return m
}

func (m *memory) clear() {
	m.queues, m.ids, m.buckets = map[string][]*queued{}, map[string]time.Time{}, map[Bucket]map[string]entry{}
}

// Publish implements Carrier.
func (m *memory) Publish(_ context.Context, s Stream, msg Message) error {
	m.mu.Lock()
	if at, known := m.ids[msg.ID]; known && msg.ID != "" && m.now().Sub(at) < 2*time.Minute {
		m.mu.Unlock()
		return nil
	}
	if msg.ID != "" {
		if len(m.ids) > maxMemory {
			clear(m.ids)
		}
		m.ids[msg.ID] = m.now()
	}
	if s == Tasks && len(m.queues[msg.Subject]) < maxMemory {
		m.queues[msg.Subject] = append(m.queues[msg.Subject], &queued{Message: msg})
		close(m.changed)
		m.changed = make(chan struct{})
	}
	var tell []func(Message)
	for _, w := range m.watchers {
		if w.stream == s && strings.HasPrefix(msg.Subject, w.prefix) {
			tell = append(tell, w.do)
		}
	}
	m.mu.Unlock()
	for _, do := range tell {
		do(msg)
	}
	return nil
}

// Take implements Carrier.
func (m *memory) Take(ctx context.Context, _ Stream, subject string, wait time.Duration) (*Taken, error) {
	var end <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		end = timer.C
	}
	for {
		m.mu.Lock()
		t, changed := m.take(subject), m.changed
		m.mu.Unlock()
		if t != nil || wait <= 0 {
			return t, nil
		}
		select {
		case <-changed:
		case <-end:
			return nil, nil
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func (m *memory) take(subject string) *Taken {
	for _, q := range m.queues[subject] {
		if !q.taken.IsZero() && m.now().Sub(q.taken) < AckWait {
			continue
		}
		q.taken = m.now()
		return &Taken{q.Message, func(context.Context) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			rest := m.queues[subject][:0]
			for _, other := range m.queues[subject] {
				if other != q {
					rest = append(rest, other)
				}
			}
			m.queues[subject] = rest
			return nil
		}}
	}
	return nil
}

// Watch implements Carrier.
func (m *memory) Watch(ctx context.Context, s Stream, prefix string, do func(Message)) error {
	m.mu.Lock()
	id := m.next
	m.next++
	m.watchers[id] = watcher{s, prefix, do}
	m.mu.Unlock()
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, id)
	})
	return nil
}

// Put implements Carrier.
func (m *memory) Put(_ context.Context, b Bucket, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(b, key, value)
	return nil
}

func (m *memory) put(b Bucket, key string, value []byte) uint64 {
	if m.buckets[b] == nil {
		m.buckets[b] = map[string]entry{}
	}
	m.revision++
	m.buckets[b][key] = entry{append([]byte(nil), value...), m.revision, m.now().Add(ttl(b, 1))}
	return m.revision
}

// live is an entry that has not expired.
func (m *memory) live(b Bucket, key string) (entry, bool) {
	e, ok := m.buckets[b][key]
	if ok && !m.now().Before(e.until) {
		delete(m.buckets[b], key)
		return entry{}, false
	}
	return e, ok
}

// Get implements Carrier.
func (m *memory) Get(_ context.Context, b Bucket, key string) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.live(b, key)
	if !ok {
		return nil, 0, ErrNoKey
	}
	return e.value, e.revision, nil
}

// Swap implements Carrier.
func (m *memory) Swap(_ context.Context, b Bucket, key string, value []byte, revision uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, _ := m.live(b, key); e.revision != revision {
		return 0, ErrNoKey
	}
	return m.put(b, key, value), nil
}

// Delete implements Carrier.
func (m *memory) Delete(_ context.Context, b Bucket, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.buckets[b], key)
	return nil
}

// List implements Carrier.
func (m *memory) List(_ context.Context, b Bucket) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string][]byte{}
	for key := range m.buckets[b] {
		if e, ok := m.live(b, key); ok {
			out[key] = e.value
		}
	}
	return out, nil
}

// Empty implements Carrier.
func (m *memory) Empty(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clear()
	return nil
}

// Close implements Carrier.
func (m *memory) Close() {}
