package accesslog

import "time"

// A format is one kind of log line. Workers share it; each has parsers of its
// own.
type format interface {
	// name is the name that Intake prints.
	name() string
	// parser returns a parser for one worker. It reads the fields in needs
	// besides those that every row counts.
	parser(needs fieldSet) parser
	// explain describes a bad line by the reason that parse returned.
	explain(why reason) string
	// notes lists what was inferred about the format.
	notes() []string
	// has reports whether the format has a field.
	has(f field) bool
}

// A fieldSet names fields.
type fieldSet [nFields]bool

// optional are the text fields that rows do not count. They are parsed only if
// a condition or the rows' keys need them.
var optional = fieldSet{host: true, agent: true, user: true, address: true, referer: true, backend: true}

// of returns f, or skipped if f is optional and not needed.
func (s fieldSet) of(f field) field {
	if optional[f] && !s[f] {
		return skipped
	}
	return f
}

// A parser reads lines of one format.
type parser interface {
	// parse reads one line, without its newline, into rec. The caller clears
	// rec before the first line of a file. parse returns 0, or why the line is
	// bad.
	parse(line []byte, rec *record) reason
}

// asTime converts a stamp; noTime becomes the zero time.
func asTime(at int64) time.Time {
	if at == noTime {
		return time.Time{}
	}
	return time.Unix(0, at).UTC()
}

// blank is the format of a log that begins with blank lines only. Every later
// line is bad.
type blank struct{}

func (blank) name() string           { return "nothing" }
func (blank) parser(fieldSet) parser { return blank{} }
func (blank) explain(reason) string {
	return "comes after so many blank lines that its format was not detected"
}
func (blank) notes() []string              { return nil }
func (blank) has(field) bool               { return true }
func (blank) parse([]byte, *record) reason { return 1 }
