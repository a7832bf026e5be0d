// Package sqltext reads and edits SQL text by its tokens, so that an edit keeps
// every byte that it does not change.
package sqltext

import "strings"

// A Kind is the kind of a token.
type Kind uint8

const (
	Word        Kind = iota // keyword or plain name
	Quoted                  // `name` or "name"
	String                  // 'text'
	Number                  // 12, 1.5
	Placeholder             // ?, $1, :name
	Mark                    // punctuation, one or more bytes
	Comment                 // -- text, # text, /* text */
)

// A Token is a piece of SQL text; spaces are not tokens.
type Token struct {
	Kind       Kind
	Start, End int // byte offsets
	Depth      int // parentheses around it; both parentheses of a pair are outside of it
	Text       string
}

// Is reports whether a token is one of some keywords, given in upper case.
func (t Token) Is(words ...string) bool {
	if t.Kind != Word {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.Text, w) {
			return true
		}
	}
	return false
}

// Name is the name that a word or a quoted token spells.
func (t Token) Name() string {
	if t.Kind == Quoted {
		return strings.ReplaceAll(t.Text[1:len(t.Text)-1], t.Text[:1]+t.Text[:1], t.Text[:1])
	}
	return t.Text
}

// Tokens splits SQL text. ok is false for text with an open quote, an open comment
// or unbalanced parentheses.
func Tokens(sql string) (tokens []Token, ok bool) {
	depth := 0
	for i := 0; i < len(sql); {
		kind, end, closed := scan(sql, i)
		if end < 0 {
			i++
			continue
		}
		if !closed {
			return tokens, false
		}
		t := Token{Kind: kind, Start: i, End: end, Depth: depth, Text: sql[i:end]}
		switch t.Text {
		case "(":
			depth++
		case ")":
			depth--
			t.Depth = depth
		}
		if depth < 0 {
			return tokens, false
		}
		tokens = append(tokens, t)
		i = end
	}
	return tokens, depth == 0
}

// scan finds the end of the token at i; -1 means a space.
func scan(sql string, i int) (kind Kind, end int, closed bool) {
	c := sql[i]
	rest := sql[i:]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
		return 0, -1, true
	case c == '\'':
		end, closed = quoted(sql, i, true)
		return String, end, closed
	case c == '`' || c == '"':
		end, closed = quoted(sql, i, c == '"')
		return Quoted, end, closed
	case c == '#' || strings.HasPrefix(rest, "--"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return Comment, i + n, true
		}
		return Comment, len(sql), true
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		return Comment, i + n + 4, n >= 0
	case digit(c):
		return Number, i + run(rest, func(c byte) bool { return digit(c) || letter(c) || c == '.' }), true
	case letter(c):
		return Word, i + run(rest, func(c byte) bool { return letter(c) || digit(c) || c == '$' }), true
	case c == '?':
		return Placeholder, i + 1, true
	case (c == '$' || c == ':' || c == '@') && len(rest) > 1 && (letter(rest[1]) || digit(rest[1])):
		return Placeholder, i + 1 + run(rest[1:], func(c byte) bool { return letter(c) || digit(c) || c == '.' }), true
	case strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "<=") || strings.HasPrefix(rest, ">=") || strings.HasPrefix(rest, "<>") || strings.HasPrefix(rest, "!=") || strings.HasPrefix(rest, ":="):
		return Mark, i + 2, true
	}
	return Mark, i + 1, true
}

// quoted finds the end of a quoted text. Doubled quotes and, with escapes, a
// backslash keep it open.
func quoted(sql string, i int, escapes bool) (end int, closed bool) {
	q := sql[i]
	for j := i + 1; j < len(sql); j++ {
		switch {
		case escapes && sql[j] == '\\':
			j++
		case sql[j] == q && j+1 < len(sql) && sql[j+1] == q:
			j++
		case sql[j] == q:
			return j + 1, true
		}
	}
	return len(sql), false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

func run(s string, in func(byte) bool) int {
	for i := range len(s) {
		if !in(s[i]) {
			return i
		}
	}
	return len(s)
}
