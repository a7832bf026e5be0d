package sqltext

import (
	"slices"
	"strings"
)

// A log shows a statement with its values, an app may have sent it with placeholders. Which of
// the values were placeholders the log does not say: Sent gives the texts that are likely.

// Bounds of Sent: texts of one statement, values that may stand in a text as they are, and
// their lengths in bytes.
const (
	mostFixed    = 3
	longestFixed = 16
)

// Sent are the texts that an app may have sent for a statement that logs show with its values,
// each time with other ones: a value that is the same in all of them may be a part of the text.
// Numbers before FROM are one always, those behind LIMIT and OFFSET may be. There is none for a
// text that a log has cut, that has a comment, or that is no single statement.
func (d Dialect) Sent(logged ...string) []string {
	if len(logged) == 0 {
		return nil
	}
	tokens, sql, ok := d.single(logged[0])
	if !ok {
		return nil
	}
	values := valuesOf(tokens)
	var limits, fixed []int // indexes in values
	for i, v := range values {
		switch {
		case v.limit:
			limits = append(limits, i)
		case v.mayStay && len(logged) > 1 && slices.IndexFunc(logged[1:], func(other string) bool { return !d.hasValue(other, len(values), i, v.text) }) < 0:
			fixed = append(fixed, i)
		}
	}
	if len(fixed) > mostFixed {
		fixed = nil
	}
	var out []string
	for choice := range 1 << len(fixed) {
		stays := map[int]bool{}
		for bit, i := range fixed {
			stays[i] = choice&(1<<bit) != 0
		}
		out = append(out, placed(sql, values, stays))
		if len(limits) > 0 {
			for _, i := range limits {
				stays[i] = true
			}
			out = append(out, placed(sql, values, stays))
		}
	}
	return out
}

// A value is one of a logged statement.
type value struct {
	start, end int // bytes, with its sign
	text       string
	limit      bool // behind LIMIT or OFFSET
	mayStay    bool // it is short, and no item of a list
}

// single is a text as tokens, without the semicolon at its end. It reports whether it is one
// statement, whole, and without comments.
func (d Dialect) single(text string) (tokens []Token, whole string, ok bool) {
	whole = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
	tokens, ok = d.Tokens(whole)
	return tokens, whole, ok && len(tokens) > 0 && !strings.HasSuffix(whole, "...") && !slices.ContainsFunc(tokens, func(t Token) bool {
		return t.Kind == Comment || t.Kind == Executed || t.Text == ";"
	})
}

// valuesOf are the values of a statement behind its FROM.
func valuesOf(tokens []Token) (out []value) {
	limit := false
	for i := max(Find(tokens, 0, "FROM"), 0); i < len(tokens); i++ {
		t := tokens[i]
		if t.Kind == Word {
			limit = t.Is("LIMIT", "OFFSET")
		}
		if t.Kind != Number && t.Kind != String {
			continue
		}
		v := value{start: t.Start, end: t.End, text: t.Text, limit: limit, mayStay: len(t.Text) <= longestFixed && !listed(tokens, i)}
		if t.Kind == Number && signed(tokens, i) {
			v.start, v.mayStay = tokens[i-1].Start, false
		}
		out = append(out, v)
	}
	return out
}

// signed reports whether the token before a number is its sign, and no operator between two
// values.
func signed(tokens []Token, i int) bool {
	if i < 2 || tokens[i-1].Text != "-" {
		return false
	}
	before := tokens[i-2]
	return before.Kind == Mark && before.Text != ")" || before.Is("AND", "OR", "BETWEEN", "THEN", "ELSE", "WHEN")
}

// listed reports whether a value stands between commas or parentheses, as in a list.
func listed(tokens []Token, i int) bool {
	return i > 0 && i+1 < len(tokens) && tokens[i-1].Spells("(", ",") && tokens[i+1].Spells(")", ",")
}

// hasValue reports whether another logged text of the same statement has the same value at a
// place. One with another number of values, as with a longer list, does not tell.
func (d Dialect) hasValue(logged string, n, at int, text string) bool {
	tokens, _, ok := d.single(logged)
	values := valuesOf(tokens)
	return ok && len(values) == n && values[at].text == text
}

// placed is a statement with a placeholder for each value but those that stay.
func placed(sql string, values []value, stays map[int]bool) string {
	var edits []Edit
	for i, v := range values {
		if !stays[i] {
			edits = append(edits, Edit{v.start, v.end, "?"})
		}
	}
	return Apply(sql, edits)
}
