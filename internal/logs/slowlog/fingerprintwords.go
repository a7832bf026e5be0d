package slowlog

import "bytes"

// introducer reports whether a word directly before a quote belongs to the
// string: a character set (_utf8mb4), X, B, N, or E of PostgreSQL.
func (f *Fingerprinter) introducer(w []byte) bool {
	if f.Dialect == PostgreSQL && len(w) == 1 && w[0]|0x20 == 'e' {
		return true
	}
	return w[0] == '_' || len(w) == 1 && bytes.IndexByte([]byte("xXbBnN"), w[0]) >= 0
}

// literalWord reports whether the word is NULL, TRUE or FALSE in place of a value.
func (f *Fingerprinter) literalWord(w []byte) bool {
	if n := len(w); n != 4 && n != 5 {
		return false
	}
	if !foldEqual(w, "null") && !foldEqual(w, "true") && !foldEqual(w, "false") {
		return false
	}
	switch f.prev {
	case tokOp, tokOpen, tokComma:
		return true
	case tokWord:
		return f.after("then") || f.after("else") || f.after("select") || f.after("when") || f.after("values") || f.after("return")
	}
	return false
}

func foldEqual(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if lower[c] != word[i] {
			return false
		}
	}
	return true
}

// spacedBeforeParen reports whether a space separates a word from a parenthesis
// after it: the word is a keyword, not a function.
func spacedBeforeParen(w []byte) bool {
	switch string(w) {
	case "in", "values", "value", "and", "or", "xor", "not", "where", "on", "as", "select", "from", "join", "when", "then", "else",
		"by", "set", "using", "union", "all", "exists", "any", "some", "between", "like", "is", "having", "interval", "distinct",
		"over", "with", "into", "case", "div", "mod", "straight_join", "except", "intersect", "explain", "analyze":
		return true
	}
	return false
}

// signedAfter reports whether a sign after the word belongs to a number: the word
// is a keyword, not a column.
func signedAfter(w []byte) bool {
	switch string(w) {
	case "select", "where", "and", "or", "xor", "not", "between", "in", "like", "then", "else", "when", "return", "limit", "offset",
		"values", "set", "by", "on", "having", "case", "interval", "distinct", "div", "mod", "all", "default", "is", "as":
		return true
	}
	return false
}
