package index

import "github.com/iikanji/iikanji/internal/lang/sqltext"

// Readers of logs keep only the beginning of a long statement, and an INSERT of
// a hundred rows, or of one picture, is long. Its table and columns are at the
// beginning.

// beginning makes a complete statement of an INSERT or REPLACE that is cut off
// within its rows, from the complete rows, or without rows. ok is false for
// other statements, and if the text is cut off before the rows.
func beginning(sql string) (whole string, ok bool) {
	begun := false
	rows, end := 0, 0 // positions after VALUES and after the last complete row
	for l := (sqltext.Lexer{Dialect: sqltext.MySQL, SQL: sql}); l.At < len(sql); {
		t := l.Next()
		switch {
		case t.Kind == sqltext.Space || t.Kind == sqltext.Comment:
		case !begun:
			if begun = t.Is("INSERT", "REPLACE"); !begun {
				return "", false
			}
		case rows == 0 && t.Depth == 0 && t.Is("VALUES", "VALUE"):
			rows = t.End
		case rows > 0 && t.Depth == 0 && t.Text == ")":
			end = t.End
		}
	}
	switch {
	case rows == 0:
		return "", false
	case end == 0: // the first row is cut off
		return sql[:rows] + " ()", true
	}
	return sql[:end], true
}
