// Package sqltext is the one reader of SQL by its tokens, for the dialects of MySQL and
// MariaDB, SQLite and PostgreSQL. The tokens of a text, joined, are the text: an edit
// keeps every byte that it does not change.
package sqltext

import (
	"slices"
	"strings"
)

// A Dialect is the language of a server. The dialects differ in quotes, escapes,
// comments, placeholders and names.
type Dialect uint8

const (
	// Unknown is text for a server that is not known, as in an app's source: the quotes,
	// comments and placeholders of all dialects. A backslash escapes, and "x" is a name.
	Unknown    Dialect = iota
	MySQL              // MySQL and MariaDB: "x" is a string, \ escapes, # begins a comment, /*! is text
	SQLite             // "x", `x` and [x] are names; ?1, :name, @name and $name are placeholders
	PostgreSQL         // $1 is a placeholder; $$x$$ and E'x' are strings; comments nest
)

// A Kind is the kind of a token.
type Kind uint8

const (
	Word        Kind = iota // keyword or plain name
	Quoted                  // a name in quotes: `name`, "name", [name]
	String                  // 'text' with its introducer, as in x'00', E'text', _utf8mb4'text'; $$text$$
	Number                  // 12, 1.5e-3, 0xff
	Placeholder             // ?, ?1, $1, :name
	Variable                // @v, @@session.v
	Mark                    // punctuation, one or more bytes
	Comment                 // -- text, # text, /* text */, and optimizer hints: /*+ text */
	Executed                // of a comment that MySQL executes: its beginning (/*!40101) or its end
	Space                   // white space
)

// A Token is a piece of SQL text.
type Token struct {
	Kind       Kind
	Start, End int // byte offsets
	Depth      int // parentheses around it; both parentheses of a pair are outside of it
	Text       string
	Open       bool // a quoted text or a comment without its end: the rest of the text
}

// Is reports whether a token is one of some keywords, given in upper case.
func (t Token) Is(words ...string) bool {
	return t.Kind == Word && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(t.Text, w) })
}

// Spells reports whether a token is one of some keywords, in any case, or marks.
func (t Token) Spells(texts ...string) bool {
	if t.Kind != Word && t.Kind != Mark {
		return false
	}
	return slices.ContainsFunc(texts, func(s string) bool { return strings.EqualFold(t.Text, s) })
}

// IsName reports whether a token may be a name: a word, or a quoted name.
func (t Token) IsName() bool { return t.Kind == Word || t.Kind == Quoted }

// Name is the name that a word or a quoted token spells.
func (t Token) Name() string {
	if t.Kind != Quoted || t.Open {
		return t.Text
	}
	text := t.Text
	if text[0]|0x20 == 'u' { // U&"name"
		text = text[2:]
	}
	body, quote := text[1:len(text)-1], text[:1]
	if quote == "[" {
		return body
	}
	return strings.ReplaceAll(body, quote+quote, quote)
}

// Tokens splits a text into its tokens without the spaces. ok is false for text with an
// open quote, an open comment or unbalanced parentheses; the tokens are then those
// before it.
func (d Dialect) Tokens(sql string) (tokens []Token, ok bool) {
	l := Lexer{Dialect: d, SQL: sql}
	for l.At < len(sql) {
		t := l.Next()
		if t.Open || l.depth < 0 {
			return tokens, false
		}
		if t.Kind != Space {
			tokens = append(tokens, t)
		}
	}
	return tokens, l.depth == 0 && l.executed == 0
}

// A Lexer reads a text token by token. It accepts any text.
type Lexer struct {
	Dialect Dialect
	SQL     string
	At      int    // offset of the next token
	Stop    string // no word goes beyond this text, as beyond a client's delimiter; "" for none

	depth    int   // of parentheses; negative after one that was not open
	executed int   // open comments whose text the server executes
	last     Token // before At, also a space
	dotted   bool  // last is a dot directly behind a name
}

// Next reads the token at At. The caller has checked that the text goes on.
func (l *Lexer) Next() Token {
	t := Token{Start: l.At, Depth: l.depth}
	t.Kind, t.End, t.Open = l.scan(l.SQL[l.At:])
	t.End += l.At
	t.Text = l.SQL[l.At:t.End]
	switch {
	case t.Kind == Mark && t.Text == "(":
		l.depth++
	case t.Kind == Mark && t.Text == ")":
		l.depth--
		t.Depth = l.depth
	}
	l.dotted = t.Text == "." && l.last.IsName()
	l.At, l.last = t.End, t
	return t
}

// scan finds the kind and the length of the token at the start of s.
func (l *Lexer) scan(s string) (kind Kind, length int, open bool) {
	d, c := l.Dialect, s[0]
	switch {
	case isSpace(c):
		return Space, run(s, isSpace), false
	case c == '\'':
		length, open = quoted(s, 0, d == MySQL || d == Unknown)
		return String, length, open
	case c == '"' && d == MySQL:
		length, open = quoted(s, 0, true)
		return String, length, open
	case c == '"', c == '`' && d != PostgreSQL:
		length, open = quoted(s, 0, c == '"' && d == Unknown)
		return Quoted, length, open
	case c == '[' && d == SQLite:
		length, open = until(s, 1, "]")
		return Quoted, length, open
	}
	if length, open = d.comment(s); length > 0 {
		return Comment, length, open
	}
	switch {
	case d.executes() && strings.HasPrefix(s, "/*!"), d.executes() && strings.HasPrefix(s, "/*M!"):
		l.executed++
		return Executed, executed(s), false
	case l.executed > 0 && strings.HasPrefix(s, "*/"):
		l.executed--
		return Executed, 2, false
	case digit(c), c == '.' && len(s) > 1 && digit(s[1]) && !(l.last.IsName() || l.last.Kind == Placeholder):
		return l.number(s)
	case letter(c), c == '$' && d == MySQL:
		return l.word(s)
	case c == '$' && (d == PostgreSQL || d == Unknown):
		if n := dollarQuote(s); n > 0 {
			length, open = until(s, n, s[:n])
			if !open || d == PostgreSQL {
				return String, length, open
			}
		}
	}
	if kind, length = d.parameter(s); length > 0 {
		return kind, length, false
	}
	return Mark, operatorLength(s), false
}

// comment is the length of the comment at the start of s; 0 for none. A comment that the
// server executes counts as text.
func (d Dialect) comment(s string) (length int, open bool) {
	switch {
	case s[0] == '#' && (d == MySQL || d == Unknown),
		strings.HasPrefix(s, "--") && (d != MySQL || len(s) == 2 || s[2] <= ' ' || s[2] == 0x7f):
		return lineLength(s), false
	case !strings.HasPrefix(s, "/*"), d.executes() && executed(s) > 0:
		return 0, false
	case d == PostgreSQL:
		return nested(s)
	case d == SQLite && len(s) == 2:
		return 0, false // the operators / and *
	}
	length, open = until(s, 2, "*/")
	return length, open && d != SQLite // a text may end in a comment of SQLite
}

// executes reports whether a server of the dialect may execute the text of comments.
func (d Dialect) executes() bool { return d == MySQL || d == Unknown }

// word reads a keyword, a name, or a string with an introducer before its quote.
func (l *Lexer) word(s string) (kind Kind, length int, open bool) {
	n := 1
	for n < len(s) && inWord(s[n]) && !(l.Stop != "" && strings.HasPrefix(s[n:], l.Stop)) {
		n++
	}
	if l.dotted {
		return Word, n, false
	}
	if l.Dialect != MySQL && l.Dialect != SQLite && strings.EqualFold(s[:n], "U") && n+1 < len(s) && s[n] == '&' && (s[n+1] == '\'' || s[n+1] == '"') {
		length, open = quoted(s, n+1, false)
		if s[n+1] == '"' {
			return Quoted, length, open
		}
		return String, length, open
	}
	if n < len(s) && s[n] == '\'' && l.Dialect.introduces(s[:n]) {
		escapes := l.Dialect == MySQL || l.Dialect == Unknown || l.Dialect == PostgreSQL && s[0]|0x20 == 'e'
		length, open = quoted(s, n, escapes)
		return String, length, open
	}
	return Word, n, false
}

// introduces reports whether a word directly before a quote belongs to the string.
func (d Dialect) introduces(word string) bool {
	if word[0] == '_' && len(word) > 1 {
		return d == MySQL || d == Unknown // a character set
	}
	in := "xXbBnNeE"
	switch d {
	case MySQL:
		in = "xXbBnN"
	case SQLite:
		in = "xX"
	}
	return len(word) == 1 && strings.Contains(in, word)
}

// number reads a number, or a name that begins with a digit, as MySQL has them: every name
// behind a dot, and words such as 2021_log.
func (l *Lexer) number(s string) (kind Kind, length int, open bool) {
	n, w := run(s, digit), run(s, inWord)
	if l.Stop != "" {
		if at := strings.Index(s[:w], l.Stop); at > 0 {
			w = at
			n = min(n, w)
		}
	}
	if l.dotted && s[0] != '.' || w > n && exponent(s[n:]) == 0 {
		if l.dotted || l.Dialect.namesByDigit(s[:w]) {
			return Word, w, false
		}
		return Number, w, false
	}
	if n < len(s) && s[n] == '.' {
		n++
		n += run(s[n:], digit)
	}
	return Number, n + exponent(s[n:]), false
}

// exponent is the length of the exponent at the start of s; 0 for none.
func exponent(s string) int {
	n := 1
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		n = 2
	}
	if len(s) <= n || s[0]|0x20 != 'e' || !digit(s[n]) {
		return 0
	}
	return n + run(s[n:], digit)
}

// namesByDigit reports whether a word of digits and other characters is a name: 12a, 1_000
// and 0xfg, but not 0xff, are names of MySQL.
func (d Dialect) namesByDigit(word string) bool {
	switch {
	case d == Unknown:
		return strings.ContainsFunc(word, func(r rune) bool { return r == '_' || r == '$' || r >= 0x80 })
	case d != MySQL:
		return false
	case len(word) > 2 && strings.HasPrefix(word, "0x"):
		return strings.Trim(word[2:], "0123456789abcdefABCDEF") != ""
	case len(word) > 2 && strings.HasPrefix(word, "0b"):
		return strings.Trim(word[2:], "01") != ""
	}
	return true
}

// parameter reads a placeholder or a variable; length 0 means that s begins with none.
func (d Dialect) parameter(s string) (kind Kind, length int) {
	named := func(c byte) bool { return letter(c) || digit(c) || c == '.' }
	follows := len(s) > 1 && (letter(s[1]) || digit(s[1]))
	switch c := s[0]; {
	case c == '?' && d == PostgreSQL: // an operator
		return 0, 0
	case c == '?' && d != MySQL:
		return Placeholder, 1 + run(s[1:], digit)
	case c == '?':
		return Placeholder, 1
	case c == '$' && follows && d == PostgreSQL:
		if n := run(s[1:], digit); n > 0 {
			return Placeholder, 1 + n
		}
	case c == '$' && follows && d == SQLite, (c == ':' || c == '@') && follows && d == SQLite:
		return Placeholder, 1 + run(s[1:], inWord)
	case (c == '$' || c == ':' || c == '@') && follows && d == Unknown:
		return Placeholder, 1 + run(s[1:], named)
	case c == '@' && d.executes():
		n := run(s, func(c byte) bool { return c == '@' })
		if m := n + run(s[n:], func(c byte) bool { return named(c) || c == '$' }); m > n && n <= 2 {
			return Variable, m
		}
	}
	return 0, 0
}

// operators are the operators of more than one byte, the longest first.
var operators = [...]string{"<=>", "->>", "::", "<=", ">=", "<>", "!=", ":=", "==", "||", "&&", "<<", ">>", "->"}

func operatorLength(s string) int {
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			return len(o)
		}
	}
	return 1
}

// maxVersion is above every server version: no server executes a comment for that version
// or a later one (the first line that mariadb-dump writes).
const maxVersion = 200000

// executed is the length of the beginning of a comment that servers execute, such as
// "/*!40101"; 0 for a real comment.
func executed(s string) int {
	n := 2
	if strings.HasPrefix(s[n:], "M!") {
		n++
	}
	if !strings.HasPrefix(s[n:], "!") {
		return 0
	}
	n++
	version := 0
	for ; n < len(s) && digit(s[n]); n++ {
		version = min(10*version+int(s[n]-'0'), maxVersion)
	}
	if version >= maxVersion {
		return 0
	}
	return n
}

// dollarQuote is the length of the quote $$ or $tag$ at the start of s; 0 for none.
func dollarQuote(s string) int {
	n := 1 + run(s[1:], func(c byte) bool { return letter(c) || digit(c) })
	if n >= len(s) || s[n] != '$' || n > 1 && digit(s[1]) {
		return 0
	}
	return n + 1
}

// nested is the length of a comment in which comments may lie.
func nested(s string) (length int, open bool) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1, false
		}
	}
	return len(s), true
}

// until is the length of s up to a mark at or after from, with the mark.
func until(s string, from int, mark string) (length int, open bool) {
	if from <= len(s) {
		if n := strings.Index(s[from:], mark); n >= 0 {
			return from + n + len(mark), false
		}
	}
	return len(s), true
}

// quoted is the length of s up to the end of the quoted text that begins at i. Doubled
// quotes and, with escapes, a backslash keep it open.
func quoted(s string, i int, escapes bool) (length int, open bool) {
	q := s[i]
	for j := i + 1; j < len(s); j++ {
		switch {
		case escapes && s[j] == '\\':
			j++
		case s[j] == q && j+1 < len(s) && s[j+1] == q:
			j++
		case s[j] == q:
			return j + 1, false
		}
	}
	return len(s), true
}

// lineLength is the length of the first line without its line end.
func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func inWord(c byte) bool { return letter(c) || digit(c) || c == '$' }

func run(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}
