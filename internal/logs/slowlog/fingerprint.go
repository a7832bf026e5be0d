package slowlog

import (
	"bytes"

	"github.com/iikanji/iikanji/internal/logs/tally"
)

// A Fingerprinter turns statements into fingerprints: statements without their
// values, layout and comments. Statements that differ only in those have the same
// fingerprint, and a fingerprint contains no values.
//
// It is a one-pass lexer, not a parser. It accepts any bytes, because a log may
// contain statements of any dialect, cut off or broken.
//
//   - Letters become lower case, quotes around names are dropped, and tokens are
//     separated by one space.
//   - Numbers, strings, and NULL, TRUE and FALSE in place of a value become ?.
//   - An IN list of values becomes (?+), as does a row of VALUES; further rows are
//     dropped.
//   - Equal items of other IN lists, equal branches of a CASE, and equal arms of a UNION
//     beyond the second are dropped.
//   - LIMIT a, b and LIMIT a OFFSET b become LIMIT ?.
//   - Comments are dropped, but optimizer hints and version comments count as
//     text, and a comment after COMMIT or ROLLBACK stays as a tag (committag.go).
//
// It stays beside package sqltext, the one tokenizer, because it reads every statement of a
// log: it writes the fingerprint while it reads, and allocates nothing. TestAgreesWithSQLText
// holds both to the same literals.
//
// The fingerprint of a fingerprint is the same fingerprint. Reusing a
// Fingerprinter saves allocations; it is not safe for concurrent use.
type Fingerprinter struct {
	Dialect Dialect
	// FoldTables folds the numbers in names of tables, as in tenant_1, tenant_2.
	FoldTables bool

	in     []byte
	pos    int
	out    []byte
	prev   tokenKind
	word   int // beginning of the last word in out
	sign   sign
	limit  int // end of the last LIMIT ? in out; 0 for none
	unions int // words UNION
	whens  int // words WHEN
	frames []frame
	depth  int // of parentheses, also of those beyond the frames

	lead     int    // beginning of a comment before the first token; -1 for none
	tagText  []byte // of a comment, decoded
	place    tablePlace
	afterFor bool   // the word before is FOR or KEY, for place
	tok      int    // beginning of the current token in in
	values   uint64 // hash of all values
	escapes  bool   // a backslash escapes in strings
	unclosed bool   // a string or quoted name has no end
}

// A Dialect is the kind of SQL that a log contains. The dialects differ in quotes,
// escapes, comments and placeholders.
type Dialect uint8

const (
	MySQL      Dialect = iota // MySQL and MariaDB: "x" is a string, \ escapes, # begins a comment
	SQLite                    // "x" is a name
	PostgreSQL                // "x" is a name, $1 a placeholder, $$x$$ and E'x' are strings
)

// A tokenKind is the kind of the previous token.
type tokenKind uint8

const (
	tokNone tokenKind = iota
	tokWord
	tokName  // a quoted name: never a keyword
	tokValue // ?
	tokOp
	tokOpen
	tokClose
	tokComma
	tokDot
	tokSemicolon
)

// A sign is + or - where it cannot be a binary operator. It is dropped when a
// value follows.
type sign struct {
	start int // its beginning in out, including the space before it
	end   int // its end in out; 0 for none
	prev  tokenKind
}

// A frame is an open parenthesis.
type frame struct {
	start  int       // beginning of its content in out
	role   frameRole // what the parenthesis belongs to
	values bool      // so far only values, commas and such parentheses
}

type frameRole uint8

const (
	framePlain frameRole = iota
	frameIn
	frameValues
)

const (
	// maxFrames is the depth to which lists are collapsed. Deeper lists are kept.
	maxFrames = 64
	// maxFingerprint limits a fingerprint, in bytes. The rest is dropped.
	maxFingerprint = 32 << 10
)

// Digest is the stable 64-bit hash of a fingerprint.
func Digest(fingerprint []byte) uint64 { return tally.Hash(fingerprint, 0) }

// Fingerprint returns the fingerprint of a statement. It is valid until the next call.
func (f *Fingerprinter) Fingerprint(sql []byte) []byte {
	f.in, f.pos, f.out, f.prev, f.word, f.limit = sql, 0, f.out[:0], tokNone, 0, 0
	f.frames, f.depth, f.sign = f.frames[:0], 0, sign{}
	f.unions, f.whens = 0, 0
	f.values, f.unclosed, f.lead = 0, false, -1
	f.place, f.afterFor, f.escapes = noTable, false, f.Dialect == MySQL
	for f.pos < len(f.in) && len(f.out) < maxFingerprint {
		if f.in[f.pos] == ' ' {
			f.pos++
			continue
		}
		f.token()
	}
	for n := len(f.out); n > 0 && (f.out[n-1] == ';' || f.out[n-1] == ' '); n-- {
		f.out = f.out[:n-1]
	}
	if f.unions > 1 || f.whens > 1 {
		f.foldRepeats()
	}
	if f.lead >= 0 && (string(f.out) == "commit" || string(f.out) == "rollback") {
		f.tag(f.lead)
	}
	f.in = nil
	return f.out
}

// token reads one token, comment or run of white space.
func (f *Fingerprinter) token() {
	f.tok = f.pos
	c := f.in[f.pos]
	switch class[c] {
	case clSpace:
		f.pos++
	case clWord:
		f.readWord()
	case clDigit:
		f.readNumber()
	case clQuote:
		if c == '"' && f.Dialect != MySQL {
			f.readName()
			return
		}
		f.readString()
	case clBacktick:
		f.readName()
	case clPunct:
		f.punct(c)
	default:
		f.operator(c)
	}
}

// punct handles parentheses, commas, semicolons, placeholders and dots.
func (f *Fingerprinter) punct(c byte) {
	switch c {
	case '(':
		f.open()
	case ')':
		f.close()
	case ',':
		f.put(',', tokComma)
		if f.place == inTables {
			f.place = tableNext
		}
	case ';':
		f.pos++
		f.place = noTable
		if f.prev != tokNone && f.prev != tokSemicolon {
			f.out, f.prev = append(f.out, ';'), tokSemicolon
		}
	case '?':
		f.pos++
		if f.peek(0) == '+' && f.skipSpace(f.pos+1) < len(f.in) && f.in[f.skipSpace(f.pos+1)] == ')' {
			f.pos++ // the ?+ of a fingerprint
		}
		f.value()
	case '.':
		if f.peek(1) == '.' && f.peek(2) == '.' { // performance_schema shortens lists
			f.pos += 3
			f.value()
			return
		}
		if class[f.peek(1)] == clDigit && f.prev != tokWord && f.prev != tokName && f.prev != tokClose {
			f.readNumber()
			return
		}
		if f.prev != tokWord && f.prev != tokName && f.prev != tokClose || !f.qualifies() {
			f.space() // no name follows the dot
			f.put('.', tokOp)
			return
		}
		f.put('.', tokDot)
	}
}

// qualifies reports whether a name or * follows the dot at the position.
func (f *Fingerprinter) qualifies() bool {
	p := f.skipSpace(f.pos + 1)
	if p >= len(f.in) {
		return false
	}
	switch class[f.in[p]] {
	case clWord, clDigit, clBacktick:
		return true
	}
	return f.in[p] == '*' || f.in[p] == '"' && f.Dialect != MySQL
}

// put writes a character without a space before it.
func (f *Fingerprinter) put(c byte, kind tokenKind) {
	f.pos++
	f.out = append(f.out, c)
	f.prev = kind
	if kind != tokComma {
		f.notValues()
	}
}

// space writes the space between two tokens.
func (f *Fingerprinter) space() {
	switch f.prev {
	case tokNone, tokOpen, tokDot:
	default:
		f.out = append(f.out, ' ')
	}
}

// value writes ?, unless it continues a LIMIT or a list of strings.
func (f *Fingerprinter) value() {
	f.values = tally.Hash(f.in[f.tok:f.pos], f.values)
	if f.prev == tokOp && f.sign.end == len(f.out) && f.sign.end > 0 {
		f.out, f.prev = f.out[:f.sign.start], f.sign.prev
	}
	if f.prev == tokValue { // 'a' 'b' is one string
		return
	}
	if f.limit > 0 { // LIMIT ?, ? and LIMIT ? OFFSET ?
		if tail := string(f.out[f.limit:]); tail == "," || tail == " offset" {
			f.out, f.prev = f.out[:f.limit], tokValue
			return
		}
	}
	limit := f.after("limit")
	f.space()
	f.out = append(f.out, '?')
	f.prev = tokValue
	if limit {
		f.limit = len(f.out)
	}
}

// after reports whether the last token is this word, given in lower case.
func (f *Fingerprinter) after(word string) bool {
	return f.prev == tokWord && string(f.out[f.word:]) == word
}

// notValues marks the innermost parenthesis as more than a list of values.
func (f *Fingerprinter) notValues() {
	if n := len(f.frames); n > 0 && n == f.depth {
		f.frames[n-1].values = false
	}
}

// open handles "(".
func (f *Fingerprinter) open() {
	f.place = noTable
	fr := frame{values: true}
	switch {
	case f.after("in"):
		fr.role = frameIn
	case f.after("values"), f.after("value"):
		fr.role = frameValues
	}
	if f.prev == tokWord && spacedBeforeParen(f.out[f.word:]) || f.prev != tokWord && f.prev != tokName {
		f.space()
	}
	f.pos++
	f.out = append(f.out, '(')
	f.prev = tokOpen
	fr.start = len(f.out)
	if f.depth++; f.depth == len(f.frames)+1 && f.depth <= maxFrames {
		f.frames = append(f.frames, fr)
	}
}

// close handles ")": a list of values becomes ?+, and further rows of VALUES are
// dropped.
func (f *Fingerprinter) close() {
	f.pos++
	f.out = append(f.out, ')')
	f.prev = tokClose
	n := len(f.frames)
	if f.depth == n && n > 0 {
		fr := f.frames[n-1]
		f.frames = f.frames[:n-1]
		f.shut(fr)
		if n > 1 && !fr.values {
			f.frames[n-2].values = false
		}
	}
	f.depth = max(f.depth-1, 0)
}

func (f *Fingerprinter) shut(fr frame) {
	empty := len(f.out)-1 == fr.start
	if fr.values && !empty && fr.role != framePlain {
		f.out = append(f.out[:fr.start], "?+)"...)
	}
	if fr.role == frameIn && !fr.values {
		f.foldItems(fr.start)
	}
	if fr.role == frameValues {
		f.skipRows()
	}
}

// skipRows skips all following ", (…)".
func (f *Fingerprinter) skipRows() {
	for {
		p := f.skipSpace(f.pos)
		if p >= len(f.in) || f.in[p] != ',' {
			return
		}
		p = f.skipSpace(p + 1)
		if bytes.HasPrefix(f.in[p:], []byte("...")) {
			f.pos = p + 3
			continue
		}
		if p >= len(f.in) || f.in[p] != '(' {
			return
		}
		from := f.pos
		f.pos = f.skipParen(p)
		f.values = tally.Hash(f.in[from:f.pos], f.values)
	}
}

// skipParen returns the position after the parenthesis that opens at p.
func (f *Fingerprinter) skipParen(p int) int {
	depth := 0
	for p < len(f.in) {
		switch c := f.in[p]; {
		case class[c] == clQuote || class[c] == clBacktick:
			p = f.endOfQuoted(p)
			continue
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return p + 1
			}
		case c == '/' && p+1 < len(f.in) && f.in[p+1] == '*':
			p = f.endOfComment(p)
			continue
		}
		p++
	}
	return p
}

// skipSpace returns the position of the next token at or after p. It skips white
// space and comments that do not count as text.
func (f *Fingerprinter) skipSpace(p int) int {
	for p < len(f.in) {
		c := f.in[p]
		switch {
		case class[c] == clSpace:
			p++
		case c == '*' && p+1 < len(f.in) && f.in[p+1] == '/':
			p += 2
		case class[c] == clOther && f.isComment(p):
			p = f.endOfAnyComment(p)
		case c == '/' && p+1 < len(f.in) && f.in[p+1] == '*':
			p = f.textOfComment(p)
		default:
			return p
		}
	}
	return p
}

// peek returns the byte n positions ahead, 0 beyond the end.
func (f *Fingerprinter) peek(n int) byte {
	if f.pos+n < len(f.in) {
		return f.in[f.pos+n]
	}
	return 0
}
