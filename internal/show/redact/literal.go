package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/sqltext"
)

// A literalKind is a kind of literal in a statement.
type literalKind uint8

const (
	literalString literalKind = iota
	literalNumber
	literalComment // with a beginning and an end; its text may hold values
)

// A piece is a literal of a statement, by its offsets.
type piece struct {
	kind     literalKind
	from, to int
}

// piecesOf returns the literals of a statement in order. What is a literal depends on the
// dialect, and a log does not always show it: what is one in any dialect is one here. A
// dialect in which a quote or a comment is open is left out if another one reads the text to
// its end.
func piecesOf(sql string) []piece {
	var closed, all [][]piece
	for _, d := range []sqltext.Dialect{sqltext.MySQL, sqltext.SQLite, sqltext.PostgreSQL} {
		pieces, open := piecesIn(d, sql)
		all = append(all, pieces)
		if !open {
			closed = append(closed, pieces)
		}
	}
	if len(closed) > 0 {
		all = closed
	}
	return union(all)
}

// piecesIn returns the literals of a statement in one dialect.
func piecesIn(d sqltext.Dialect, sql string) (pieces []piece, open bool) {
	for l := (sqltext.Lexer{Dialect: d, SQL: sql}); l.At < len(sql); {
		t := l.Next()
		open = open || t.Open
		switch {
		case t.Kind != sqltext.Comment:
			pieces = literalIn(pieces, t, 0)
		case strings.HasPrefix(t.Text, "/*") && !strings.HasPrefix(t.Text, "/*+") && !strings.HasPrefix(t.Text, "/*!"):
			pieces = append(pieces, piece{literalComment, t.Start, t.End})
		default: // a hint or a line, whose text may be a statement
			for in := (sqltext.Lexer{Dialect: d, SQL: t.Text, At: 1}); in.At < len(t.Text); {
				inner := in.Next()
				if inner.Kind == sqltext.Comment {
					in.At = inner.Start + 1
				}
				pieces = literalIn(pieces, inner, t.Start)
			}
		}
	}
	return pieces, open
}

// literalIn adds a token that is a literal, in a text that begins at an offset. Names in
// double quotes count as strings: they are those of MySQL.
func literalIn(pieces []piece, t sqltext.Token, at int) []piece {
	switch {
	case t.Kind == sqltext.String, t.Kind == sqltext.Quoted && t.Text[0] == '"':
		introducer := max(strings.IndexAny(t.Text, `'"$`), 0) // stays, as in x'00'
		return append(pieces, piece{literalString, at + t.Start + introducer, at + t.End})
	case t.Kind == sqltext.Number:
		return append(pieces, piece{literalNumber, at + t.Start, at + t.End})
	}
	return pieces
}

// union merges the literals by several dialects. Strings that overlap become one; they hide
// numbers. A comment counts if every dialect has it.
func union(lists [][]piece) (out []piece) {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b piece) int {
		return cmp.Or(a.from-b.from, b.to-a.to, int(a.kind)-int(b.kind))
	})
	for same := 1; len(all) > 0; all, same = all[same:], 1 {
		p := all[0]
		for same < len(all) && all[same] == p {
			same++
		}
		n := len(out)
		switch {
		case p.kind == literalComment && same < len(lists):
		case n == 0 || p.from >= out[n-1].to:
			out = append(out, p)
		default: // a literal of one dialect begins in that of another one
			out[n-1].to = max(out[n-1].to, p.to)
			if p.kind == literalString {
				out[n-1].kind = literalString
			}
		}
	}
	return out
}
