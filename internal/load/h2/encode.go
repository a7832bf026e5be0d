package h2

import "strings"

// An Encoder encodes the header blocks of one connection. It keeps fields that come
// again in the dynamic table, and allocates for new ones only. Strings are not
// Huffman-coded: the load is local, and both sides would pay for it.
type Encoder struct {
	max    int // size of the table, as the peer knows it
	want   int // what the peer allows
	least  int // the smallest that it allowed since the latest block
	size   int
	fields []entry // oldest first; names in lower case
}

// NewEncoder returns an encoder with the default table.
func NewEncoder() *Encoder {
	return &Encoder{max: DefaultTable, want: DefaultTable, least: DefaultTable}
}

// SetMax follows the peer's SETTINGS_HEADER_TABLE_SIZE. A larger table than the
// default is not used.
func (e *Encoder) SetMax(n int) {
	e.want = min(n, DefaultTable)
	e.least = min(e.least, e.want)
	e.evict(e.least)
}

// Begin appends what stands before the first field of a block: a change of the
// table's size (RFC 7541, 4.2). A size that became smaller and larger again is changed
// in two blocks, because hpack's decoder refuses two changes in one.
func (e *Encoder) Begin(b []byte) []byte {
	next := e.want
	if e.least < e.max {
		next = e.least
	}
	e.least = e.want
	if next == e.max {
		return b
	}
	e.max = next
	return appendNumber(b, 0x20, 5, next)
}

// Field appends a field that is likely to come again. name may have any case.
func (e *Encoder) Field(b []byte, name, value string) []byte {
	at, both := e.find(name, value, "", "")
	if both {
		return appendNumber(b, 0x80, 7, at)
	}
	return e.literal(b, at, strings.ToLower(name), strings.Clone(value))
}

// Pair appends a field whose value is key=value, such as a cookie.
func (e *Encoder) Pair(b []byte, name, key, value string) []byte {
	at, both := e.find(name, key, "=", value)
	if both {
		return appendNumber(b, 0x80, 7, at)
	}
	return e.literal(b, at, name, key+"="+value)
}

// literal appends a field and keeps it in the table.
func (e *Encoder) literal(b []byte, at int, name, value string) []byte {
	size := len(name) + len(value) + entryOverhead
	if size > e.max/2 { // it would drop most others, so it is sent without indexing
		return appendText(appendName(b, 0, 4, at, name), value)
	}
	b = appendText(appendName(b, 0x40, 6, at, name), value)
	e.evict(e.max - size)
	e.fields = append(e.fields, entry{name, value})
	e.size += size
	return b
}

// Once appends a field whose value is likely to change: it is not kept. at is the
// index of its name in the static table.
func (e *Encoder) Once(b []byte, at int, value string) []byte {
	return appendText(appendNumber(b, 0, 4, at), value)
}

// OnceBytes is Once with a value in bytes.
func (e *Encoder) OnceBytes(b []byte, at int, value []byte) []byte {
	b = appendNumber(b, 0, 4, at)
	b = appendNumber(b, 0, 7, len(value))
	return append(b, value...)
}

// Index appends a field of the static table.
func (e *Encoder) Index(b []byte, at int) []byte { return append(b, 0x80|byte(at)) }

// find finds a field whose value is the three parts together. If it is in no table,
// at is the index of a field with the name, or 0.
func (e *Encoder) find(name, first, second, third string) (at int, both bool) {
	n := len(first) + len(second) + len(third)
	for i := len(e.fields) - 1; i >= 0; i-- {
		f := &e.fields[i]
		if len(f.name) != len(name) || !equalLower(f.name, name) {
			continue
		}
		if v := f.value; len(v) == n && v[:len(first)] == first && v[len(first):len(first)+len(second)] == second && v[len(first)+len(second):] == third {
			return staticSize + len(e.fields) - i, true
		}
		if at == 0 {
			at = staticSize + len(e.fields) - i
		}
	}
	if at == 0 {
		at = staticIndex(name)
	}
	return at, false
}

// staticIndex returns the index of a name in the static table, 0 for none.
func staticIndex(name string) int { return staticNames[strings.ToLower(name)] }

// equalLower compares a name in lower case with one in any case, of the same length.
func equalLower(lower, name string) bool {
	if lower == name {
		return true
	}
	for i := range len(lower) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// evict drops the oldest fields until the others count at most limit.
func (e *Encoder) evict(limit int) {
	n := 0
	for e.size > limit {
		f := &e.fields[n]
		e.size -= len(f.name) + len(f.value) + entryOverhead
		n++
	}
	if n == 0 {
		return
	}
	kept := copy(e.fields, e.fields[n:])
	clear(e.fields[kept:])
	e.fields = e.fields[:kept]
}

// appendName appends the beginning of a literal field: the index of its name, or the
// name.
func appendName(b []byte, pattern byte, bits uint, at int, name string) []byte {
	b = appendNumber(b, pattern, bits, at)
	if at == 0 {
		b = appendText(b, name)
	}
	return b
}

// appendText appends a string that is not Huffman-coded.
func appendText(b []byte, s string) []byte { return append(appendNumber(b, 0, 7, len(s)), s...) }

// appendNumber appends a number with a prefix of so many bits, behind a pattern.
func appendNumber(b []byte, pattern byte, bits uint, n int) []byte {
	mask := 1<<bits - 1
	if n < mask {
		return append(b, pattern|byte(n))
	}
	b = append(b, pattern|byte(mask))
	for n -= mask; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// Indices of the static table that requests use (RFC 7541, appendix A).
const (
	IndexAuthority       = 1
	IndexGet             = 2
	IndexPost            = 3
	IndexPath            = 4
	IndexRoot            = 4 // the path "/"
	IndexHTTP            = 6
	IndexHTTPS           = 7
	IndexContentLength   = 28
	IndexIfModifiedSince = 40
	IndexIfNoneMatch     = 41
)
