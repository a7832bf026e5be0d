package mine

import (
	"sync"
	"time"
)

// A bucket limits a rate: it holds one second's worth of requests.
type bucket struct {
	rate float64 // requests per second, and the size of the bucket

	mu   sync.Mutex
	left float64
	last time.Time
}

// take takes a request out of the bucket. It returns false if the bucket is empty.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last.IsZero() {
		b.left = b.rate
	} else {
		b.left = min(b.rate, b.left+now.Sub(b.last).Seconds()*b.rate)
	}
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
