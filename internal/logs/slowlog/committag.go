package slowlog

import "bytes"

const (
	// maxTag limits a tag in a fingerprint, in bytes. It is cut between words.
	maxTag = 160
	// maxTagComment is how many bytes of a comment are read.
	maxTagComment = 1 << 10
)

// tag appends the comment at p as a tag of a COMMIT or ROLLBACK. Applications
// name a route or controller there, which attributes the cost of the commit.
// Frameworks add ids of requests and traces to it, which are folded to ?:
//
//   - values of id keys (traceparent, request_id, …) as a whole;
//   - uuids, trace ids and other hexadecimal runs as a whole;
//   - random tokens as a whole, and numbers in all other words.
//
// Percent escapes of sqlcommenter are decoded. The tag of a tag is the same tag.
func (f *Fingerprinter) tag(p int) {
	if f.in[p] != '/' {
		return
	}
	body := bytes.TrimSuffix(f.in[p+2:f.endOfComment(p)], []byte("*/"))
	f.tagText = appendTagText(f.tagText[:0], body[:min(len(body), maxTagComment)])
	start := len(f.out)
	f.out = append(f.out, " /* "...)
	from := len(f.out)
	for i := 0; i < len(f.tagText); {
		before := len(f.out)
		f.out, i = appendTagToken(f.out, f.tagText, i)
		if len(f.out)-from > maxTag {
			f.out = f.out[:before]
			break
		}
	}
	f.out = bytes.TrimRight(f.out, " ")
	if len(f.out) <= from {
		f.out = f.out[:start]
		return
	}
	f.out = append(f.out, " */"...)
	f.prev = tokClose
}

// appendTagText appends a comment's text: percent escapes decoded, * and %
// replaced, because the text must not end the comment or have new escapes, and
// runs of white space joined.
func appendTagText(out, body []byte) []byte {
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '%' {
			c = '_'
			if i+2 < len(body) && isHex[body[i+1]] && isHex[body[i+2]] {
				c = unescaped(body[i+1], body[i+2])
				i += 2
			}
		}
		switch {
		case c == '*':
			c = '_'
		case c <= ' ' || c == 0x7f:
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			c = ' '
		}
		out = append(out, c)
	}
	return bytes.TrimRight(out, " ")
}

// unescaped returns the character of an escape with two hexadecimal digits, or _
// if it is not a visible ASCII character or has a meaning in comments.
func unescaped(a, b byte) byte {
	digit := func(c byte) byte {
		if c <= '9' {
			return c - '0'
		}
		return c | 0x20 - 'a' + 10
	}
	c := digit(a)<<4 | digit(b)
	if c <= ' ' || c >= 0x7f || c == '%' || c == '\'' || c == '"' {
		return '_'
	}
	return c
}

// isHex is true for hexadecimal digits.
var isHex = func() (is [256]bool) {
	for _, c := range []byte("0123456789abcdefABCDEF") {
		is[c] = true
	}
	return is
}()

// inTagWord reports whether a byte belongs to a word or number of a tag. ? does,
// so that a folded word stays one word.
func inTagWord(c byte) bool {
	return (class[c] == clWord && c != '@' && c != '$') || class[c] == clDigit || c == '?'
}

// appendTagToken appends the token of a tag at text[i], folded, and returns the
// position after it: a group of words joined by - or _, with its value if it is an
// id key, or one other byte.
func appendTagToken(out, text []byte, i int) ([]byte, int) {
	if !inTagWord(text[i]) {
		return append(out, text[i]), i + 1
	}
	j := i + 1
	for j < len(text) && (inTagWord(text[j]) || text[j] == '-' && j+1 < len(text) && inTagWord(text[j+1])) {
		j++
	}
	group := text[i:j]
	out = appendFolded(out, group)
	if value, end := tagValue(text, j); end > value && isIDKey(group) {
		return append(append(out, text[j:value]...), '?'), end
	}
	return out, j
}

// tagValue returns the bounds of the value that follows a key which ends at p, as
// in key='value', key:value or "key":"value". They are equal if there is no value.
func tagValue(text []byte, p int) (from, to int) {
	if p < len(text) && (text[p] == '"' || text[p] == '\'') {
		p++
	}
	if p >= len(text) || text[p] != '=' && text[p] != ':' {
		return p, p
	}
	if p++; p < len(text) && text[p] == ' ' && text[p-1] == ':' {
		p++
	}
	if p >= len(text) {
		return p, p
	}
	from = p
	if q := text[p]; q == '\'' || q == '"' {
		for p++; p < len(text) && text[p] != q; p++ {
			if text[p] == '\\' {
				p++
			}
		}
		p = min(p+1, len(text)) // what follows without a separator belongs to it
	}
	for p < len(text) && bytes.IndexByte([]byte(",;& )]}"), text[p]) < 0 {
		p++
	}
	return from, p
}

// idKeys are keys of ids in comments besides those that end in id, in lower case
// without - and _.
var idKeys = map[string]bool{
	"traceparent": true, "tracestate": true, "trace": true, "span": true, "session": true, "request": true, "correlation": true,
	"guid": true, "uuid": true, "nonce": true, "root": true, "self": true, "parent": true, "ts": true, "time": true, "timestamp": true, "thread": true,
	"pid": true, "tid": true, "rid": true, "sid": true, "jid": true, "xid": true, "uid": true, "cid": true, "id": true, "requestid": true, "reqid": true, "traceid": true,
	"spanid": true, "sessionid": true, "correlationid": true, "userid": true, "jobid": true, "threadid": true, "processid": true, "txid": true, "messageid": true,
}

// isIDKey reports whether a key names an id: one of idKeys, or a key whose last
// word is id, as in user_id and userId.
func isIDKey(key []byte) bool {
	var low [32]byte
	n := 0
	for _, c := range key {
		if c == '-' || c == '_' {
			continue
		}
		if n == len(low) {
			break
		}
		low[n] = lower[c]
		n++
	}
	if idKeys[string(low[:n])] {
		return true
	}
	k := len(key)
	return k > 2 && lower[key[k-1]] == 'd' && (key[k-2]|0x20) == 'i' &&
		(key[k-3] == '_' || key[k-3] == '-' || key[k-2] == 'I' && key[k-3] >= 'a' && key[k-3] <= 'z')
}

// appendFolded appends a group of words joined by - or _, with ids and numbers
// folded to ?. Several words that together are one hexadecimal id, as in a uuid,
// become one ?.
func appendFolded(out, group []byte) []byte {
	for i := 0; i < len(group); {
		if n := hexRun(group[i:]); n > 0 {
			out = append(out, '?')
			i += n
			continue
		}
		j := i
		for j < len(group) && group[j] != '-' && group[j] != '_' {
			j++
		}
		out = appendFoldedWord(out, group[i:j])
		for ; j < len(group) && (group[j] == '-' || group[j] == '_'); j++ {
			out = append(out, group[j])
		}
		i = j
	}
	return out
}

// minHexRun is the number of hexadecimal digits from which words joined by - or _
// are one id. Dates have eight.
const minHexRun = 16

// hexRun returns the length of the id that b begins with: hexadecimal words joined
// by single - or _, at least minHexRun digits in all with a decimal one among
// them. It is 0 for none.
func hexRun(b []byte) (end int) {
	digits, decimal, word := 0, false, 0
	for i := 0; ; i++ {
		if i < len(b) && isHex[b[i]] {
			digits, word = digits+1, word+1
			decimal = decimal || class[b[i]] == clDigit
			continue
		}
		if word == 0 || i < len(b) && b[i] != '-' && b[i] != '_' {
			digits -= word // of a word with other letters
			break
		}
		end, word = i, 0
		if i == len(b) {
			break
		}
	}
	if digits >= minHexRun && decimal {
		return end
	}
	return 0
}

// appendFoldedWord appends ? for a word that is an id, else the word with its
// numbers as ?. An id is hexadecimal, or mixes letters and digits as words do not.
func appendFoldedWord(out, w []byte) []byte {
	digits, runs, hex, small, large := 0, 0, true, false, false
	for i, c := range w {
		hex = hex && isHex[c]
		small = small || c >= 'a' && c <= 'z'
		large = large || c >= 'A' && c <= 'Z'
		if class[c] == clDigit {
			if digits++; i == 0 || class[w[i-1]] != clDigit {
				runs++
			}
		}
	}
	switch n := len(w); {
	case hex && (n >= minHexRun || n >= 8 && digits > 0),
		runs >= 3 && n >= 10,
		digits >= 2 && n >= 20 && small && large:
		return append(out, '?')
	}
	for i, c := range w {
		if class[c] != clDigit {
			out = append(out, c)
		} else if i == 0 || class[w[i-1]] != clDigit {
			out = append(out, '?')
		}
	}
	return out
}
