package bench

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestNextDue(t *testing.T) {
	f := func(due, now, period int64, queue bool, next, dropped int64) {
		t.Helper()
		if n, d := nextDue(due, now, period, queue); n != next || d != dropped {
			t.Errorf("due %d, free at %d, period %d, queue %v: next %d, %d dropped; want %d, %d", due, now, period, queue, n, d, next, dropped)
		}
	}
	f(100, 100, 40, false, 140, 0)
	f(100, 139, 40, false, 140, 0)
	f(100, 140, 40, false, 140, 0) // due right now: not passed
	f(100, 141, 40, false, 180, 1)
	f(100, 180, 40, false, 180, 1)
	f(100, 181, 40, false, 220, 2)
	f(100, 1100, 40, false, 1100, 24)
	f(100, 141, 40, true, 140, 0)
	f(100, 1100, 40, true, 140, 0)
	f(100, 90, 40, false, 140, 0) // free before it was due: a clock that stood
	f(0, 1<<60, 1, false, 1<<60, 1<<60-1)
}

// TestDueTimer: no sleeper is woken before its due time, every sleeper is woken,
// and a sleeper may give up.
func TestDueTimer(t *testing.T) {
	c := &clock{base: time.Now()}
	m, err := newDueTimer(c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	m.probe(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			s := newSleeper()
			due := c.now()
			for range 10 {
				due += int64(time.Duration(1+i%7) * time.Millisecond)
				if !m.sleep(ctx, s, due) {
					t.Error("sleep gave up")
				}
				if now := c.now(); now < due {
					t.Errorf("woken %v early", time.Duration(due-now))
				}
			}
		})
	}
	wg.Wait()
	for i := range 20 {
		wg.Go(func() {
			if m.sleep(ctx, newSleeper(), c.now()+int64(time.Hour)+int64(i)) {
				t.Error("an hour has passed")
			}
		})
	}
	time.Sleep(5 * time.Millisecond)
	cancel()
	wg.Wait()
	m.mu.Lock()
	left := len(m.queue)
	m.mu.Unlock()
	if left != 0 {
		t.Errorf("%d sleepers left behind", left)
	}
	probes := func() int64 {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.lag.Count()
	}
	for end := time.Now().Add(patience); probes() < 5 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	if lag := m.probe(false); lag.Count() < 5 {
		t.Errorf("%d probes", lag.Count())
	}
}
