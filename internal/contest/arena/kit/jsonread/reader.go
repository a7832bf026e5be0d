// Package jsonread reads values out of a JSON text without building a tree.
package jsonread

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// A Reader reads values in their order. It exists for answers under load, which
// are read thousands of times a second: encoding/json takes ten times as long.
// It accepts what RFC 8259 accepts, and does not take null for another value.
// After the first error every method returns at once with a zero value.
type Reader struct {
	b     []byte
	i     int
	depth int
	err   error
}

const maxDepth = 64

// ErrEnd means that the text ends within a value.
var ErrEnd = errors.New("unexpected end")

// New returns a reader of a text, which must not change while it is read.
func New(text []byte) Reader { return Reader{b: text} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail sets the error at the current place, unless there is one.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %s", r.i, fmt.Sprintf(format, args...))
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (r *Reader) peek() byte {
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
func (r *Reader) take(c byte) bool {
	if r.err != nil {
		return false
	}
	if got := r.peek(); got != c {
		if r.i >= len(r.b) {
			r.err = ErrEnd
		} else {
			r.Fail("%q where %q was expected", got, c)
		}
		return false
	}
	r.i++
	return true
}

// End checks that only white space follows the value, and returns the first error.
func (r *Reader) End() error {
	if r.err == nil && r.peek() != 0 || r.err == nil && r.i < len(r.b) {
		r.Fail("more after the value")
	}
	return r.err
}

// enter opens an array or object and reports whether it has items.
func (r *Reader) enter(open, shut byte) (items bool) {
	if !r.take(open) {
		return false
	}
	if r.depth++; r.depth > maxDepth {
		r.Fail("nested too deeply")
		return false
	}
	if r.peek() == shut {
		r.i++
		r.depth--
		return false
	}
	return true
}

// more goes to the next item, or leaves the array or object.
func (r *Reader) more(shut byte) bool {
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

// Array calls item at each item. item must consume it.
func (r *Reader) Array(item func()) {
	for ok := r.enter('[', ']'); ok; ok = r.more(']') {
		item()
	}
}

// Object calls field at each value. field must consume it. name is valid during
// the call.
func (r *Reader) Object(field func(name []byte)) {
	for ok := r.enter('{', '}'); ok; ok = r.more('}') {
		name := r.Str()
		if !r.take(':') {
			return
		}
		field(name)
	}
}

// First opens an object and reports whether its first field has a name. The
// field's value is next then. It is for looking ahead with a copy of the reader:
// the object stays open.
func (r *Reader) First(name string) bool {
	return r.enter('{', '}') && string(r.Str()) == name && r.take(':')
}

// Null consumes a null if it is next, and reports whether it was.
func (r *Reader) Null() bool { return r.err == nil && r.peek() == 'n' && r.word("null") }

func (r *Reader) word(w string) bool {
	if len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		r.Fail("no JSON value")
		return false
	}
	r.i += len(w)
	return true
}

// Bool reads true or false.
func (r *Reader) Bool() bool {
	if r.err != nil {
		return false
	}
	switch r.peek() {
	case 't':
		return r.word("true")
	case 'f':
		r.word("false")
	default:
		r.Fail("no boolean")
	}
	return false
}

// Int reads an integer without fraction or exponent.
func (r *Reader) Int() int64 {
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
			r.Fail("integer too large")
			return 0
		}
		n = n*10 + uint64(r.b[r.i]-'0')
	}
	bad := r.i == start || r.b[start] == '0' && r.i > start+1
	if bad || r.i < len(r.b) && (r.b[r.i] == '.' || r.b[r.i]|0x20 == 'e') {
		r.Fail("no integer")
		return 0
	}
	if n > math.MaxInt64 {
		r.Fail("integer too large")
		return 0
	}
	if neg {
		return -int64(n)
	}
	return int64(n)
}

// Str reads a string. Without escapes the result is a part of the text.
func (r *Reader) Str() []byte {
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
			r.Fail("control character in a string")
			return nil
		}
	}
	r.err = ErrEnd
	return nil
}

// escaped reads a string with escapes from its first byte on. Some languages
// escape every letter beyond ASCII. It is the slow path.
func (r *Reader) escaped(start int) []byte {
	for ; r.i < len(r.b); r.i++ {
		switch r.b[r.i] {
		case '"':
			r.i++
			var s string
			if err := json.Unmarshal(r.b[start-1:r.i], &s); err != nil {
				r.Fail("%v", err)
			}
			return []byte(s)
		case '\\':
			r.i++
		}
	}
	r.err = ErrEnd
	return nil
}

// valid returns a string if it is UTF-8.
func (r *Reader) valid(at int, s []byte) []byte {
	if !utf8.Valid(s) {
		r.i = at
		r.Fail("a string that is not UTF-8")
	}
	return s
}

// Skip consumes any value.
func (r *Reader) Skip() {
	if r.err != nil {
		return
	}
	switch c := r.peek(); c {
	case '{':
		r.Object(func([]byte) { r.Skip() })
	case '[':
		r.Array(r.Skip)
	case '"':
		r.Str()
	case 't', 'f':
		r.Bool()
	case 'n':
		r.word("null")
	default:
		r.number()
	}
}

// Float reads a number of any form.
func (r *Reader) Float() float64 {
	if r.err != nil {
		return 0
	}
	r.peek()
	start := r.i
	if r.number(); r.err != nil {
		return 0
	}
	n, err := strconv.ParseFloat(string(r.b[start:r.i]), 64)
	if err != nil {
		r.i = start
		r.Fail("%v", err)
		return 0
	}
	return n
}

// number consumes a number of any form.
func (r *Reader) number() {
	start := r.i
	for ; r.i < len(r.b); r.i++ {
		c := r.b[r.i]
		if c-'0' > 9 && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			break
		}
	}
	if !json.Valid(r.b[start:r.i]) {
		r.i = start
		r.Fail("no JSON value")
	}
}
