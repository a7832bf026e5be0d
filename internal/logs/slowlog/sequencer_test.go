package slowlog

import (
	"runtime"
	"sync"
	"testing"
)

// TestSequencer: while one worker is stopped, the others do not run further
// ahead than maxWaiting batches, and the order of the log is kept.
func TestSequencer(t *testing.T) {
	var order []int64
	s := newSequencer(func(b *batch) { order = append(order, b.offset) })
	blocks := make(chan int64)
	go func() {
		defer close(blocks)
		for i := range int64(200) {
			blocks <- i
		}
	}()
	var most int
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := range blocks {
				for waiting := 0; i%50 == 0 && waiting < 3; runtime.Gosched() {
					s.mu.Lock()
					waiting = len(s.waiting)
					s.mu.Unlock()
				}
				s.put(&batch{offset: i, end: i + 1, data: []byte("x")})
				s.mu.Lock()
				most = max(most, len(s.waiting))
				s.mu.Unlock()
			}
		})
	}
	wg.Wait()
	if most > maxWaiting+1 || most < 3 {
		t.Errorf("%d batches were kept at most, want up to %d", most, maxWaiting+1)
	}
	for i, got := range order {
		if got != int64(i) {
			t.Fatalf("batch %d came at place %d", got, i)
		}
	}
	if len(order) != 200 {
		t.Errorf("%d of 200 batches", len(order))
	}
}

// TestSequencerGap: a batch that never comes does not stop the others for ever.
func TestSequencerGap(t *testing.T) {
	s := newSequencer(func(*batch) {})
	for i := int64(1); i <= maxWaiting+1; i++ { // batch 0 is missing
		s.put(&batch{offset: i, end: i + 1, data: []byte("x")})
	}
	if len(s.waiting) != maxWaiting+1 {
		t.Errorf("%d batches are kept", len(s.waiting))
	}
}
