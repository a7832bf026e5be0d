package h2

// entryOverhead is what an entry counts besides its bytes (RFC 7541, 4.1).
const entryOverhead = 32

// A table is the dynamic table of a decoder. The bytes of all entries are in one
// buffer, oldest first, so that an entry costs no allocation.
type table struct {
	max   int // the size that the peer's encoder uses
	size  int
	bytes []byte
	spans []span // oldest first
}

// A span is one entry: where its bytes begin, and their lengths.
type span struct{ at, name, value int }

func (s span) size() int { return s.name + s.value + entryOverhead }

// at returns the i-th youngest entry, from 0.
func (t *table) at(i int) (name, value []byte, ok bool) {
	if i >= len(t.spans) {
		return nil, nil, false
	}
	s := t.spans[len(t.spans)-1-i]
	end := s.at + s.name
	return t.bytes[s.at:end:end], t.bytes[end : end+s.value : end+s.value], true
}

// add adds an entry and drops the oldest ones that have no room any more. An entry
// that is larger than the table empties it (RFC 7541, 4.4). name and value may be
// slices of the table.
func (t *table) add(name, value []byte) {
	s := span{at: len(t.bytes), name: len(name), value: len(value)}
	if s.size() > t.max {
		t.evict(0)
		return
	}
	t.bytes = append(append(t.bytes, name...), value...)
	t.evict(t.max - s.size())
	t.spans = append(t.spans, s)
	t.size += s.size()
	t.compact()
}

// evict drops the oldest entries until the others count at most limit.
func (t *table) evict(limit int) {
	n := 0
	for t.size > limit {
		t.size -= t.spans[n].size()
		n++
	}
	t.spans = t.spans[:copy(t.spans, t.spans[n:])]
}

// compact removes the bytes of dropped entries when they are as many as all entries
// may have, so that a byte moves once on average. There must be an entry.
func (t *table) compact() {
	dead := t.spans[0].at
	if dead < t.max {
		return
	}
	t.bytes = t.bytes[:copy(t.bytes, t.bytes[dead:])]
	for i := range t.spans {
		t.spans[i].at -= dead
	}
}

// resize changes the size that the encoder uses.
func (t *table) resize(n int) {
	t.max = n
	t.evict(n)
}
