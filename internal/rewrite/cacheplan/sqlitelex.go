package cacheplan

import "strings"

// A lexeme is a piece of a text in the dialect of SQLite: a word, a quoted text, or one
// other character. Comments and white space are left out.
type lexeme struct {
	text       string
	start, end int
}

func (l lexeme) is(word string) bool { return strings.EqualFold(l.text, word) }

// lex splits a text. A quoted text or a comment without an end goes to the end.
func lex(s string) (out []lexeme) {
	for i := 0; i < len(s); {
		end := i + 1
		switch c := s[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
			continue
		case strings.HasPrefix(s[i:], "--"):
			i = after(s, i+2, "\n")
			continue
		case strings.HasPrefix(s[i:], "/*"):
			i = after(s, i+2, "*/")
			continue
		case c == '[':
			end = after(s, i+1, "]")
		case c == '\'' || c == '"' || c == '`':
			for end = after(s, i+1, s[i:i+1]); end < len(s) && s[end] == c; {
				end = after(s, end+1, s[i:i+1]) // a doubled quote
			}
		case isName(c) || c >= 0x80:
			for end < len(s) && (isName(s[end]) || s[end] >= 0x80) {
				end++
			}
		}
		out = append(out, lexeme{s[i:end], i, end})
		i = end
	}
	return out
}

// after is the index behind the next mark at or after i, the length of s if there is
// none.
func after(s string, i int, mark string) int {
	at := strings.Index(s[i:], mark)
	if at < 0 {
		return len(s)
	}
	return i + at + len(mark)
}

// fileDefinitions splits an SQL file for SQLite and gives the statements that define
// tables, indexes, views and triggers, in order.
func fileDefinitions(text string) (out []string) {
	var statement []lexeme
	flush := func() {
		if defines(statement) {
			out = append(out, text[statement[0].start:statement[len(statement)-1].end])
		}
		statement = nil
	}
	for _, l := range lex(text) {
		if l.text != ";" {
			statement = append(statement, l)
			continue
		}
		n := len(statement)
		if triggers(statement) && !(n > 2 && statement[n-1].is("END") && statement[n-2].text == ";") {
			statement = append(statement, l)
			continue
		}
		flush()
	}
	flush()
	return out
}

// triggers reports whether a statement begins as the definition of a trigger.
func triggers(statement []lexeme) bool {
	return len(statement) > 1 && statement[0].is("CREATE") && (statement[1].is("TRIGGER") ||
		len(statement) > 2 && (statement[1].is("TEMP") || statement[1].is("TEMPORARY")) && statement[2].is("TRIGGER"))
}

// defines reports whether a statement belongs to the schema. Virtual and temporary
// tables do not: no plan has them. The tables of SQLite itself come without definition.
func defines(statement []lexeme) bool {
	if len(statement) < 3 {
		return false
	}
	first, second := statement[0], statement[1]
	if !first.is("CREATE") && !first.is("ALTER") && !first.is("DROP") {
		return false
	}
	if second.is("VIRTUAL") || second.is("TEMP") || second.is("TEMPORARY") {
		return false
	}
	return !strings.HasPrefix(strings.ToLower(strings.Trim(statement[2].text, "\"`[]'")), "sqlite_")
}

// common cuts the clauses of SQLite that MySQL does not have: OR IGNORE, ON CONFLICT DO
// NOTHING and RETURNING, which write no further rows. ok is false for other clauses of
// this kind: their rows are not told apart.
func common(text string) (_ string, ok bool) {
	list := lex(text)
	if len(list) < 3 {
		return text, true
	}
	if list[0].is("SELECT") {
		return text, true
	}
	end, depth := len(text), 0
	for i, l := range list {
		switch {
		case l.text == "(":
			depth++
		case l.text == ")":
			depth--
		case depth == 0 && l.is("RETURNING"):
			end = min(end, l.start)
		case depth == 0 && l.is("CONFLICT") && list[i-min(i, 1)].is("ON"):
			end = min(end, list[i-1].start)
		case l.is("DO") && i+1 < len(list) && !list[i+1].is("NOTHING"):
			return "", false
		}
	}
	if !list[1].is("OR") {
		return text[:end], true
	}
	if !list[0].is("INSERT") || !list[2].is("IGNORE") {
		return "", false
	}
	return text[:list[0].end] + text[list[2].end:end], true
}
