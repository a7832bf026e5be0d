package scenario

import (
	"fmt"
	"sync"
	"time"
)

// A Ledger knows what was written and says whether what is read is fresh
// enough. It treats each key as a register with one value at a time, as in "the
// newest condition of this ISU" or "the title of this post". A value must tell
// its write from all others of the key.
//
// A write happens at some instant between its beginning and its
// acknowledgement; only a write that was acknowledged before another began is
// certainly older. The rules for a read of a key are:
//
//   - The value was written: its write had begun before the read was over.
//   - It is fresh: no write that was acknowledged at least Staleness before the
//     read began is certainly newer than it.
//   - It does not go back: it is not certainly older than what the same
//     [Reader] has seen before.
//
// A write whose outcome is not known (a timeout, say) may show at any time or
// never. All methods may be called from any goroutine.
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

// before says whether w is certainly older than o.
func (w *write) before(o *write) bool { return !w.acked.IsZero() && !w.acked.After(o.began) }

// NewLedger returns an empty ledger. name is what its faults are called after:
// "<name>-unknown", "<name>-missing", "<name>-stale" and "<name>-backwards".
// staleness is how long an acknowledged write may stay unseen; 0 means not at all.
func NewLedger[K comparable, V comparable](name string, staleness time.Duration) *Ledger[K, V] {
	return &Ledger[K, V]{name: name, staleness: staleness, keys: make(map[K]*page[V])}
}

// Begin records that a write of value is about to be sent. The function it
// returns is to be called with the time at which the write was acknowledged;
// never calling it means that the outcome is not known. Writing a value again
// is a write of its own: the value is then as new as the latest.
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

// Known records a value that was there before the run, as initial data.
func (l *Ledger[K, V]) Known(key K, value V) {
	l.Begin(key, value, time.Time{})(time.Unix(0, 0))
}

// insert keeps acked in order; acknowledgements arrive nearly so.
func (p *page[V]) insert(w *write) {
	i := len(p.acked)
	for i > 0 && p.acked[i-1].acked.After(w.acked) {
		i--
	}
	p.acked = append(p.acked, nil)
	copy(p.acked[i+1:], p.acked[i:])
	p.acked[i] = w
}

// due returns the latest-begun write among those acknowledged by a time: what
// a read must show, or something newer; nil when there is none.
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

// Values is the number of values on record, of all keys.
func (l *Ledger[K, V]) Values() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.keys {
		n += len(p.byValue)
	}
	return n
}

// A Reader is someone who reads: what it has seen must not be taken back. It
// is for one goroutine at a time.
type Reader[K comparable, V comparable] struct {
	ledger *Ledger[K, V]
	seen   map[K]*write
}

// Reader returns a reader that has seen nothing.
func (l *Ledger[K, V]) Reader() *Reader[K, V] {
	return &Reader[K, V]{ledger: l, seen: make(map[K]*write)}
}

// Read checks that an answer shows value under key, and remembers it. began is
// when the reading request was sent; res may be nil. The error is nil or a *Fault.
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

// Missing checks that an answer may show nothing under key.
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

// see remembers a write unless what was seen before may be newer.
func (r *Reader[K, V]) see(key K, w *write) {
	if last := r.seen[key]; last == nil || !w.began.Before(last.began) {
		r.seen[key] = w
	}
}

// String names the ledger and its size.
func (l *Ledger[K, V]) String() string {
	return fmt.Sprintf("ledger %s: %d values", l.name, l.Values())
}
