package sourcedb

import "strings"

// A tokenKind is the kind of a token.
type tokenKind int

const (
	tokEnd tokenKind = iota
	tokWord
	tokString
	tokNumber
	tokPunct
	tokNewline
	tokIndent
	tokDedent
)

// A lexeme is a word, a string with its parts, a number or a sign.
type lexeme struct {
	kind  tokenKind
	text  string
	parts []piece // of a string
	line  int
	space bool // there is white space before it
	// glued: the next character follows without white space.
	glued bool
}

// A piece of a string is text, or code whose value stands there.
type piece struct {
	text string
	code bool
}

// A lexer makes the tokens of JavaScript, Python, Ruby or PHP. It never fails: what it
// does not know becomes a sign.
type lexer struct {
	lang    lang
	s       string
	i, line int
	out     []lexeme
	depth   int   // of brackets
	indents []int // Python
	start   bool  // Python: at the begin of a line
	here    []string
	php     bool // within <?php … ?>
}

// maxTokens bounds the tokens of one file.
const maxTokens = 400_000

func tokens(source string, l lang, line int) []lexeme {
	x := &lexer{lang: l, s: source, line: line, start: true, indents: []int{0}, php: l != langPHP || !strings.Contains(source, "<?")}
	for x.i < len(x.s) && len(x.out) < maxTokens {
		x.next()
	}
	for range x.indents[1:] {
		x.add(lexeme{kind: tokDedent})
	}
	x.add(lexeme{kind: tokEnd})
	return x.out
}

func (x *lexer) add(t lexeme) {
	if t.line == 0 {
		t.line = x.line
	}
	x.out = append(x.out, t)
}

func (x *lexer) has(prefix string) bool { return strings.HasPrefix(x.s[x.i:], prefix) }

// next reads one token, or skips white space or a comment.
func (x *lexer) next() {
	if !x.php {
		x.html()
		return
	}
	if x.lang == langPython && x.start && x.depth == 0 {
		x.indent()
		return
	}
	c := x.s[x.i]
	switch {
	case c == '\n':
		x.newline()
	case c == ' ' || c == '\t' || c == '\r':
		x.i++
	case c == '\\' && x.has("\\\n"):
		x.i += 2
		x.line++
	case x.comment():
	case x.lang == langPHP && x.has("?>"):
		x.i += 2
		x.php = false
		x.add(lexeme{kind: tokPunct, text: ";"})
	case x.stringStart():
	case isWord(c) && !isDigit(c) || c == '$' && x.lang != langPython || c == '@' && x.lang == langRuby:
		x.word()
	case isDigit(c):
		x.number()
	default:
		x.punct()
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c >= 0x80
}

// html skips to the next <?php or <?=.
func (x *lexer) html() {
	i := strings.Index(x.s[x.i:], "<?")
	if i < 0 {
		x.i = len(x.s)
		return
	}
	x.line += strings.Count(x.s[x.i:x.i+i], "\n")
	x.i += i + 2
	for _, word := range []string{"php", "="} {
		if x.has(word) {
			x.i += len(word)
		}
	}
	x.php = true
}

func (x *lexer) newline() {
	x.i++
	if x.lang == langRuby || x.lang == langPython && x.depth == 0 {
		if n := len(x.out); n > 0 && x.out[n-1].kind != tokNewline {
			x.add(lexeme{kind: tokNewline})
		}
	}
	x.line++
	x.start = x.depth == 0
	for len(x.here) > 0 { // the bodies of heredocs
		end := x.here[0]
		x.here = x.here[1:]
		for x.i < len(x.s) {
			line, rest, _ := strings.Cut(x.s[x.i:], "\n")
			x.i = len(x.s) - len(rest)
			x.line++
			if strings.TrimSpace(line) == end {
				break
			}
		}
	}
	if x.lang == langRuby && x.has("=begin") {
		i := strings.Index(x.s[x.i:], "\n=end")
		if i < 0 {
			i = len(x.s) - x.i
		} else {
			i += len("\n=end")
		}
		x.line += strings.Count(x.s[x.i:x.i+i], "\n")
		x.i += i
	}
	if x.lang == langRuby && strings.TrimSpace(lineAt(x.s[x.i:])) == "__END__" {
		x.i = len(x.s)
	}
}

func lineAt(s string) string {
	line, _, _ := strings.Cut(s[:min(len(s), 40)], "\n")
	return line
}

// indent reads the indentation of a line of Python.
func (x *lexer) indent() {
	width := 0
	for x.i < len(x.s) && (x.s[x.i] == ' ' || x.s[x.i] == '\t') {
		if width++; x.s[x.i] == '\t' {
			width = width/8*8 + 8
		}
		x.i++
	}
	if x.i >= len(x.s) || strings.IndexByte("\r\n#", x.s[x.i]) >= 0 {
		x.start = false // an empty line
		return
	}
	x.start = false
	if top := x.indents[len(x.indents)-1]; width > top && len(x.indents) < 100 {
		x.indents = append(x.indents, width)
		x.add(lexeme{kind: tokIndent})
	}
	for len(x.indents) > 1 && width < x.indents[len(x.indents)-1] {
		x.indents = x.indents[:len(x.indents)-1]
		x.add(lexeme{kind: tokDedent})
	}
}

// comment skips a comment.
func (x *lexer) comment() bool {
	hash := x.lang != langJS && x.s[x.i] == '#' && !(x.lang == langPHP && x.has("#["))
	slashes := (x.lang == langJS || x.lang == langPHP || x.lang == langPrisma) && x.has("//")
	block := (x.lang == langJS || x.lang == langPHP) && x.has("/*")
	switch {
	case hash || slashes:
		line, _, _ := strings.Cut(x.s[x.i:], "\n")
		if i := strings.Index(line, "?>"); i >= 0 && x.lang == langPHP {
			line = line[:i]
		}
		x.i += len(line)
	case block:
		end := strings.Index(x.s[x.i+2:], "*/")
		if end < 0 {
			end = len(x.s) - x.i - 4
		}
		x.line += strings.Count(x.s[x.i:min(len(x.s), x.i+end+4)], "\n")
		x.i = min(len(x.s), max(x.i+2, x.i+end+4))
	default:
		return false
	}
	return true
}

// spaced reports whether white space is before the current character.
func (x *lexer) spaced() bool { return x.i == 0 || strings.IndexByte(" \t\r\n", x.s[x.i-1]) >= 0 }

func (x *lexer) word() {
	at, spaced := x.i, x.spaced()
	for x.i++; x.i < len(x.s) && (isWord(x.s[x.i]) || x.s[x.i] == '$' && x.lang == langJS || x.s[x.i] == '@' && x.s[x.i-1] == '@'); x.i++ {
	}
	if x.lang == langRuby && x.i < len(x.s) && (x.s[x.i] == '?' || x.s[x.i] == '!') && !strings.HasPrefix(x.s[x.i+1:], "=") && x.s[at] != '$' && x.s[at] != '@' {
		x.i++
	}
	x.add(lexeme{kind: tokWord, text: x.s[at:x.i], space: spaced, glued: x.glued()})
}

func (x *lexer) glued() bool { return x.i < len(x.s) && strings.IndexByte(" \t\r\n", x.s[x.i]) < 0 }

func (x *lexer) number() {
	at, spaced := x.i, x.spaced()
	for x.i++; x.i < len(x.s) && (isWord(x.s[x.i]) || x.s[x.i] == '.' && x.i+1 < len(x.s) && isDigit(x.s[x.i+1])); x.i++ {
	}
	x.add(lexeme{kind: tokNumber, text: strings.ReplaceAll(x.s[at:x.i], "_", ""), space: spaced})
}

// signs are the signs of more than one character, the longest first.
var signs = []string{"===", "!==", "...", "<=>", "**=", "||=", "&&=", "??=", "?->", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "?:", "->", "::", ":=", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&.", "**", "++", "--", "<<", ">>", ".."}

func (x *lexer) punct() {
	spaced := x.spaced()
	text := x.s[x.i : x.i+1]
	for _, s := range signs {
		if x.has(s) && !(s == "?." && x.i+2 < len(x.s) && isDigit(x.s[x.i+2])) {
			text = s
			break
		}
	}
	if text == "?:" && x.lang != langPHP || text == "::" && x.lang == langPython || (text == "&." || text == "..") && x.lang != langRuby || text == ".=" && x.lang != langPHP {
		text = text[:1]
	}
	x.i += len(text)
	switch text {
	case "(", "[", "{":
		x.depth++
	case ")", "]", "}":
		x.depth = max(0, x.depth-1)
	}
	x.add(lexeme{kind: tokPunct, text: text, space: spaced, glued: x.glued()})
}

// valueBefore reports whether the token before is the end of an expression, so that a
// slash is a division and a "<<" or "%" an operator.
func (x *lexer) valueBefore() bool {
	if len(x.out) == 0 {
		return false
	}
	switch t := x.out[len(x.out)-1]; t.kind {
	case tokString, tokNumber:
		return true
	case tokWord:
		switch t.text {
		case "return", "typeof", "case", "in", "of", "and", "or", "not", "if", "unless", "when", "puts", "elsif", "while", "await", "yield":
			return false
		}
		return true
	case tokPunct:
		return t.text == ")" || t.text == "]" || t.text == "}"
	}
	return false
}
