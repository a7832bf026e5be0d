package sqltext

import "strings"

// A Statement is one statement of a file for a server's command line client.
type Statement struct {
	File       string  // the text of the whole file
	Tokens     []Token // without spaces and comments
	Start, End int     // offsets in the file, up to the end of the last token
	Next       int     // offset behind the delimiter
	Delimiter  string  // usually ";"; "" if the file ends without one
}

// Text is the statement without its delimiter.
func (s Statement) Text() string { return s.File[s.Start:s.End] }

// Statements cuts a file as the client of the dialect does: at the delimiter, and, for
// lines that are commands of the client itself, at the end of the line. It accepts any
// text; text that is not SQL gives statements without a meaning.
func (d Dialect) Statements(sql string) []Statement {
	f := &file{Lexer: Lexer{Dialect: d, SQL: sql, Stop: ";"}}
	for f.At < len(sql) {
		switch {
		case strings.HasPrefix(sql[f.At:], f.Stop) && !f.inTrigger():
			f.At += len(f.Stop)
			f.finish(f.Stop)
		case len(f.tokens) == 0 && !isSpace(sql[f.At]) && f.command():
		default:
			f.next()
		}
	}
	f.finish("")
	return f.all
}

// A file is a file of statements, of which some are read.
type file struct {
	Lexer
	tokens []Token // of the statement that is being read
	all    []Statement
}

// next reads a token of a statement.
func (f *file) next() {
	t := f.Next()
	if t.Kind == Space || t.Kind == Comment {
		return
	}
	f.tokens = append(f.tokens, t)
	// MySQL's client ends USE at the end of its line, with or without a delimiter.
	if f.Dialect.executes() && len(f.tokens) == 2 && f.tokens[0].Is("USE") && !strings.HasPrefix(strings.TrimLeft(f.SQL[f.At:], " \t"), f.Stop) {
		f.finish("")
	}
}

// finish ends the statement that is being read.
func (f *file) finish(delimiter string) {
	if n := len(f.tokens); n > 0 {
		f.all = append(f.all, Statement{f.SQL, f.tokens, f.tokens[0].Start, f.tokens[n-1].End, f.At, delimiter})
	}
	f.tokens, f.depth = nil, 0
}

// inTrigger reports whether a semicolon ends a statement inside of a trigger's BEGIN and
// END. MySQL's client does not count them: a file changes its delimiter.
func (f *file) inTrigger() bool {
	n := len(f.tokens)
	if f.Dialect == MySQL || f.Stop != ";" || n < 4 || !f.tokens[0].Is("CREATE") || f.tokens[n-1].Is("END") && f.tokens[n-2].Text == ";" {
		return false
	}
	kind := 1
	if f.tokens[1].Is("TEMP", "TEMPORARY") {
		kind = 2
	}
	return f.tokens[kind].Is("TRIGGER") && Find(f.tokens, 3, "BEGIN") > 0
}

// command reads a line for the client: DELIMITER, SOURCE or a backslash command of MySQL,
// a backslash command of psql, a dot command of sqlite3.
func (f *file) command() bool {
	line := f.SQL[f.At : f.At+lineLength(f.SQL[f.At:])]
	words := strings.FieldsFunc(line, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
	first, sqlite := strings.ToLower(words[0]), f.Dialect == SQLite
	switch {
	case first == "delimiter" && f.Dialect.executes():
		if len(words) > 1 {
			f.Stop = words[1]
		}
	case first == "source" && f.Dialect.executes(), first[0] == '\\' && !sqlite, first[0] == '.' && sqlite:
	default:
		return false
	}
	f.At += len(line)
	return true
}
