package accesslog

import (
	"bytes"
	"fmt"
	"slices"
)

// A layout describes a line of text as a logger's format string does: fields
// with literal text between them.
type layout struct {
	title    string // name of the format, for messages
	lead     string // literal text before the first field
	pieces   []piece
	inferred []string // notes on what was inferred
	// comment is the first byte of lines that are not requests; 0 for none.
	comment byte
}

// A piece is one field of a layout and the literal text behind it.
type piece struct {
	field field
	unit  int64 // ns per unit, of times
	// stop ends the field; only the last field may have an empty one. In a
	// quoted field a quote ends the field only if all of stop follows and no
	// backslash precedes it.
	stop   string
	quoted bool
	width  int    // of a field of fixed width, in bytes; 0 for others
	last   bool   // nothing follows stop
	list   bool   // a space behind a comma does not end the field
	name   string // the format's own name of the field, for messages
}

// A reason is why a line is bad; 0 means that it is good. Each format defines
// the other values.
type reason int

// noLine is the reason of lines that belong to the log but are not requests.
const noLine reason = -1

// otherLine is the reason of messages of the program that also writes the
// requests. A note reports their number.
const otherLine reason = -2

func (l *layout) name() string { return l.title }

func (l *layout) notes() []string { return l.inferred }

func (l *layout) has(f field) bool {
	for i := range l.pieces {
		if g := l.pieces[i].field; g == f || f == took && (g == duration || g == part) {
			return true
		}
	}
	return false
}

// hasParts reports whether the time of the request is logged in parts.
func (l *layout) hasParts() bool {
	return slices.ContainsFunc(l.pieces, func(p piece) bool { return p.field == part })
}

func (l *layout) parser(needs fieldSet) parser {
	return &textParser{lay: l, ops: l.compile(needs), parts: l.hasParts()}
}

// explain: reason 1 is the lead, then two reasons for each piece (its end, its
// value), then text behind the last piece.
func (l *layout) explain(why reason) string {
	if why == 1 {
		return fmt.Sprintf("does not begin with %q", l.lead)
	}
	k := int(why-2) / 2
	if k >= len(l.pieces) {
		return "continues behind the last field"
	}
	p := &l.pieces[k]
	if why%2 == 0 {
		return fmt.Sprintf("no %q after %s", p.stop, p.title())
	}
	return fmt.Sprintf("%s is not a %v", p.title(), p.field)
}

func (p *piece) title() string {
	if p.name != "" {
		return p.name
	}
	return "the " + p.field.String()
}

// follows reports whether the piece's stop is at line[i:].
func (p *piece) follows(line []byte, i int) bool {
	return len(line)-i >= len(p.stop) && string(line[i:i+len(p.stop)]) == p.stop
}

func (r *record) setNumber(f field, n int64) {
	switch f {
	case status:
		r.status = int(n)
	case size:
		r.size = n
	default:
		r.reqSize = n
	}
}

// find returns where the field at line[i:] ends, searching from index from, or
// -1 if its stop is missing.
func (p *piece) find(line []byte, i, from int) int {
	if p.last { // whatever its value has in it
		if n := len(line) - len(p.stop); n >= i && string(line[n:]) == p.stop {
			return n
		}
		return -1
	}
	if p.field == request && !p.quoted { // spaces of the request do not end it
		if j := bytes.Index(line[i:], []byte(" HTTP/")); j > 0 {
			from = i + j + 1
		}
	}
	for {
		j := bytes.IndexByte(line[from:], p.stop[0])
		if j < 0 {
			return -1
		}
		j += from
		if p.stops(line, j, i) {
			return j
		}
		from = j + 1
	}
}

// stops reports whether the field that begins at i ends at j.
func (p *piece) stops(line []byte, j, i int) bool {
	if len(p.stop) > 1 && (len(line)-j < len(p.stop) || string(line[j:j+len(p.stop)]) != p.stop) {
		return false
	}
	if p.list && line[j] == ' ' && j > i && line[j-1] == ',' {
		return false
	}
	if !p.quoted || j == i || line[j-1] != '\\' {
		return true
	}
	odd := false
	for k := j - 1; k >= i && line[k] == '\\'; k-- {
		odd = !odd
	}
	return !odd
}

// set stores the value of one field.
func (t *textParser) set(p *piece, v []byte, rec *record) (ok bool) {
	switch p.field {
	case request:
		rec.setRequest(v)
	case verb:
		rec.setMethod(v)
	case uri, path:
		if rec.uri = v; len(v) == 1 && v[0] == '-' { // a connection without a request
			rec.uri = nil
		}
	case query:
		rec.query = v
	case host:
		rec.host = v
	case agent:
		rec.agent = v
	case referer:
		rec.referer = v
	case user:
		rec.user = v
	case address:
		rec.addr = v
	case backend:
		rec.backend = v
	case part:
		var ns int64
		if ns, ok = timeValue(v, p.unit); ns > 0 || ns == 0 && rec.took < 0 {
			rec.took = max(rec.took, 0) + ns
		}
		return ok
	case took:
		rec.took, ok = timeValue(v, p.unit)
		return ok
	case upstream:
		rec.upstream, ok = timeValue(v, p.unit)
		return ok
	case duration:
		rec.took, ok = durationValue(v)
		return ok
	case stamp:
		rec.at, ok = t.clk.any(v)
		return ok
	case status, size, reqSize:
		return rec.setText(p.field, v)
	}
	return true
}

// setText reads a number that may be "-" or empty.
func (r *record) setText(f field, v []byte) bool {
	n, end := digits(v, 0)
	if len(v) == 1 && v[0] == '-' || len(v) == 0 {
		n, end = -1, len(v)
		if f == status {
			n = 0
		}
	}
	if end != len(v) {
		return false
	}
	r.setNumber(f, n)
	return true
}
