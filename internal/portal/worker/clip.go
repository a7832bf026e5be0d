package worker

import (
	"fmt"
	"sync"
)

// A clip keeps the first and the last half of what is written to it.
type clip struct {
	mu    sync.Mutex
	half  int
	first []byte
	last  []byte
	total int64
}

func newClip(n int) *clip { return &clip{half: max(n, 2) / 2} }

// Write implements io.Writer. It never fails: a benchmarker must not be stopped by its log.
func (c *clip) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += int64(len(b))
	rest := b
	if room := c.half - len(c.first); room > 0 {
		n := min(room, len(rest))
		c.first, rest = append(c.first, rest[:n]...), rest[n:]
	}
	if c.last = append(c.last, rest...); len(c.last) > 2*c.half {
		c.last = append([]byte(nil), c.last[len(c.last)-c.half:]...)
	}
	return len(b), nil
}

// String is what was kept, with a line for what was left out.
func (c *clip) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.last[max(0, len(c.last)-c.half):]
	left := c.total - int64(len(c.first)) - int64(len(last))
	if left <= 0 {
		return string(c.first) + string(last)
	}
	return fmt.Sprintf("%s\n… %d bytes were left out …\n%s", c.first, left, last)
}
