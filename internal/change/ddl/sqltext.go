package ddl

import (
	"strconv"
	"strings"
)

// A tokenKind is the sort of a token of SQL.
type tokenKind uint8

const (
	word   tokenKind = iota // a keyword, a bare name or a number
	quoted                  // a name in backticks
	text                    // a string; also "…", which is a name in the mode ANSI_QUOTES
	punct                   // one byte
	mark                    // the opening or the end of a comment that the server executes
)

// A token is a piece of a file: what stands between two tokens is space and comments.
type token struct {
	kind     tokenKind
	start    int // offsets into the file
	end      int
	spelling string
}

// is says whether a token is one of these words, which have no case, or bytes.
func (t token) is(spellings ...string) bool {
	if t.kind == word || t.kind == punct {
		for _, s := range spellings {
			if strings.EqualFold(t.spelling, s) {
				return true
			}
		}
	}
	return false
}

// name is the name that a token spells.
func (t token) name() (string, bool) {
	switch {
	case t.kind == word:
		return t.spelling, true
	case (t.kind == quoted || t.kind == text && t.spelling[0] == '"') && len(t.spelling) > 2:
		q := t.spelling[:1]
		return strings.ReplaceAll(t.spelling[1:len(t.spelling)-1], q+q, q), true
	}
	return "", false
}

// A statement of a file for the server's command line client.
type statement struct {
	sql       string // of the whole file
	tokens    []token
	start     int
	end       int    // behind the last token
	next      int    // behind the delimiter
	delimiter string // ";" as a rule; "" when the file ends without one
}

// maxVersion is above every version of a server: what a comment asks to be
// executed from there on is executed by none (mariadb-dump's first line).
const maxVersion = 200000

// statements cuts a file as the client does: at the delimiter, and lines that
// are the client's own commands at their end. It takes any text; what is no
// SQL comes out as statements that mean nothing.
func statements(sql string) []statement {
	var all []statement
	l := lexer{sql: sql}
	delimiter := ";"
	var s statement
	finish := func(end int, closed string) {
		if len(s.tokens) > 0 {
			s.sql, s.end, s.next, s.delimiter = sql, s.tokens[len(s.tokens)-1].end, end, closed
			all = append(all, s)
		}
		s = statement{}
	}
	for {
		l.skip()
		if l.at >= len(sql) {
			finish(len(sql), "")
			return all
		}
		if strings.HasPrefix(sql[l.at:], delimiter) {
			l.at += len(delimiter)
			finish(l.at, delimiter)
			continue
		}
		if len(s.tokens) == 0 {
			s.start = l.at
			if command, rest := l.command(); command != "" {
				if command == "delimiter" && rest != "" {
					delimiter = rest
				}
				continue
			}
		}
		t := l.next(delimiter)
		s.tokens = append(s.tokens, t)
		// The client takes USE at the end of its line, delimiter or not.
		if s.tokens[0].is("use") && len(s.tokens) == 2 && !strings.HasPrefix(strings.TrimLeft(sql[l.at:], " \t"), delimiter) {
			finish(l.at, "")
		}
	}
}

// A lexer goes through a file.
type lexer struct {
	sql   string
	at    int
	depth int // of comments that the server executes
}

// skip goes over space and comments.
func (l *lexer) skip() {
	for l.at < len(l.sql) {
		rest := l.sql[l.at:]
		switch {
		case isSpace(rest[0]):
			l.at++
		case rest[0] == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			l.at += lineLength(rest)
		case strings.HasPrefix(rest, "/*") && executed(rest) == 0:
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				l.at += n + 4
			} else {
				l.at = len(l.sql)
			}
		default:
			return
		}
	}
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// lineLength is the length of the first line without its end.
func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// executed is the length of the opening of a comment that servers execute, as
// "/*!40101"; 0 for a comment that is one.
func executed(s string) int {
	n := 2
	if strings.HasPrefix(s[n:], "M!") {
		n++
	}
	if !strings.HasPrefix(s[n:], "!") {
		return 0
	}
	n++
	digits := n
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if v, err := strconv.Atoi(s[digits:n]); n > digits && (err != nil || v >= maxVersion) {
		return 0
	}
	return n
}

// command reads a line that is for the client: DELIMITER, SOURCE and
// backslash commands. It returns its name, and its first word.
func (l *lexer) command() (name, argument string) {
	line := l.sql[l.at : l.at+lineLength(l.sql[l.at:])]
	fields := strings.FieldsFunc(line, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
	switch first := strings.ToLower(fields[0]); {
	case first == "delimiter", first == "source":
		name = first
	case first[0] == '\\':
		name = "backslash"
	default:
		return "", ""
	}
	l.at += len(line)
	if len(fields) > 1 {
		argument = fields[1]
	}
	return name, argument
}

// next reads a token; there is one.
func (l *lexer) next(delimiter string) token {
	rest := l.sql[l.at:]
	t := token{kind: punct, start: l.at}
	n := 1
	switch c := rest[0]; {
	case c == '`':
		t.kind, n = quoted, quotedLength(rest, false)
	case c == '\'' || c == '"':
		t.kind, n = text, quotedLength(rest, true)
	case strings.HasPrefix(rest, "/*"):
		t.kind, n = mark, executed(rest)
		l.depth++
	case l.depth > 0 && strings.HasPrefix(rest, "*/"):
		t.kind, n = mark, 2
		l.depth--
	case isWord(c):
		t.kind = word
		for n < len(rest) && isWord(rest[n]) && !strings.HasPrefix(rest[n:], delimiter) {
			n++
		}
	}
	l.at += n
	t.end, t.spelling = l.at, rest[:n]
	return t
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// quotedLength is the length of what begins with a quote and ends with the
// same one that is not doubled; to the end of s when nothing ends it.
func quotedLength(s string, backslashes bool) int {
	for n := 1; n < len(s); n++ {
		switch {
		case backslashes && s[n] == '\\':
			n++
		case s[n] == s[0] && n+1 < len(s) && s[n+1] == s[0]:
			n++
		case s[n] == s[0]:
			return n + 1
		}
	}
	return len(s)
}
