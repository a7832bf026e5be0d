package scenario

import (
	"sync"
	"time"
)

// A Ledger records writes and checks that reads are fresh enough. It treats each
// key as a register with one value at a time, as in "the newest condition of this
// ISU" or "the title of this post". The writes of a key must have distinct values.
//
// A write takes effect at some instant between its start and its
// acknowledgement. Only a write that was acknowledged before another began is
// certainly older. The rules for a read of a key are:
//
//   - The value was written: its write began before the read ended.
//   - The value is fresh: no write that was acknowledged at least the staleness
//     before the read began is certainly newer.
//   - The value does not go back: it is not certainly older than a value that the
//     same [Reader] has seen before.
//
// A write with an unknown outcome (after a timeout, for example) may appear at any
// time or never. All methods may be called from any goroutine.
type Ledger[K comparable, V comparable] struct {
	name      string
	staleness time.Duration
	mu        sync.Mutex
	keys      map[K]*page[V]
}

// A page is the history of one key.
type page[V comparable] struct {
	byValue map[V]*write
	acked   []*write // by the time of acknowledgement
}

// A write is one entry. acked is zero until it is acknowledged.
type write struct{ began, acked time.Time }

// before reports whether w is certainly older than o.
func (w *write) before(o *write) bool { return !w.acked.IsZero() && !w.acked.After(o.began) }

// NewLedger returns an empty ledger. The checks of its faults are
// "<name>-unknown", "<name>-missing", "<name>-stale" and "<name>-backwards".
// staleness is how long an acknowledged write may stay invisible; with 0 it must
// be visible at once.
func NewLedger[K comparable, V comparable](name string, staleness time.Duration) *Ledger[K, V] {
	return &Ledger[K, V]{name: name, staleness: staleness, keys: make(map[K]*page[V])}
}

// Begin records that a write of value is about to be sent. The caller calls the
// returned function with the time of the acknowledgement, or never if the outcome
// is unknown. Writing a value again is a new write: the value is then as new as
// its latest write.
func (l *Ledger[K, V]) Begin(key K, value V, began time.Time) (acked func(at time.Time)) {
	w := &write{began: began}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.keys[key]
	if p == nil {
		p = &page[V]{byValue: make(map[V]*write)}
		l.keys[key] = p
	}
	p.byValue[value] = w
	return func(at time.Time) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !w.acked.IsZero() {
			panic("BUG: a write was acknowledged twice")
		}
		w.acked = at
		p.insert(w)
	}
}

// Known records a value of the initial data, written before the run.
func (l *Ledger[K, V]) Known(key K, value V) {
	l.Begin(key, value, time.Time{})(time.Unix(0, 0))
}

// insert keeps acked sorted. Acknowledgements arrive nearly in order.
func (p *page[V]) insert(w *write) {
	i := len(p.acked)
	for i > 0 && p.acked[i-1].acked.After(w.acked) {
		i--
	}
	p.acked = append(p.acked, nil)
	copy(p.acked[i+1:], p.acked[i:])
	p.acked[i] = w
}

// due returns, of the writes acknowledged by a time, the one that began last: a
// read must show it or a newer one. It returns nil if there is none.
func (p *page[V]) due(by time.Time) *write {
	var latest *write
	for i := len(p.acked) - 1; i >= 0; i-- {
		w := p.acked[i]
		if w.acked.After(by) {
			continue
		}
		if latest != nil && !w.acked.After(latest.began) {
			break // this one and all before it are certainly older
		}
		if latest == nil || w.began.After(latest.began) {
			latest = w
		}
	}
	return latest
}

// Values returns the number of recorded values of all keys.
func (l *Ledger[K, V]) Values() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.keys {
		n += len(p.byValue)
	}
	return n
}

// A Reader checks the reads of one client, whose values must not go back. It is
// not safe for concurrent use.
type Reader[K comparable, V comparable] struct {
	ledger *Ledger[K, V]
	seen   map[K]*write
}

// Reader returns a reader that has seen no value.
func (l *Ledger[K, V]) Reader() *Reader[K, V] {
	return &Reader[K, V]{ledger: l, seen: make(map[K]*write)}
}

// Read checks a read of value under key and remembers it. began is the time at
// which the request was sent; res may be nil. The error is nil or a *Fault.
func (r *Reader[K, V]) Read(res *Response, key K, value V, began time.Time) error {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.keys[key]
	if p == nil || p.byValue[value] == nil {
		return Wrong(res, l.name+"-unknown", "%v shows %v, which was never written", key, value)
	}
	w := p.byValue[value]
	if due := p.due(began.Add(-l.staleness)); due != nil && w.before(due) {
		return Wrong(res, l.name+"-stale", "%v shows %v, though a newer write was acknowledged %v before the read began",
			key, value, began.Sub(due.acked).Round(time.Millisecond))
	}
	if last := r.seen[key]; last != nil && w.before(last) {
		return Wrong(res, l.name+"-backwards", "%v shows %v after something newer was shown", key, value)
	}
	r.see(key, w)
	return nil
}

// Missing checks a read that found no value under key.
func (r *Reader[K, V]) Missing(res *Response, key K, began time.Time) error {
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.seen[key] != nil {
		return Wrong(res, l.name+"-backwards", "%v shows nothing after something was shown", key)
	}
	if p := l.keys[key]; p != nil {
		if due := p.due(began.Add(-l.staleness)); due != nil {
			return Wrong(res, l.name+"-missing", "%v shows nothing, though a write was acknowledged %v before the read began",
				key, began.Sub(due.acked).Round(time.Millisecond))
		}
	}
	return nil
}

// see remembers a write unless the write seen before may be newer.
func (r *Reader[K, V]) see(key K, w *write) {
	if last := r.seen[key]; last == nil || !w.began.Before(last.began) {
		r.seen[key] = w
	}
}
