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

// bodies shares equal cached bodies between browsers: a thousand browsers with
// the same 300 KB of assets need 300 KB. The references are weak, so a body is
// freed when the last browser drops it.
type bodies struct {
	seed  maphash.Seed
	mu    sync.Mutex
	known map[uint64]weak.Pointer[blob]
}

func newBodies() *bodies {
	return &bodies{seed: maphash.MakeSeed(), known: make(map[uint64]weak.Pointer[blob])}
}

// of returns the shared blob with this content. It copies data that is new.
func (s *bodies) of(data []byte) *blob {
	sum := maphash.Bytes(s.seed, data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.known[sum].Value(); b != nil {
		if bytes.Equal(b.data, data) {
			return b
		}
		return &blob{bytes.Clone(data)} // hash collision: this body is not shared
	}
	b := &blob{bytes.Clone(data)}
	ref := weak.Make(b)
	s.known[sum] = ref
	runtime.AddCleanup(b, func(sum uint64) { s.freed(sum, ref) }, sum)
	return b
}

// freed removes the entry of a collected body, unless a new body has replaced it.
func (s *bodies) freed(sum uint64, ref weak.Pointer[blob]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[sum] == ref {
		delete(s.known, sum)
	}
}
