package bench

import (
	"bytes"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Limits of an answer, so that a broken target causes a fault and does not use
// up memory.
const (
	maxHead      = 256 << 10 // of all header lines together, as in Chrome
	maxFields    = 512
	maxInterim   = 16   // 1xx answers before the final one
	maxChunkLine = 4096 // chunk size with extensions
	minRead      = 512  // room below which the buffer grows
	firstBuffer  = 8 << 10
)

type stage uint8

const (
	inStatus stage = iota
	inFields
	inLength
	untilClose
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	atEnd
)

// A reply is one answer while it arrives: a parser without I/O, so it can be
// fuzzed. The caller reads bytes into room, announces them with grow and calls
// parse, which returns true when the answer is complete. The caller calls eof at
// the end of the stream. Field names are converted to lower case and chunks
// joined in place: names, values and body are slices of buf.
type reply struct {
	buf   []byte // received bytes that were not compacted away
	pos   int    // parsed up to here
	stage stage

	bodyless bool // answers a HEAD
	maxBody  int

	status  int
	minor   byte // of HTTP/1.x
	keep    bool // the connection may be reused
	cookies bool // it has a Set-Cookie field
	chunked bool
	gzip    bool
	coding  []byte // a Content-Encoding that is neither gzip nor identity
	length  int    // Content-Length, -1 when there is none
	interim int
	fields  []scenario.HeaderField

	lineAt, crlf int   // start of the head's lines, and how many ended in CRLF
	body, end    int   // decoded body is buf[body:end]
	left         int   // of the body or of the current chunk
	trailer      int   // bytes of trailer lines
	wire         int64 // bytes arrived
}

// reset prepares the reply for another answer and keeps its memory.
func (p *reply) reset(bodyless bool, maxBody int) {
	*p = reply{buf: p.buf[:0], fields: p.fields[:0], bodyless: bodyless, maxBody: maxBody, length: -1}
}

// room returns at least minRead bytes of free space to read into. The buffer
// doubles up to the announced length, so an announced length without the bytes
// uses no memory.
func (p *reply) room() []byte {
	if p.stage >= inChunkSize && cap(p.buf)-len(p.buf) < minRead {
		p.compact()
	}
	if cap(p.buf)-len(p.buf) < minRead {
		size := max(2*cap(p.buf), firstBuffer)
		if p.stage == inLength {
			size = max(min(size, p.pos+p.left+minRead), len(p.buf)+minRead)
		}
		buf := make([]byte, len(p.buf), size)
		copy(buf, p.buf)
		p.buf = buf
	}
	return p.buf[len(p.buf):cap(p.buf)]
}

// grow adds n bytes that were read into room.
func (p *reply) grow(n int) {
	p.buf = p.buf[:len(p.buf)+n]
	p.wire += int64(n)
}

func protocol(format string, args ...any) *scenario.Fault {
	return &scenario.Fault{Kind: iikanji.FaultProtocol, Step: -1, Message: fmt.Sprintf(format, args...)}
}

// parse consumes the received bytes. done is true when the answer is complete.
// The error is nil or a *scenario.Fault.
func (p *reply) parse() (done bool, err error) {
	for {
		more := false
		switch p.stage {
		case inStatus:
			more, err = p.statusLine()
		case inFields:
			more, err = p.fieldLines()
		case inLength:
			more = p.takeLength()
		case untilClose:
			p.pos, p.end, more = len(p.buf), len(p.buf), true
			if p.end-p.body > p.maxBody {
				err = protocol("body is larger than %d bytes", p.maxBody)
			}
		case inChunkSize:
			more, err = p.chunkSize()
		case inChunk:
			more = p.takeChunk()
		case inChunkEnd:
			more, err = p.chunkEnd()
		case inTrailer:
			more, err = p.trailerLine()
		case atEnd:
			if extra := len(p.buf) - p.pos; extra > 0 {
				return false, protocol("%d or more bytes after the end of the answer", extra)
			}
			return true, nil
		}
		if more || err != nil {
			return false, err
		}
	}
}

// eof is called when the target has closed the connection.
func (p *reply) eof() error {
	if p.stage == untilClose {
		return nil
	}
	f := &scenario.Fault{Kind: iikanji.FaultClosed, Step: -1}
	switch {
	case p.wire == 0:
		f.Message = "connection closed before the first byte of the answer"
	case p.stage <= inFields:
		f.Message = "connection closed within the header"
	case p.stage == inLength:
		f.Message = fmt.Sprintf("connection closed after %d of %d bytes of the body", p.length-p.left+len(p.buf)-p.pos, p.length)
	default:
		f.Message = fmt.Sprintf("connection closed within the chunked body, after %d bytes", p.end-p.body)
	}
	return f
}

// line returns the next complete line without its end. More than limit bytes
// since mark are a fault, even if the line is not complete.
func (p *reply) line(mark, limit int) (line []byte, more bool, err error) {
	i := bytes.IndexByte(p.buf[p.pos:], '\n')
	if i < 0 {
		if len(p.buf)-mark > limit {
			return nil, false, protocol("header or chunk line goes beyond %d bytes", limit)
		}
		return nil, true, nil
	}
	line = p.buf[p.pos : p.pos+i]
	p.pos += i + 1
	if p.pos-mark > limit {
		return nil, false, protocol("header or chunk line goes beyond %d bytes", limit)
	}
	if i > 0 && line[i-1] == '\r' {
		p.crlf++
		line = line[:i-1]
	}
	return line, false, nil
}

// statusLine parses "HTTP/1.1 200 OK"; the reason may be missing (RFC 9112, 4).
func (p *reply) statusLine() (more bool, err error) {
	// Check the prefix first: garbage may never contain a line end.
	const version = "HTTP/1."
	if got := p.buf[p.pos:]; !bytes.HasPrefix(got, []byte(version)[:min(len(got), len(version))]) {
		return false, protocol("answer begins with %.40q, not with HTTP/1.x", got)
	}
	start := p.pos
	line, more, err := p.line(0, maxHead)
	if more || err != nil {
		return more, err
	}
	if len(line) < 12 || line[7] != '0' && line[7] != '1' || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return false, protocol("status line %.40q", line)
	}
	status := 0
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return false, protocol("status line %.40q", line)
		}
		status = 10*status + int(c-'0')
	}
	if status < 100 || status > 599 {
		return false, protocol("status %d", status)
	}
	p.status, p.minor, p.keep = status, line[7]-'0', line[7] == '1'
	p.lineAt, p.crlf = start, 0
	if p.buf[p.pos-2] == '\r' {
		p.crlf = 1
	}
	p.stage = inFields
	return false, nil
}

// takeLength waits for the rest of a body of known length.
func (p *reply) takeLength() (more bool) {
	if len(p.buf)-p.pos < p.left {
		return true
	}
	p.pos += p.left
	p.left, p.end, p.stage = 0, p.pos, atEnd
	return false
}
