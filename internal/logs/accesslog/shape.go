package accesslog

import (
	"bytes"
	"encoding/binary"
)

// A kind classifies a segment by its text alone: a literal, or a placeholder
// for many values.
type kind uint8

const (
	literal   kind = iota
	number         // 1234
	uuid           // 8-4-4-4-12 hex digits
	ulid           // 26 characters of Crockford's base 32
	hexes          // 7 or more hex digits, of both kinds
	token          // base64 and other mixes of letter cases and digits
	date           // 2026-11-19
	email          // a@b.c
	handle         // @name
	file           // static file whose name has a number or a hash: app.3f2a.js
	anything       // a value that the learner found, of any shape
	rest           // all segments beyond maxSegments
	queryKeys      // the sorted keys of the query
	noSlash        // first segment of a path without a leading slash
	pattern        // a pattern that the user gave: the whole route
	otherVerb      // first segment of a route whose method is not in methods: the method
	colon          // the ":" inside a segment of two parts: Talk:Tundra, 42:publish
	paren          // the "(" before a key in parentheses: Orders(1)
	nKinds
)

// kindNames are the placeholders in templates; an ending may follow: ":id.png".
var kindNames = [nKinds]string{"", ":id", ":uuid", ":ulid", ":hex", ":token", ":date", ":email", "@:name", ":file", ":any", "**", "", "", ""}

// A class is a kind of byte, as a bit.
type class uint16

const (
	cDigit  class = 1 << iota
	cHexLow       // a–f
	cLow          // g–z
	cHexUp        // A–F
	cUp           // G–Z
	cDash         // -
	cUnder        // _
	cDot          // .
	cOther        // everything else
	cGlue         // : and (, which may divide a segment; cOther too
)

const (
	cLower  = cHexLow | cLow
	cUpper  = cHexUp | cUp
	cLetter = cLower | cUpper
	cJoin   = cDash | cUnder
)

// classOf is 0 for bytes that end a segment: "/", "?" and "#".
var classOf = func() (t [256]class) {
	for i := range t {
		switch c := byte(i); {
		case c == '/' || c == '?' || c == '#':
		case c >= '0' && c <= '9':
			t[i] = cDigit
		case c >= 'a' && c <= 'f':
			t[i] = cHexLow
		case c >= 'g' && c <= 'z':
			t[i] = cLow
		case c >= 'A' && c <= 'F':
			t[i] = cHexUp
		case c >= 'G' && c <= 'Z':
			t[i] = cUp
		case c == '-':
			t[i] = cDash
		case c == '_':
			t[i] = cUnder
		case c == '.':
			t[i] = cDot
		case c == ':' || c == '(':
			t[i] = cOther | cGlue
		default:
			t[i] = cOther
		}
	}
	return t
}()

// A shape is a classified segment. For a literal, text is the segment; for
// other kinds it is the ending that is kept.
type shape struct {
	kind kind
	text []byte
}

// maxLiteral is the longest segment that is kept as a literal.
const maxLiteral = 64

// shapeOf classifies a segment; mask has the classes of its bytes.
func shapeOf(seg []byte, mask class) shape {
	if mask&(cDigit|cOther) == 0 && len(seg) <= 20 {
		return shape{literal, seg} // only letters, as in most segments
	}
	if mask == cDigit {
		return shape{number, nil}
	}
	return closerShape(seg, mask)
}

// closerShape classifies segments that are not plain words.
func closerShape(seg []byte, mask class) shape {
	if mask&cOther != 0 {
		if i := bytes.IndexByte(seg, ';'); i >= 0 { // matrix parameters: ;jsessionid=…
			seg = seg[:i]
			return shapeOf(seg, maskOf(seg))
		}
		if k := withSign(seg); k != literal {
			return shape{k, nil}
		}
	}
	if mask&cDigit != 0 && mask&^(cDigit|cDot|cDash) == 0 && isFraction(seg) {
		return shape{number, nil}
	}
	if mask == cDigit|cLow && isDimensions(seg) {
		return shape{number, nil}
	}
	if mask&cDot != 0 {
		if s, ok := fileShape(seg); ok {
			return s
		}
	}
	if k := idShape(seg, mask); k != literal {
		return shape{k, nil}
	}
	if len(seg) > maxLiteral {
		return shape{token, nil}
	}
	return shape{literal, seg}
}

func maskOf(seg []byte) (mask class) {
	for _, c := range seg {
		mask |= classOf[c]
	}
	return mask
}

// withSign classifies segments with "@" or ",".
func withSign(seg []byte) kind {
	at := bytes.IndexByte(seg, '@')
	if at < 0 {
		if i := bytes.Index(seg, []byte("%40")); i >= 0 {
			seg, at = append(append(append(make([]byte, 0, 64), seg[:i]...), '@'), seg[i+3:]...), i
		}
	}
	switch {
	case at == 0 && len(seg) > 1 && bytes.IndexByte(seg[1:], '@') < 0:
		return handle
	case at > 0 && bytes.IndexByte(seg[at:], '.') > 1:
		return email
	case at < 0 && isList(seg):
		return number
	}
	return literal
}

// isDimensions reports whether a segment is a width and a height: 640x480.
func isDimensions(seg []byte) bool {
	width, height, ok := bytes.Cut(seg, []byte{'x'})
	return ok && maskOf(width) == cDigit && maskOf(height) == cDigit
}

// isList reports whether a segment is numbers separated by commas: ids, or coordinates.
func isList(seg []byte) bool {
	if bytes.IndexByte(seg, ',') <= 0 {
		return false
	}
	for _, item := range bytes.Split(seg, []byte{','}) {
		if maskOf(item) != cDigit && !isSigned(item, 1) {
			return false
		}
	}
	return true
}

// isFraction reports whether a segment is a number that no version is: it has a sign, or
// two places behind its point (prices, coordinates). "2.0" may be the version of an
// interface.
func isFraction(seg []byte) bool { return isSigned(seg, 2) }

// isSigned reports whether a segment is a whole number with a sign, or a decimal number
// with at least so many places.
func isSigned(seg []byte, places int) bool {
	digits := bytes.TrimPrefix(seg, []byte{'-'})
	whole, fraction, hasPoint := bytes.Cut(digits, []byte{'.'})
	if maskOf(whole) != cDigit {
		return false
	}
	if !hasPoint {
		return len(digits) < len(seg)
	}
	return maskOf(fraction) == cDigit && (len(fraction) >= places || len(digits) < len(seg))
}

// idShape recognises identifiers and dates.
func idShape(seg []byte, mask class) kind {
	n := len(seg)
	if mask&cDigit == 0 {
		if n >= 22 && mask&cLower != 0 && mask&cUpper != 0 && mask&(cOther|cDot) == 0 && dense(seg, 45) {
			return token
		}
		return literal
	}
	if n == 36 && isUUID(seg) {
		return uuid
	}
	if mask&cJoin != 0 && isDate(seg) {
		return date
	}
	const hexLow, hexUp = cDigit | cHexLow, cDigit | cHexUp
	if n >= 7 && (mask&^hexLow == 0 || mask&^hexUp == 0) {
		return hexes
	}
	if n == 26 && (mask&cLower == 0 || mask&cUpper == 0) && isULID(seg) {
		return ulid
	}
	if isToken(seg, mask) {
		return token
	}
	return literal
}

// isUUID checks the first 36 bytes: dashes in their places and hex digits
// elsewhere, eight at a time.
func isUUID(b []byte) bool {
	if b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return false
	}
	le := binary.LittleEndian
	return allHex(le.Uint64(b)) && allHex(le.Uint64(b[28:])) &&
		allHex(uint64(le.Uint32(b[9:]))|uint64(le.Uint32(b[14:]))<<32) &&
		allHex(uint64(le.Uint32(b[19:]))|uint64(le.Uint32(b[24:]))<<32)
}

// allHex reports whether all eight bytes are hex digits. The high bit of
// (x|0x80)-n is set where x ≥ n in a byte, without a borrow from its neighbour.
func allHex(x uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := x | 0x20*ones // capitals become small letters; digits stay
	digit := ((x | high) - '0'*ones) &^ ((x | high) - ('9'+1)*ones)
	letter := ((low | high) - 'a'*ones) &^ ((low | high) - ('f'+1)*ones)
	return (digit|letter)&high&^x == high
}

// isULID checks the alphabet of Crockford's base 32 and that the time is before
// the year 10889.
func isULID(seg []byte) bool {
	if seg[0] > '7' {
		return false
	}
	for _, c := range seg {
		switch c | 0x20 {
		case 'i', 'l', 'o', 'u', '-', '_' | 0x20:
			return false
		}
	}
	return true
}

// isDate accepts 2026-11-19, 2026-11, and a date followed by T and a time.
func isDate(seg []byte) bool {
	if len(seg) < 7 || seg[4] != '-' && seg[4] != '_' {
		return false
	}
	if y, m := four(seg), two(seg[5:]); y < 1900 || y > 2200 || m < 1 || m > 12 {
		return false
	}
	if len(seg) == 7 {
		return true
	}
	if len(seg) < 10 || seg[7] != seg[4] {
		return false
	}
	if d := two(seg[8:]); d < 1 || d > 31 {
		return false
	}
	return len(seg) == 10 || seg[10] == 'T'
}

// isToken recognises dense mixes of letters and digits: they change class
// often. In random base64 text, six of ten neighbouring pairs are of different
// classes; in capitalised words with a year behind them, one of four.
func isToken(seg []byte, mask class) bool {
	n := len(seg)
	cased := mask&cLower != 0 && mask&cUpper != 0
	switch {
	case mask&cLetter == 0 || mask&(cDot|cOther) != 0 && n < 40:
		return false
	case n >= 40 && cased:
		return dense(seg, 30)
	case n >= 10 && cased:
		return dense(seg, 45)
	case n >= 20 && mask&cJoin == 0:
		return dense(seg, 28)
	case n >= 12 && mask&cJoin == 0:
		return dense(seg, 35)
	}
	return false
}

// dense reports whether at least percent of the neighbouring letters or digits
// are of different classes.
func dense(seg []byte, percent int) bool {
	pairs, changes := 0, 0
	before := class(0)
	for _, c := range seg {
		now := class(0)
		switch k := classOf[c]; {
		case k&cLower != 0:
			now = cLower
		case k&cUpper != 0:
			now = cUpper
		case k == cDigit:
			now = cDigit
		}
		if now == 0 || before == 0 {
			before = now
			continue
		}
		pairs++
		if now != before {
			changes++
		}
		before = now
	}
	return changes*100 >= pairs*percent && changes > 2
}

// static are the endings of files that servers send unchanged.
var static = map[string]bool{"js": true, "mjs": true, "css": true, "map": true, "png": true, "jpg": true, "jpeg": true,
	"gif": true, "svg": true, "ico": true, "webp": true, "avif": true, "bmp": true, "tif": true, "tiff": true,
	"woff": true, "woff2": true, "ttf": true, "otf": true, "eot": true, "mp4": true, "webm": true, "mp3": true,
	"ogg": true, "wav": true, "m3u8": true, "ts": true, "pdf": true, "zip": true, "gz": true, "tar": true,
	"wasm": true, "webmanifest": true, "br": true, "csv": true, "xlsx": true, "docx": true}

// isStatic reports whether an ending, in any case, is that of a static file.
func isStatic(ext []byte) bool {
	var lower [12]byte
	if len(ext) > len(lower) {
		return false
	}
	for i, c := range ext {
		lower[i] = c | 0x20
	}
	return static[string(lower[:len(ext)])]
}

// ending splits a file name at its last dot.
func ending(seg []byte) (stem, ext []byte, ok bool) {
	i := bytes.LastIndexByte(seg, '.')
	if i <= 0 || i == len(seg)-1 || len(seg)-i > 12 {
		return nil, nil, false
	}
	ext = seg[i+1:]
	for _, c := range ext {
		if classOf[c]&(cLetter|cDigit) == 0 {
			return nil, nil, false
		}
	}
	return seg[:i], ext, classOf[ext[0]]&cLetter != 0
}

// fileShape classifies names with an ending: an identifier before the ending
// keeps it (":id.json"); a static file whose name has a digit is a :file.
func fileShape(seg []byte) (shape, bool) {
	stem, ext, ok := ending(seg)
	if !ok {
		return shape{}, false
	}
	dotted := seg[len(stem):]
	mask := maskOf(stem)
	if mask == cDigit {
		return shape{number, dotted}, true
	}
	if k := idShape(stem, mask); k != literal {
		return shape{k, dotted}, true
	}
	if mask&cDigit != 0 && isStatic(ext) && !isNamedPlatform(stem) || len(stem) > maxLiteral {
		return shape{file, dotted}, true
	}
	return shape{}, false
}

// termsWithDigits are names of platforms and formats: the digits in app-linux-amd64.tar.gz
// are those of no value.
var termsWithDigits = wordSet("amd64 arm64 x64 x86 i386 i686 win32 win64 linux64 aarch64 armv7 armhf md5 sha1 sha256 sha512 utf8 mp3 mp4 html5 css3 es5 es6 i18n k8s oauth2 ipv4 ipv6")

// isNamedPlatform reports whether each part of a text that has digits is such a name.
func isNamedPlatform(stem []byte) bool {
	for len(stem) > 0 {
		n := bytes.IndexAny(stem, "-_.")
		if n < 0 {
			n = len(stem)
		}
		if part := stem[:n]; maskOf(part)&cDigit != 0 && !termsWithDigits[string(part)] {
			return false
		}
		stem = stem[min(n+1, len(stem)):]
	}
	return true
}
