package sqlcache

import (
	"bytes"
	"crypto/rand"
	"database/sql/driver"
	"encoding/binary"
	"math"
	"strconv"
	"time"
)

// stripe is the place of a key column's value. ok is false for a value that may
// be equal to values with other stripes under the column's rules of comparison.
func stripe(kind Kind, v driver.Value) (place int, ok bool) {
	switch kind {
	case Integer:
		n, ok := integer(v)
		return int(mix(uint64(n)) % stripes), ok
	case Text:
		return textStripe(v)
	}
	return 0, false
}

// writtenStripe is the stripe of a value that a write stores. NULL and zero are
// unknown: the database may store the next number of an AUTO_INCREMENT instead.
func writtenStripe(kind Kind, v driver.Value) (place int, ok bool) {
	if kind == Integer {
		if n, ok := integer(v); !ok || n == 0 {
			return 0, false
		}
	}
	return stripe(kind, v)
}

// integer reads a value that an integer column compares as this integer.
func integer(v driver.Value) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		return decimal(v)
	case []byte:
		return decimal(string(v))
	}
	return 0, false
}

// mostDigits bounds texts that are read as integers.
const mostDigits = 18

func decimal(s string) (n int64, ok bool) {
	if s == "" || len(s) > mostDigits || s[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// textStripe hashes a text of printable ASCII without regard to case and to
// spaces at the end. Other texts may be equal to texts with other bytes: é to e,
// full-width to half-width, a character that the collation ignores to nothing.
func textStripe(v driver.Value) (place int, ok bool) {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	h := uint64(offset)
	add := func(c byte) bool {
		if c < 0x20 || c > 0x7e {
			return false
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		h = (h ^ uint64(c)) * prime
		return true
	}
	switch s := v.(type) {
	case string:
		for len(s) > 0 && s[len(s)-1] == ' ' {
			s = s[:len(s)-1]
		}
		for i := 0; i < len(s); i++ {
			if !add(s[i]) {
				return 0, false
			}
		}
	case []byte:
		s = bytes.TrimRight(s, " ")
		for _, c := range s {
			if !add(c) {
				return 0, false
			}
		}
	default:
		return 0, false
	}
	return int(mix(h) % stripes), true
}

// mix spreads the bits of a number. It is the finalizer of MurmurHash3.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// A hasher makes the keys of entries. Its seed is drawn for each Cache, so that
// no client can choose arguments that collide.
type hasher struct{ seed uint64 }

func newSeed() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return uint64(time.Now().UnixNano())
	}
	return binary.LittleEndian.Uint64(b[:])
}

// text hashes a text, eight bytes at a time.
func (h hasher) text(s string) uint64 {
	sum := mix(h.seed ^ uint64(len(s)))
	for ; len(s) >= 8; s = s[8:] {
		sum = mix(sum ^ (uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56))
	}
	last := uint64(0)
	for i := 0; i < len(s); i++ {
		last |= uint64(s[i]) << (8 * uint(i))
	}
	return mix(sum ^ last)
}

// arguments hashes the arguments of a statement. ok is false for a type that
// the cache does not know; such a statement goes to the database.
func (h hasher) arguments(sum uint64, args []driver.NamedValue) (_ uint64, ok bool) {
	for i := range args {
		if args[i].Name != "" {
			return 0, false
		}
		switch v := args[i].Value.(type) {
		case nil:
			sum = mix(sum + 1)
		case int64:
			sum = mix(sum ^ uint64(v) + 2)
		case uint64:
			sum = mix(sum ^ v + 3)
		case float64:
			sum = mix(sum ^ math.Float64bits(v) + 4)
		case bool:
			if v {
				sum = mix(sum + 5)
			} else {
				sum = mix(sum + 6)
			}
		case string:
			sum = mix(sum ^ h.text(v) + 7)
		case []byte:
			sum = mix(sum ^ h.text(string(v)) + 8)
		case time.Time:
			sum = mix(sum ^ uint64(v.UnixNano()) + 9)
		default:
			return 0, false
		}
	}
	return sum, true
}

// sameArguments compares arguments of the types that hasher knows.
func sameArguments(a []driver.Value, b []driver.NamedValue) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameValue(a[i], b[i].Value) {
			return false
		}
	}
	return true
}

func sameValue(a, b driver.Value) bool {
	switch x := a.(type) {
	case []byte:
		y, ok := b.([]byte)
		return ok && (x == nil) == (y == nil) && bytes.Equal(x, y)
	case time.Time:
		// The location is compared too: drivers send a time in a zone of their own.
		y, ok := b.(time.Time)
		return ok && x.Equal(y) && x.Location() == y.Location()
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	}
	if _, isBytes := b.([]byte); isBytes {
		return false // comparing byte slices as interfaces would panic
	}
	return a == b
}

// own copies a value that the driver may use again.
func own(v driver.Value) driver.Value {
	if b, ok := v.([]byte); ok && b != nil {
		return append([]byte{}, b...)
	}
	return v
}

// size is the memory of a value in bytes, roughly.
func size(v driver.Value) int64 {
	const word = 16
	switch v := v.(type) {
	case []byte:
		return word + 24 + int64(len(v))
	case string:
		return word + 16 + int64(len(v))
	case time.Time:
		return word + 24
	}
	return word + 8
}
