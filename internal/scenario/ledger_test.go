package scenario

import (
	"errors"
	"sync"
	"testing"
	"time"
)

var t0 = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

// w is a write of a value. began and acked are in ms; acked < 0 means never.
type w struct {
	value        string
	began, acked int
}

// r is a read: the value ("" for none) in the answer to a request sent at began.
type r struct {
	value string
	began int
	want  string // the check that must fail; "" for none
}

func TestLedger(t *testing.T) {
	f := func(name string, staleness int, writes []w, reads ...r) {
		t.Helper()
		l := NewLedger[int, string]("x", time.Duration(staleness)*time.Millisecond)
		for _, w := range writes {
			ack := l.Begin(1, w.value, at(w.began))
			if w.acked >= 0 {
				ack(at(w.acked))
			}
		}
		reader := l.Reader()
		for i, r := range reads {
			var err error
			if r.value == "" {
				err = reader.Missing(nil, 1, at(r.began))
			} else {
				err = reader.Read(nil, 1, r.value, at(r.began))
			}
			check := ""
			var fault *Fault
			if errors.As(err, &fault) {
				check = fault.Check
			}
			if check != r.want {
				t.Errorf("%s: read %d: %v, want %q", name, i+1, err, r.want)
			}
		}
	}
	one := []w{{"a", 0, 10}}
	two := []w{{"a", 0, 10}, {"b", 20, 30}}
	f("nothing was written", 0, nil, r{"", 0, ""}, r{"a", 0, "x-unknown"})
	f("seen once acknowledged", 0, one, r{"a", 10, ""})
	f("seen before it is acknowledged", 0, one, r{"a", 5, ""})
	f("not yet seen while it is under way", 0, one, r{"", 9, ""})
	f("missing when acknowledged", 0, one, r{"", 10, "x-missing"})
	f("missing within the staleness", 100, one, r{"", 109, ""}, r{"", 110, "x-missing"})
	f("never written", 0, one, r{"z", 50, "x-unknown"})
	f("the old value while the new one is under way", 0, two, r{"a", 29, ""})
	f("the old value after the new one", 0, two, r{"a", 30, "x-stale"})
	f("the old value within the staleness", 50, two, r{"a", 79, ""}, r{"a", 80, "x-stale"})
	f("the new value early", 0, two, r{"b", 21, ""})
	f("backwards", 50, two, r{"b", 40, ""}, r{"a", 41, "x-backwards"}, r{"b", 42, ""})
	f("vanished", 100, one, r{"a", 20, ""}, r{"", 21, "x-backwards"})
	// Writes that overlap may have happened in either order.
	both := []w{{"a", 0, 30}, {"b", 10, 20}}
	f("overlapping: either", 0, both, r{"a", 50, ""}, r{"b", 51, ""}, r{"a", 52, ""})
	f("overlapping, then a third", 0, append(both, w{"c", 40, 50}), r{"a", 60, "x-stale"}, r{"b", 60, "x-stale"}, r{"c", 60, ""})
	// A write with an unknown outcome may appear at any time, or never.
	lost := []w{{"a", 0, 10}, {"b", 20, -1}, {"c", 40, 50}}
	f("unknown outcome: shows late", 0, lost, r{"c", 60, ""}, r{"b", 61, ""}, r{"c", 62, ""})
	f("unknown outcome: never shows", 0, lost[:2], r{"a", 1000, ""})
	f("unknown outcome hides nothing", 0, lost, r{"a", 60, "x-stale"})
	// A value written again is as new as the latest write of it.
	f("written again", 0, []w{{"a", 0, 10}, {"b", 20, 30}, {"a", 40, 50}}, r{"b", 60, "x-stale"}, r{"a", 60, ""})
	// Acknowledgements out of order.
	f("acknowledged out of order", 0, []w{{"a", 0, 100}, {"b", 1, 10}, {"c", 20, 30}}, r{"b", 40, "x-stale"}, r{"a", 200, ""}, r{"c", 200, ""})
}

// TestLedgerReaders: readers and keys are independent, and initial data is known.
func TestLedgerReaders(t *testing.T) {
	l := NewLedger[string, int]("x", time.Hour)
	l.Known("k", 1)
	l.Begin("k", 2, at(10))(at(20))
	l.Begin("other", 3, at(10))(at(20))
	a, b := l.Reader(), l.Reader()
	if err := a.Read(nil, "k", 2, at(30)); err != nil {
		t.Error(err)
	}
	if err := b.Read(nil, "k", 1, at(30)); err != nil {
		t.Errorf("another reader: %v", err)
	}
	if err := a.Read(nil, "k", 1, at(30)); err == nil {
		t.Error("the first reader was taken back")
	}
	if err := a.Read(nil, "k", 3, at(30)); err == nil {
		t.Error("a value of another key")
	}
	if err := b.Missing(nil, "unknown", at(30)); err != nil {
		t.Error(err)
	}
	if n := l.Values(); n != 3 {
		t.Errorf("%d values", n)
	}
}

// TestLedgerAtOnce checks concurrent use, with the race detector too: a real
// register never fails a check.
func TestLedgerAtOnce(t *testing.T) {
	l := NewLedger[int, int]("x", 0)
	var mu sync.Mutex
	register := 0
	l.Known(0, 0)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 500 {
				v := 1 + n*4 + i
				ack := l.Begin(0, v, time.Now())
				mu.Lock()
				register = v
				mu.Unlock()
				ack(time.Now())
			}
		})
		wg.Go(func() {
			reader := l.Reader()
			for range 500 {
				began := time.Now()
				mu.Lock()
				v := register
				mu.Unlock()
				if err := reader.Read(nil, 0, v, began); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
