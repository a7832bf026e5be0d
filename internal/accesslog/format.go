package accesslog

import "time"

// A format is one form of log. It is shared by the workers; each has parsers
// of its own.
type format interface {
	// name is what Intake prints.
	name() string
	// parser makes one for a worker, which asks for the fields in needs beside
	// those that every row counts.
	parser(needs fieldSet) parser
	// explain says what is wrong with a line that parse gave this reason for.
	explain(why reason) string
	// notes says aloud what was inferred about the format.
	notes() []string
	// has says whether the format has a field.
	has(f field) bool
}

// A fieldSet names fields.
type fieldSet [nFields]bool

// optional are the fields that no row counts: text that is only looked at when
// a condition or the rows' keys are about it.
var optional = fieldSet{host: true, agent: true, user: true}

// of is a field, or skipped where nobody asks for it.
func (s fieldSet) of(f field) field {
	if optional[f] && !s[f] {
		return skipped
	}
	return f
}

// A parser reads lines of one format.
type parser interface {
	// parse reads one line, without its newline, into rec, which was cleared
	// once before the first line; it returns 0 or why the line is bad.
	parse(line []byte, rec *record) reason
}

// asTime is a stamp as a time; zero where there is none.
func asTime(at int64) time.Time {
	if at == noTime {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// blank is the format of a log that began with no line: whatever comes later
// is bad, and is said to be.
type blank struct{}

func (blank) name() string           { return "nothing" }
func (blank) parser(fieldSet) parser { return blank{} }
func (blank) explain(reason) string {
	return "comes after so much of nothing that its format was not looked for"
}
func (blank) notes() []string              { return nil }
func (blank) has(field) bool               { return true }
func (blank) parse([]byte, *record) reason { return 1 }
