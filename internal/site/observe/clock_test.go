package observe

import (
	"sync/atomic"
	"testing"
	"time"
)

// A sampledClock is a clock that counts how often it is read. The samplers of hosts
// read it once for each sample, so that a test can wait for samples instead of for a
// time.
type sampledClock struct {
	reads, before atomic.Int64
	began         time.Time
}

func (c *sampledClock) now() time.Time {
	c.reads.Add(1)
	return time.Now()
}

// begin is called when the samplers have begun.
func (c *sampledClock) begin() {
	c.before.Store(c.reads.Load())
	c.began = time.Now()
}

// wait waits until n samples were begun, and returns the time since begin.
func (c *sampledClock) wait(t *testing.T, n int64) time.Duration {
	t.Helper()
	for end := time.Now().Add(time.Minute); c.reads.Load()-c.before.Load() < n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d samples in a minute, want %d", c.reads.Load()-c.before.Load(), n)
		}
	}
	return time.Since(c.began)
}
