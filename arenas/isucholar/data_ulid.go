package isucholar

import (
	"math/rand/v2"
	"sync"
	"time"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ulid writes 48 bits of time and 80 further bits as 26 characters.
func ulid(ms, high, low uint64) string {
	var b [26]byte
	for i := range 10 {
		b[9-i] = crockford[ms>>(5*i)&31]
	}
	for i := range 8 {
		b[17-i] = crockford[high>>(5*i)&31]
		b[25-i] = crockford[low>>(5*i)&31]
	}
	return string(b[:])
}

// drawULID makes an identifier of a time.
func drawULID(r *rand.Rand, at time.Time) string {
	return ulid(uint64(at.UnixMilli()), r.Uint64(), r.Uint64())
}

// A ulids gives out identifiers of the present time, each above the one before.
type ulids struct {
	mu    sync.Mutex
	last  uint64
	count uint64
}

func (u *ulids) next(now time.Time) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = max(u.last, uint64(now.UnixMilli()))
	u.count++
	return ulid(u.last, u.count, 0)
}
