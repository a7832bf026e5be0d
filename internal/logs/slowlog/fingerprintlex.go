package slowlog

import "bytes"

// Classes of bytes.
const (
	clOther uint8 = iota // operators and all other bytes
	clSpace
	clWord // letters, _, $, @ and all bytes above ASCII
	clDigit
	clQuote
	clBacktick
	clPunct // ( ) , ; ? .
)

// class is the class of each byte, lower its lower case.
var class, lower = func() (cl [256]uint8, lo [256]byte) {
	for i := range 256 {
		c := byte(i)
		lo[i] = c
		switch {
		case c >= 'A' && c <= 'Z':
			cl[i], lo[i] = clWord, c+'a'-'A'
		case c >= 'a' && c <= 'z', c == '_', c == '$', c == '@', c >= 0x80:
			cl[i] = clWord
		case c >= '0' && c <= '9':
			cl[i] = clDigit
		case c == ' ', c == '\t', c == '\n', c == '\r', c == '\f', c == '\v', c == 0:
			cl[i] = clSpace
		case c == '\'', c == '"':
			cl[i] = clQuote
		case c == '`':
			cl[i] = clBacktick
		case c == '(', c == ')', c == ',', c == ';', c == '?', c == '.':
			cl[i] = clPunct
		}
	}
	return cl, lo
}()

// inWord is true for bytes that continue a word.
var inWord = func() (in [256]bool) {
	for i, c := range class {
		in[i] = c == clWord || c == clDigit
	}
	return in
}()

// appendLower appends a word in lower case.
func (f *Fingerprinter) appendLower(w []byte) {
	n := len(f.out)
	f.out = append(f.out, w...)
	low := f.out[n:]
	for i, c := range low {
		low[i] = lower[c]
	}
}

// readWord reads a keyword or name.
func (f *Fingerprinter) readWord() {
	p := f.pos
	for in := f.in; p < len(in) && inWord[in[p]]; {
		p++
	}
	if f.FoldTables {
		p = f.endOfFolded(p)
	}
	w := f.in[f.pos:p]
	if p < len(f.in) && f.in[p] == '\'' && f.prev != tokDot && f.introducer(w) { // x'00', _utf8mb4'…'
		f.pos = p
		f.escapes = f.escapes || w[0]|0x20 == 'e'
		f.readString()
		f.escapes = f.Dialect == MySQL
		return
	}
	if w[0] == '$' && f.Dialect == PostgreSQL && f.readDollar() {
		return
	}
	if f.prev != tokDot && f.literalWord(w) {
		f.pos = p
		f.value()
		return
	}
	f.space()
	f.word = len(f.out)
	f.appendLower(w)
	switch string(f.out[f.word:]) {
	case "union":
		f.unions++
	case "when":
		f.whens++
	}
	before := f.prev
	f.pos, f.prev = p, tokWord
	if f.FoldTables {
		f.foldName(before)
	}
	f.notValues()
	if f.word == 0 && string(f.out) == "use" { // USE db: the name is a value
		if p = f.skipSpace(f.pos); p < len(f.in) && f.in[p] != ';' {
			f.pos = p
			for f.pos < len(f.in) && f.in[f.pos] != ';' {
				f.pos++
			}
			f.value()
		}
	}
}

// readNumber reads a number. A sign before it belongs to it, unless the sign
// follows a value or a name.
func (f *Fingerprinter) readNumber() {
	p := f.pos
	for p < len(f.in) {
		c := f.in[p]
		switch {
		case class[c] == clDigit || class[c] == clWord || c == '.' && f.prev != tokDot && (p == f.pos || isExponent(f.in[f.pos:p])):
			p++
		case (c == '+' || c == '-') && p > f.pos && (f.in[p-1]|0x20) == 'e' && isExponent(f.in[f.pos:p-1]):
			p++
		default:
			f.endNumber(p)
			return
		}
	}
	f.endNumber(p)
}

// isExponent reports whether an e after these digits begins an exponent.
func isExponent(digits []byte) bool {
	for _, c := range digits {
		if class[c] != clDigit && c != '.' {
			return false
		}
	}
	return len(digits) > 0
}

// endNumber ends a token that began with a digit: a number, or a name such as
// 2021_log.
func (f *Fingerprinter) endNumber(p int) {
	w := f.in[f.pos:p]
	if f.prev == tokDot || isDigitName(w) {
		f.space()
		f.word = len(f.out)
		for _, c := range w {
			f.out = append(f.out, lower[c])
		}
		before := f.prev
		f.pos, f.prev = p, tokWord
		if f.FoldTables {
			f.foldName(before)
		}
		f.notValues()
		return
	}
	f.pos = p
	f.value()
}

// isDigitName reports whether a token of digits and letters is a name: it contains
// _, $ or a byte above ASCII, which no number contains.
func isDigitName(w []byte) bool {
	if len(w) > 1 && w[0] == '0' && (w[1]|0x20 == 'x' || w[1]|0x20 == 'b') {
		return false
	}
	for i, c := range w {
		switch {
		case class[c] == clDigit || c == '.' || c == '+' || c == '-':
		case c|0x20 == 'e' && i > 0 && isExponent(w[:i]):
		case c == '_' || c == '$' || c >= 0x80:
			return true
		default:
			// 12abc could be a name or a broken literal. Treat it as a value, because
			// values must not appear in a fingerprint.
			return false
		}
	}
	return false
}

// readString reads a quoted string. One without an end reaches to the end of the
// statement.
func (f *Fingerprinter) readString() {
	f.pos = f.endOfQuoted(f.pos)
	f.value()
}

// readName reads a quoted name. A name of word characters loses the quotes.
// Others keep them, with a backtick inside doubled as in the statement.
func (f *Fingerprinter) readName() {
	quote := f.in[f.pos]
	end := f.endOfQuoted(f.pos)
	body := f.in[f.pos+1 : end]
	if len(body) > 0 && body[len(body)-1] == quote {
		body = body[:len(body)-1]
	}
	f.space()
	f.word = len(f.out)
	f.pos = end
	f.notValues()
	plain := len(body) > 0 && class[body[0]] == clWord && (body[0] != '$' || f.Dialect != PostgreSQL)
	for i := 0; plain && i < len(body); i++ {
		plain = inWord[body[i]]
	}
	before := f.prev
	if plain { // a word, because a fingerprint that is read again has no quotes
		f.appendLower(body)
		f.prev = tokWord
		if f.FoldTables {
			f.foldName(before)
		}
		return
	}
	f.out = append(f.out, '`')
	for _, c := range body {
		switch {
		case c == '\n' || c == '\r':
			c = ' '
		case c == '`' && quote == '"':
			c = '\''
		}
		f.out = append(f.out, lower[c])
	}
	f.out = append(f.out, '`')
	f.prev = tokName
}

// endOfQuoted returns the position after the string or name that begins at p.
// Doubled quotes do not end it. A backslash escapes in strings of MySQL and in
// E'…' of PostgreSQL.
func (f *Fingerprinter) endOfQuoted(p int) int {
	in := f.in
	q := in[p]
	escapes := f.escapes && q != '`'
	for p++; p < len(in); p++ {
		switch in[p] {
		case q:
			if p+1 >= len(in) || in[p+1] != q {
				return p + 1
			}
			p++
		case '\\':
			if escapes {
				p++
			}
		}
	}
	f.unclosed = true
	return len(in)
}

// operator handles comments, signs and operators.
func (f *Fingerprinter) operator(c byte) {
	switch {
	case f.isComment(f.pos):
		if f.after("commit") || f.after("rollback") {
			f.tag(f.pos)
		} else if f.prev == tokNone && f.lead < 0 {
			f.lead = f.pos
		}
		f.pos = f.endOfAnyComment(f.pos)
		return
	case c == '/' && f.peek(1) == '*': // a hint or version comment: its content is text
		f.pos = f.textOfComment(f.pos)
		return
	case c == '*' && f.peek(1) == '/': // the end of such a comment
		f.pos += 2
		return
	case (c == '-' || c == '+') && f.signs():
		f.putSign(c)
		return
	}
	f.space()
	n := operatorLen(f.in[f.pos:])
	f.out = append(f.out, f.in[f.pos:f.pos+n]...)
	f.pos += n
	f.prev = tokOp
	f.notValues()
}

// textOfComment returns the beginning of the text of the hint or version comment
// that begins at p.
func (f *Fingerprinter) textOfComment(p int) int {
	for p = min(p+3, len(f.in)); p < len(f.in) && class[f.in[p]] == clDigit; p++ {
	}
	return p
}

// isComment reports whether a comment that does not count as text begins at p.
func (f *Fingerprinter) isComment(p int) bool {
	at := func(i int) byte {
		if p+i < len(f.in) {
			return f.in[p+i]
		}
		return ' '
	}
	switch f.in[p] {
	case '#':
		return f.Dialect == MySQL
	case '-':
		return at(1) == '-' && (f.Dialect != MySQL || class[at(2)] == clSpace)
	case '/':
		return at(1) == '*' && at(2) != '!' && at(2) != '+'
	}
	return false
}

// endOfAnyComment returns the position after the comment that begins at p.
func (f *Fingerprinter) endOfAnyComment(p int) int {
	if f.in[p] == '/' {
		return f.endOfComment(p)
	}
	if i := bytes.IndexByte(f.in[p:], '\n'); i >= 0 {
		return p + i + 1
	}
	return len(f.in)
}

// signs reports whether + or - at the position can be the sign of a number.
func (f *Fingerprinter) signs() bool {
	switch f.prev {
	case tokValue, tokClose, tokName, tokDot:
		return false
	case tokWord:
		return signedAfter(f.out[f.word:])
	}
	return true
}

// putSign writes a sign and remembers it, so that value can remove it and the
// signs directly before it.
func (f *Fingerprinter) putSign(c byte) {
	if f.prev != tokOp || f.sign.end != len(f.out) || f.sign.end == 0 {
		f.sign.start, f.sign.prev = len(f.out), f.prev
	}
	f.space()
	f.out = append(f.out, c)
	f.pos++
	f.prev, f.sign.end = tokOp, len(f.out)
}

// operatorLen returns the length of the operator at the beginning of b.
func operatorLen(b []byte) int {
	for n := 3; n > 1; n-- {
		if len(b) >= n {
			switch string(b[:n]) {
			case "<=>", "->>", "<=", ">=", "<>", "!=", ":=", "||", "&&", "<<", ">>", "->", "::":
				return n
			}
		}
	}
	return 1
}

func (f *Fingerprinter) endOfComment(p int) int {
	if i := bytes.Index(f.in[p+2:], []byte("*/")); i >= 0 {
		return p + 2 + i + 2
	}
	return len(f.in)
}

// readDollar reads a placeholder such as $1 or a string such as $$x$$ and
// $tag$x$tag$ of PostgreSQL. It returns false for other words.
func (f *Fingerprinter) readDollar() bool {
	p := f.pos + 1
	for p < len(f.in) && inWord[f.in[p]] && f.in[p] != '$' {
		p++
	}
	switch {
	case p < len(f.in) && f.in[p] == '$':
		tag := f.in[f.pos : p+1]
		if i := bytes.Index(f.in[p+1:], tag); i >= 0 {
			p += 1 + i + len(tag)
		} else {
			p, f.unclosed = len(f.in), true
		}
	case p == f.pos+1 || class[f.in[f.pos+1]] != clDigit:
		return false
	}
	f.pos = p
	f.value()
	return true
}
