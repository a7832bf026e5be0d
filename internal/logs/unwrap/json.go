package unwrap

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// member returns the raw value of a key of the JSON object in a line: a string with its
// quotes, an object, a number. It reads as much of the line as it needs to and does not
// prove that the rest is JSON.
func member(line []byte, key string) (value []byte, ok bool) {
	i := skipBlanks(line, 0)
	if i >= len(line) || line[i] != '{' {
		return nil, false
	}
	for i++; ; i++ {
		i = skipBlanks(line, i)
		if i >= len(line) || line[i] != '"' {
			return nil, false
		}
		end := stringEnd(line, i)
		if end < 0 {
			return nil, false
		}
		name := line[i+1 : end-1]
		i = skipBlanks(line, end)
		if i >= len(line) || line[i] != ':' {
			return nil, false
		}
		i = skipBlanks(line, i+1)
		if end = valueEnd(line, i); end < 0 {
			return nil, false
		}
		if string(name) == key {
			return line[i:end], true
		}
		if i = skipBlanks(line, end); i >= len(line) || line[i] != ',' {
			return nil, false
		}
	}
}

func skipBlanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that begins at b[i], -1 if it does not
// end.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); {
		k := bytes.IndexByte(b[j:], '"')
		if k < 0 {
			return -1
		}
		k += j
		slashes := 0
		for k-slashes-1 > i && b[k-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return k + 1
		}
		j = k + 1
	}
	return -1
}

// valueEnd returns the index behind the value that begins at b[i], -1 if it does not
// end.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	j := i
	for j < len(b) && b[j] != ',' && b[j] != '}' && b[j] != ']' && b[j] != ' ' && b[j] != '\t' {
		j++
	}
	if j == i {
		return -1
	}
	return j
}

func nestedEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// leadingText is text of the value of a key that a line begins with, as in {"log":"…":
// ok is false if the line begins otherwise. It reads the string once, eight bytes at a
// time, and so needs half of the time of member and text.
func leadingText(line []byte, begin string, buf *[]byte) (content []byte, ok bool) {
	if len(line) < len(begin) || string(line[:len(begin)]) != begin {
		return nil, false
	}
	i := len(begin)
	out := slices.Grow((*buf)[:0], len(line)+8)[:len(line)+8]
	n := 0
	for {
		for i+8 <= len(line) {
			eight := binary.LittleEndian.Uint64(line[i:])
			binary.LittleEndian.PutUint64(out[n:], eight)
			plain := bits.TrailingZeros64(bytesEqual(eight, '"')|bytesEqual(eight, '\\')) / 8
			i, n = i+plain, n+plain
			if plain < 8 {
				break
			}
		}
		if i >= len(line) {
			return nil, false
		}
		switch c := line[i]; {
		case c == '"':
			*buf = out
			return out[:n], true
		case c == '\\' && i+1 < len(line) && (line[i+1] == '"' || line[i+1] == '\\'):
			out[n] = line[i+1]
			i, n = i+2, n+1
		case c == '\\':
			after, rest := unescape(out[:n], line[i:])
			n, i = len(after), len(line)-len(rest)
		default:
			out[n] = c
			i, n = i+1, n+1
		}
	}
}

// bytesEqual has the highest bit of the lowest byte of eight that is c; bits above it may
// be set, too. It is zero if no byte is c. (Hacker's Delight, section 6-1.)
func bytesEqual(eight uint64, c byte) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	x := eight ^ ones*uint64(c)
	return (x - ones) &^ x & highs
}

// text returns the content of a JSON string, unescaped into buf if it has escapes.
func text(value []byte, buf *[]byte) []byte {
	value = value[1 : len(value)-1]
	i := bytes.IndexByte(value, '\\')
	if i < 0 {
		return value
	}
	for out := (*buf)[:0]; ; {
		out = append(out, value[:i]...)
		out, value = unescape(out, value[i:])
		if i = bytes.IndexByte(value, '\\'); i < 0 {
			*buf = append(out, value...)
			return *buf
		}
	}
}

// unescape appends the character of the escape with which v begins, and returns the
// rest. An invalid escape is appended as it is.
func unescape(out, v []byte) (appended, rest []byte) {
	if len(v) < 2 {
		return append(out, v...), nil
	}
	switch v[1] {
	case 'n':
		return append(out, '\n'), v[2:]
	case 't':
		return append(out, '\t'), v[2:]
	case 'r':
		return append(out, '\r'), v[2:]
	case 'b':
		return append(out, '\b'), v[2:]
	case 'f':
		return append(out, '\f'), v[2:]
	case '"', '\\', '/':
		return append(out, v[1]), v[2:]
	case 'u':
		r, n := unicodeEscape(v)
		return utf8.AppendRune(out, r), v[n:]
	}
	return append(out, v[0]), v[1:]
}

// unicodeEscape reads \uXXXX, or two of them for a character beyond the first plane.
func unicodeEscape(v []byte) (r rune, n int) {
	r, ok := fourHex(v)
	if !ok {
		return utf8.RuneError, 2
	}
	if utf16.IsSurrogate(r) {
		if low, ok := fourHex(v[6:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func fourHex(v []byte) (r rune, ok bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	for _, c := range v[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
