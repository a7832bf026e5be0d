package bench

import (
	"bytes"
	"hash/maphash"
	"runtime"
	"sync"
	"weak"
)

// A blob is a cached body. It never changes.
type blob struct{ data []byte }

func (b *blob) size() int { return len(b.data) }

// bodies holds each cached body once, however many browsers have it: a
// thousand browsers with the same 300 KB of assets need 300 KB. It holds them
// weakly; the last browser that forgets a body frees it.
type bodies struct {
	seed  maphash.Seed
	mu    sync.Mutex
	known map[uint64]weak.Pointer[blob]
}

func newBodies() *bodies {
	return &bodies{seed: maphash.MakeSeed(), known: make(map[uint64]weak.Pointer[blob])}
}

// of returns the blob with this content; data is copied where it is new.
func (s *bodies) of(data []byte) *blob {
	sum := maphash.Bytes(s.seed, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.known[sum].Value(); b != nil {
		if bytes.Equal(b.data, data) {
			return b
		}
		return &blob{bytes.Clone(data)} // two bodies of one sum: the second is not shared
	}
	b := &blob{bytes.Clone(data)}
	ref := weak.Make(b)
	s.known[sum] = ref
	runtime.AddCleanup(b, func(sum uint64) { s.freed(sum, ref) }, sum)
	return b
}

// freed takes a body's place away, unless a new one has it.
func (s *bodies) freed(sum uint64, ref weak.Pointer[blob]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[sum] == ref {
		delete(s.known, sum)
	}
}
