package slowlog

import (
	"bytes"
	"strings"
)

// tablesOf returns the tables of a statement, in order of appearance, at most 16,
// spelled as in the statement. It finds them by position (after FROM, JOIN, INTO,
// UPDATE, TABLE). A derived table has no name.
func tablesOf(fingerprint string, sql []byte) []string {
	words := strings.Fields(strings.NewReplacer(",", " , ", "(", " ( ", ")", " ) ", ";", " ; ").Replace(fingerprint))
	var names []string
	expect := false // a table name may follow
	for i, w := range words {
		switch {
		case expect && isTableName(w):
			if n := spelled(strings.ReplaceAll(w, "`", ""), sql); !contains(names, n) && len(names) < 16 {
				names = append(names, n)
			}
			expect = false
		case w == ",":
			expect = afterTable(words[:i])
		case tableWord(w, words, i):
			expect = true
		case expect && !skippedBeforeTable(w):
			expect = false
		}
	}
	return names
}

func contains(names []string, n string) bool {
	for _, m := range names {
		if m == n {
			return true
		}
	}
	return false
}

// tableWord reports whether a table name follows the word.
func tableWord(w string, words []string, i int) bool {
	switch w {
	case "from": // not in extract(year from x), trim(x from y)
		return !insideCall(words[:i])
	case "join", "straight_join", "into", "table", "tables", "describe":
		return true
	case "update":
		return i == 0 || words[i-1] != "key" && words[i-1] != "for" && words[i-1] != "on"
	}
	return false
}

// insideCall reports whether the innermost open parenthesis belongs to a function
// whose arguments may contain FROM.
func insideCall(words []string) bool {
	depth := 0
	for i := len(words) - 1; i > 0; i-- {
		switch words[i] {
		case ")":
			depth++
		case "(":
			if depth == 0 {
				switch words[i-1] {
				case "extract", "trim", "substring", "substr", "overlay", "position":
					return true
				}
				return false
			}
			depth--
		}
	}
	return false
}

// afterTable reports whether the comma after these words continues a list of
// tables: only names and aliases are between it and FROM (or UPDATE).
func afterTable(words []string) bool {
	for i := len(words) - 1; i >= 0; i-- {
		switch w := words[i]; {
		case w == "from" || w == "update" || w == "table" || w == "tables":
			return tableWord(w, words, i)
		case w == "," || w == "as":
		case !isTableName(w):
			return false
		}
		if len(words)-i > 64 {
			return false
		}
	}
	return false
}

// skippedBeforeTable reports whether the word may come between INTO, UPDATE or
// TABLE and the name.
func skippedBeforeTable(w string) bool {
	switch w {
	case "ignore", "low_priority", "delayed", "high_priority", "if", "not", "exists", "quick", "lateral", "(":
		return true
	}
	return false
}

// isTableName reports whether a word of a fingerprint can be the name of a table.
func isTableName(w string) bool {
	switch w {
	case "select", "set", "where", "on", "using", "ignore", "low_priority", "delayed", "high_priority", "if", "not", "exists", "quick", "lateral",
		"values", "outfile", "dumpfile", "dual", "join", "left", "right", "inner", "cross", "group", "order", "limit", "?", "having", "straight_join", "natural":
		return false
	}
	c := w[0]
	return class[c] == clWord && c != '@' || c == '`'
}

// spelled returns a name as the statement spells it, ignoring case.
func spelled(name string, sql []byte) string {
	low := bytes.ToLower(sql)
	inWord := func(i int) bool {
		return i >= 0 && i < len(low) && (class[low[i]] == clWord || class[low[i]] == clDigit)
	}
	for from := 0; from < len(low); {
		i := bytes.Index(low[from:], []byte(name))
		if i < 0 || len(low) != len(sql) {
			return name
		}
		i += from
		if !inWord(i-1) && !inWord(i+len(name)) {
			return strings.ToValidUTF8(string(sql[i:i+len(name)]), "\uFFFD")
		}
		from = i + 1
	}
	return name
}
