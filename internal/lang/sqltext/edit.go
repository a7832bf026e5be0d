package sqltext

import (
	"cmp"
	"slices"
	"strings"
)

// An Edit replaces the bytes from Start to End of an SQL text.
type Edit struct {
	Start, End int
	New        string
}

// Apply makes edits that do not overlap.
func Apply(sql string, edits []Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(sql[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(sql[at:])
	return b.String()
}

// tail is where a clause can be added to a SELECT: before a locking clause, a
// semicolon and comments at the end.
func tail(tokens []Token) int {
	at := 0
	for i, t := range tokens {
		if t.Kind == Comment || t.Text == ";" {
			continue
		}
		if t.Depth == 0 && i > 0 && (t.Is("FOR") && following(tokens, i).Is("UPDATE", "SHARE") || t.Is("LOCK") && following(tokens, i).Is("IN")) {
			break
		}
		at = t.End
	}
	return at
}

func following(tokens []Token, i int) Token {
	for _, t := range tokens[i+1:] {
		if t.Kind != Comment {
			return t
		}
	}
	return Token{Kind: Mark}
}

// AddLimit returns the edit that limits a SELECT to n rows. upper is the way
// keywords are written.
func AddLimit(tokens []Token, n string) Edit {
	at := tail(tokens)
	return Edit{Start: at, End: at, New: " " + Like(tokens, "LIMIT") + " " + n}
}

// Like writes a keyword in the case of the text's first word.
func Like(tokens []Token, keyword string) string {
	for _, t := range tokens {
		if t.Kind == Word {
			if t.Text == strings.ToLower(t.Text) {
				return strings.ToLower(keyword)
			}
			break
		}
	}
	return keyword
}

// Find returns the index of the first token outside of parentheses that is one of
// some keywords, from index i on; -1 for none.
func Find(tokens []Token, i int, words ...string) int {
	for ; i < len(tokens); i++ {
		if tokens[i].Depth == 0 && tokens[i].Is(words...) {
			return i
		}
	}
	return -1
}

// Placeholders counts the placeholders.
func Placeholders(tokens []Token) (n int) {
	for _, t := range tokens {
		if t.Kind == Placeholder {
			n++
		}
	}
	return n
}

// Marked reports whether every placeholder is a question mark.
func Marked(tokens []Token) bool {
	for _, t := range tokens {
		if t.Kind == Placeholder && t.Text != "?" {
			return false
		}
	}
	return true
}

// Locks reports whether a SELECT locks the rows that it reads.
func Locks(tokens []Token) bool {
	for i, t := range tokens {
		if t.Is("FOR") && following(tokens, i).Is("UPDATE", "SHARE") || t.Is("LOCK") && following(tokens, i).Is("IN") {
			return true
		}
	}
	return false
}

// Positional replaces the named placeholders of sqlx (:name) by question marks, and its
// escaped colons (::) by colons, as sqlx does before it sends a statement.
func Positional(sql string) string {
	var b strings.Builder
	for l := (Lexer{SQL: sql}); l.At < len(sql); {
		t := l.Next()
		switch {
		case t.Kind == Placeholder && t.Text[0] == ':' && t.Text[1] < 0x80:
			b.WriteByte('?')
		case t.Kind == Mark && t.Text == "::":
			b.WriteByte(':')
		default:
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

// Quote quotes a name.
func (d Dialect) Quote(name string) string {
	if d == MySQL {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
