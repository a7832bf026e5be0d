package cause

import (
	"regexp"
	"strings"
)

// Readers of logs keep only the beginning of a long statement, and an INSERT of
// a hundred rows, or of one picture, is long. Its table and columns are at the
// beginning.

var inserts = regexp.MustCompile(`(?i)^\s*(insert|replace)\b`)

// beginning makes a complete statement of an INSERT or REPLACE that is cut off
// within its rows, from the complete rows, or without rows. ok is false for
// other statements, and if the text is cut off before the rows.
func beginning(sql string) (whole string, ok bool) {
	if !inserts.MatchString(sql) {
		return "", false
	}
	rows, end, depth := 0, 0, 0 // positions after VALUES and after the last complete row
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			i = closing(sql, i)
		case strings.HasPrefix(sql[i:], "/*"):
			n := strings.Index(sql[i+2:], "*/")
			if n < 0 {
				n = len(sql)
			}
			i += n + 3
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 && rows > 0 {
				end = i + 1
			}
		case depth == 0 && rows == 0:
			if n := wordAt(sql, i, "values", "value"); n > 0 {
				rows = i + n
				i = rows - 1
			}
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

// closing is the position of the quote that ends the quoted text beginning at
// i, or the length of the text.
func closing(sql string, i int) int {
	quote := sql[i]
	for i++; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && quote != '`':
			i++
		case sql[i] == quote:
			return i
		}
	}
	return len(sql)
}

// wordAt is the length of the first of some words at a position; 0 for none.
func wordAt(sql string, i int, words ...string) int {
	inWord := func(i int) bool {
		return i >= 0 && i < len(sql) && (sql[i] == '_' || sql[i] == '$' || sql[i] >= 0x80 ||
			sql[i] >= '0' && sql[i] <= '9' || sql[i]|0x20 >= 'a' && sql[i]|0x20 <= 'z')
	}
	for _, w := range words {
		if end := i + len(w); end <= len(sql) && !inWord(i-1) && !inWord(end) && strings.EqualFold(sql[i:end], w) {
			return len(w)
		}
	}
	return 0
}
