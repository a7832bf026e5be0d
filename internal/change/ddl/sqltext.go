package ddl

import (
	"strconv"
	"strings"
)

// A tokenKind is the kind of an SQL token.
type tokenKind uint8

const (
	word   tokenKind = iota // a keyword, an unquoted name or a number
	quoted                  // a name in backticks
	text                    // a string; also "…", which is a name in sql_mode ANSI_QUOTES
	punct                   // one byte
	mark                    // the start or the end of a comment that the server executes
)

// A token is one token of a file. Only space and comments lie between two
// tokens.
type token struct {
	kind     tokenKind
	start    int // offsets into the file
	end      int
	spelling string
}

// is reports whether a token is one of these words, in any case, or bytes.
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

// name returns the name that a token denotes.
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

// A statement is one statement of a file for the server's command line client.
type statement struct {
	sql       string // the text of the whole file
	tokens    []token
	start     int
	end       int    // after the last token
	next      int    // after the delimiter
	delimiter string // usually ";"; "" if the file ends without one
}

// maxVersion is above every server version: no server executes a comment for
// that version or a later one (the first line that mariadb-dump writes).
const maxVersion = 200000

// statements cuts a file as the client does: at the delimiter, and, for lines
// that are commands of the client itself, at the end of the line. It accepts any
// text; text that is not SQL gives statements without a meaning.
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
		// The client ends USE at the end of its line, with or without a
		// delimiter.
		if s.tokens[0].is("use") && len(s.tokens) == 2 && !strings.HasPrefix(strings.TrimLeft(sql[l.at:], " \t"), delimiter) {
			finish(l.at, "")
		}
	}
}

// A lexer reads a file token by token.
type lexer struct {
	sql   string
	at    int
	depth int // nesting depth of comments that the server executes
}

// skip moves past space and comments.
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

// lineLength returns the length of the first line without its line end.
func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// executed returns the length of the start of a comment that servers execute,
// such as "/*!40101"; 0 for a real comment.
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

// command reads a line for the client: DELIMITER, SOURCE or a backslash command.
// It returns the command's name and its first argument.
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

// next reads a token. The caller has checked that one follows.
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

// quotedLength returns the length of the quoted text at the start of s: up to
// the same quote that is not doubled, or the end of s without one.
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
