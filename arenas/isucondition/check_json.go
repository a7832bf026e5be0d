package isucondition

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// A jsonReader pulls values out of a JSON text without building a tree: the
// answers under load are read thousands of times a second, and encoding/json
// takes ten times as long for them. It accepts what RFC 8259 accepts, in any
// order of fields and with any others between, and takes null for no value.
// After the first error every method returns at once.
type jsonReader struct {
	b     []byte
	i     int
	depth int
	err   error
}

const maxDepth = 64

var errEnd = errors.New("unexpected end")

func (r *jsonReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %s", r.i, fmt.Sprintf(format, args...))
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take consumes the byte c, which must be next.
func (r *jsonReader) take(c byte) bool {
	if r.err != nil {
		return false
	}
	if got := r.peek(); got != c {
		if r.i >= len(r.b) {
			r.err = errEnd
		} else {
			r.fail("%q where %q was expected", got, c)
		}
		return false
	}
	r.i++
	return true
}

// end wants nothing but white space behind the value.
func (r *jsonReader) end() error {
	if r.err == nil && r.peek() != 0 || r.err == nil && r.i < len(r.b) {
		r.fail("more after the value")
	}
	return r.err
}

// enter opens an array or object; items says whether it has any.
func (r *jsonReader) enter(open, shut byte) (items bool) {
	if !r.take(open) {
		return false
	}
	if r.depth++; r.depth > maxDepth {
		r.fail("nested too deeply")
		return false
	}
	if r.peek() == shut {
		r.i++
		r.depth--
		return false
	}
	return true
}

// more goes to the next item, or leaves.
func (r *jsonReader) more(shut byte) bool {
	if r.err != nil {
		return false
	}
	switch r.peek() {
	case ',':
		r.i++
		return true
	case shut:
		r.i++
		r.depth--
	default:
		r.take(shut)
	}
	return false
}

// array calls item at each item, which must consume it.
func (r *jsonReader) array(item func()) {
	for ok := r.enter('[', ']'); ok; ok = r.more(']') {
		item()
	}
}

// object calls field at each value, which must consume it. name is valid
// during the call.
func (r *jsonReader) object(field func(name []byte)) {
	for ok := r.enter('{', '}'); ok; ok = r.more('}') {
		name := r.str()
		if !r.take(':') {
			return
		}
		field(name)
	}
}

// null consumes a null, if it is one.
func (r *jsonReader) null() bool { return r.err == nil && r.peek() == 'n' && r.word("null") }

func (r *jsonReader) word(w string) bool {
	if len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		r.fail("no JSON value")
		return false
	}
	r.i += len(w)
	return true
}

func (r *jsonReader) bool() bool {
	if r.err != nil {
		return false
	}
	switch r.peek() {
	case 't':
		return r.word("true")
	case 'f':
		r.word("false")
	default:
		r.fail("no boolean")
	}
	return false
}

// int reads an integer without fraction or exponent.
func (r *jsonReader) int() int64 {
	if r.err != nil {
		return 0
	}
	neg := r.peek() == '-'
	if neg {
		r.i++
	}
	start, n := r.i, uint64(0)
	for ; r.i < len(r.b) && r.b[r.i]-'0' <= 9; r.i++ {
		if r.i-start > 18 {
			r.fail("integer too large")
			return 0
		}
		n = n*10 + uint64(r.b[r.i]-'0')
	}
	bad := r.i == start || r.b[start] == '0' && r.i > start+1
	if bad || r.i < len(r.b) && (r.b[r.i] == '.' || r.b[r.i]|0x20 == 'e') {
		r.fail("no integer")
		return 0
	}
	if n > math.MaxInt64 {
		r.fail("integer too large")
		return 0
	}
	if neg {
		return -int64(n)
	}
	return int64(n)
}

// str reads a string: a piece of the text itself where it has no escapes.
func (r *jsonReader) str() []byte {
	if !r.take('"') {
		return nil
	}
	start := r.i
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; {
		case c == '"':
			r.i++
			return r.valid(start, r.b[start:r.i-1])
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			r.fail("control character in a string")
			return nil
		}
	}
	r.err = errEnd
	return nil
}

// escaped reads a string with escapes from its first byte on. Apps in other
// languages write every letter beyond ASCII so; it is not the common road.
func (r *jsonReader) escaped(start int) []byte {
	for ; r.i < len(r.b); r.i++ {
		switch r.b[r.i] {
		case '"':
			r.i++
			var s string
			if err := json.Unmarshal(r.b[start-1:r.i], &s); err != nil {
				r.fail("%v", err)
			}
			return []byte(s)
		case '\\':
			r.i++
		}
	}
	r.err = errEnd
	return nil
}

// valid passes a string on if it is UTF-8.
func (r *jsonReader) valid(at int, s []byte) []byte {
	if !utf8.Valid(s) {
		r.i = at
		r.fail("a string that is not UTF-8")
	}
	return s
}

// skip consumes any value.
func (r *jsonReader) skip() {
	if r.err != nil {
		return
	}
	switch c := r.peek(); c {
	case '{':
		r.object(func([]byte) { r.skip() })
	case '[':
		r.array(r.skip)
	case '"':
		r.str()
	case 't', 'f':
		r.bool()
	case 'n':
		r.word("null")
	default:
		r.number()
	}
}

// number consumes a number of any form.
func (r *jsonReader) number() {
	start := r.i
	for ; r.i < len(r.b); r.i++ {
		c := r.b[r.i]
		if c-'0' > 9 && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			break
		}
	}
	if !json.Valid(r.b[start:r.i]) {
		r.i = start
		r.fail("no JSON value")
	}
}
