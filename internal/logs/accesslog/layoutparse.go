package accesslog

import (
	"bytes"
	"encoding/binary"
)

// A textParser parses the lines of a layout.
type textParser struct {
	lay *layout
	ops []op
	clk clock
	// parts: the time of the request is the sum of several fields.
	parts bool
}

// An op is a compiled piece: an action, and the text that must follow.
type op struct {
	code   opcode
	first  byte  // first byte of stop; 0 if the last piece has none
	short  uint8 // length of stop if it is 1 to 4, else 0
	field  field
	want   uint32 // stop as a number, if short
	mask   uint32
	unit   int64
	piece  *piece
	quoted bool
}

type opcode uint8

const (
	opSearch  opcode = iota // find the stop, then parse the text before it
	opSkip                  // find the stop
	opRequest               // quoted
	opStamp
	opStatus
	opSize
	opTook
)

// compile chooses the fastest action for each piece. A value that the action
// cannot read goes through the piece's find and set.
func (l *layout) compile(needs fieldSet) (ops []op) {
	for k := range l.pieces {
		p := &l.pieces[k]
		o := op{field: p.field, unit: p.unit, piece: p, quoted: p.quoted}
		switch needs.of(p.field) {
		case skipped:
			o.code = opSkip
		case request:
			if p.quoted {
				o.code = opRequest
			}
		case stamp:
			o.code = opStamp
		case status:
			o.code = opStatus
		case size, reqSize:
			o.code = opSize
		case took, upstream:
			o.code = opTook
		}
		if n := len(p.stop); n > 0 {
			o.first = p.stop[0]
			if n <= 4 {
				var b [4]byte
				copy(b[:], p.stop)
				o.short, o.want, o.mask = uint8(n), binary.LittleEndian.Uint32(b[:]), 1<<(8*n)-1
			}
		}
		if p.last && (o.code == opSkip || o.code == opRequest) {
			o.code = opSearch
		}
		ops = append(ops, o)
	}
	return ops
}

// follows reports whether the stop is at line[i:].
func (o *op) follows(line []byte, i int) bool {
	if o.short > 0 && i+4 <= len(line) {
		return binary.LittleEndian.Uint32(line[i:])&o.mask == o.want
	}
	return o.piece.follows(line, i)
}

// parse reads one line into rec. Fields that the layout lacks keep the value
// that clear set.
func (t *textParser) parse(line []byte, rec *record) reason {
	if t.parts {
		rec.took = -1
	}
	why := t.parseStraight(line, rec)
	if why > 1 && len(line) < maxAround {
		budget := maxTries
		if t.parts {
			rec.took = -1
		}
		if t.parseAround(0, line, len(t.lay.lead), rec, &budget) {
			return 0
		}
	}
	return why
}

// maxTries and maxAround bound the work on a line that parseStraight rejects.
const (
	maxTries  = 100
	maxAround = 16 << 10
)

// parseAround tries every index where a field may end. Some loggers do not
// escape quotes that clients send: "say "hi" there".
func (t *textParser) parseAround(k int, line []byte, i int, rec *record, budget *int) bool {
	if k == len(t.lay.pieces) {
		return i == len(line)
	}
	p := &t.lay.pieces[k]
	for from := i; *budget > 0; {
		*budget--
		end := p.find(line, i, from)
		if end < 0 {
			return false
		}
		if t.set(p, line[i:end], rec) && t.parseAround(k+1, line, end+len(p.stop), rec, budget) {
			return true
		}
		if from = end + 1; !p.quoted || p.last {
			return false
		}
	}
	return false
}

func (t *textParser) parseStraight(line []byte, rec *record) reason {
	l := t.lay
	i := 0
	if l.lead != "" || l.comment != 0 {
		if l.comment != 0 && line[0] == l.comment {
			return noLine
		}
		if len(line) < len(l.lead) || string(line[:len(l.lead)]) != l.lead {
			return 1
		}
		i = len(l.lead)
	}
	for k := range t.ops {
		o := &t.ops[k]
		end := i
		switch o.code {
		case opSkip, opRequest:
			if !o.quoted && i < len(line) && line[i] == '-' && o.follows(line, i+1) {
				i += 1 + len(o.piece.stop) // "-": no user, as in nearly all lines
				continue
			}
			j := bytes.IndexByte(line[i:], o.first)
			if j >= 0 && !(o.piece.list && j > 0 && line[i+j-1] == ',') && o.follows(line, i+j) && !(o.quoted && j > 0 && line[i+j-1] == '\\') {
				if o.code == opRequest {
					rec.setRequest(line[i : i+j])
				}
				i += j + len(o.piece.stop)
				continue
			}
		case opStamp:
			if at, ok := t.clk.local(line[i:]); ok {
				rec.at, end = at, i+localLen
			} else if w := o.piece.width; w > 0 && len(line)-i >= w {
				if at, ok := t.clk.any(line[i : i+w]); ok {
					rec.at, end = at, i+w
				}
			}
		case opStatus:
			var n int64
			if n, end = digits(line, i); end > i {
				rec.status = int(n)
			}
		case opSize:
			var n int64
			if n, end = digits(line, i); end > i {
				rec.setNumber(o.field, n)
			}
		case opTook:
			var ns int64
			if ns, end = decimal(line, i, o.unit); end == i {
				break
			}
			if o.field == took {
				rec.took = ns
			} else {
				rec.upstream = ns
			}
		}
		if end > i && o.follows(line, end) {
			i = end + len(o.piece.stop)
			continue
		}
		if end = t.search(o.piece, line, i, rec); end < 0 {
			return reason(2*k) - reason(end)
		}
		i = end
	}
	if i != len(line) {
		return reason(2 + 2*len(t.ops))
	}
	return 0
}

// search parses a piece with find and set and returns the index behind its
// stop; -2 if the stop is missing, -3 if the value is invalid.
func (t *textParser) search(p *piece, line []byte, i int, rec *record) int {
	end := p.find(line, i, i)
	if end < 0 {
		return -2
	}
	if !t.set(p, line[i:end], rec) {
		return -3
	}
	return end + len(p.stop)
}
