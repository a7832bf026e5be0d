package slowlog

// A tablePlace is a position relative to the names of tables in a statement. It is
// tracked for Fingerprinter.FoldTables only.
type tablePlace uint8

const (
	noTable   tablePlace = iota
	tableNext            // the next name is the name of a table
	inTables             // in a list of tables, after a name
)

// foldName folds the numbers in the name that was just written to out[f.word:], as
// in tenant_12. before is the kind of the token before it. A name that begins with
// a digit stays, because a name with ? would then be read as a number.
func (f *Fingerprinter) foldName(before tokenKind) {
	isTable := f.movePlace(f.out[f.word:], before)
	if class[f.out[f.word]] == clDigit || f.out[f.word] == '.' { // ".00_0" begins as a number
		return
	}
	if isTable {
		f.foldNumbers(f.word)
		return
	}
	if p := f.skipSpace(f.pos); p < len(f.in) && f.in[p] == '.' {
		f.foldQualifier(f.word)
	}
}

// movePlace updates the place for a word in lower case. It reports whether the
// word is the name of a table.
func (f *Fingerprinter) movePlace(word []byte, before tokenKind) (isTable bool) {
	if before != tokDot && before != tokName {
		afterFor := f.afterFor
		f.afterFor = string(word) == "for" || string(word) == "key"
		switch string(word) {
		case "from", "join", "straight_join", "into", "table", "tables", "describe", "truncate":
			f.place = tableNext
			return false
		case "update": // not in FOR UPDATE and ON DUPLICATE KEY UPDATE
			if !afterFor {
				f.place = tableNext
			}
			return false
		case "ignore", "low_priority", "high_priority", "delayed", "if", "not", "exists", "quick", "lateral", "only", "as":
			return false
		case "where", "set", "on", "using", "group", "order", "having", "limit", "values", "value", "select", "union", "for", "inner", "left", "right", "cross", "natural":
			f.place = noTable
			return false
		}
	}
	if f.place == noTable {
		return false
	}
	isTable = f.place == tableNext
	f.place = inTables
	if p := f.skipSpace(f.pos); isTable && p < len(f.in) && f.in[p] == '.' {
		f.place = tableNext // a schema; the name of the table follows
	}
	return isTable
}

// foldNumbers replaces the numbers in the name out[from:] by ?.
func (f *Fingerprinter) foldNumbers(from int) {
	name := f.out[from:]
	out := name[:0]
	digit := false
	for _, c := range name {
		if class[c] != clDigit {
			out, digit = append(out, c), false
		} else if !digit {
			out, digit = append(out, '?'), true
		}
	}
	f.out = f.out[:from+len(out)]
}

// foldQualifier replaces the number at the end of a column's qualifier, as in
// tenant_12.id. A number without _ before it stays, because aliases such as t1
// are not numbered tables.
func (f *Fingerprinter) foldQualifier(from int) {
	end := len(f.out)
	for end > from && class[f.out[end-1]] == clDigit {
		end--
	}
	if end < len(f.out) && end > from && f.out[end-1] == '_' {
		f.out = append(f.out[:end], '?')
	}
}

// endOfFolded returns the end of a name that begins at f.pos and whose first word
// ends at p: a name that is already folded contains ?.
func (f *Fingerprinter) endOfFolded(p int) int {
	if f.place == tableNext || p < len(f.in) && f.in[p] == '?' && p > f.pos && f.in[p-1] == '_' {
		for p < len(f.in) && (inWord[f.in[p]] || f.in[p] == '?') {
			p++
		}
	}
	return p
}
