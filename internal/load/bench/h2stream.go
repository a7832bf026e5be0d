package bench

import (
	"bytes"
	"net/http"

	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// An h2stream is one exchange on an HTTP/2 connection: the request's body as far as
// it was not sent, and the answer, which is collected in the reply of a response.
// The connection's lock guards it from start to finish; then it belongs to the
// goroutine that waits.
type h2stream struct {
	cc    *h2conn
	id    uint32
	res   *response
	began int64 // clock time
	due   int64 // clock time by which it must be over
	done  chan struct{}
	piped *pipe // of a scenario.Stream; nil for a request and its answer

	writes bool // the exchange may change data of the target

	// The request.
	body       []byte // not sent yet
	lastPart   bool   // the request ends with body
	sentAll    bool
	queued     bool
	sendWindow int64
	sent       int64 // bytes of frames

	// The answer.
	recvWindow int64
	credit     int64 // received bytes that were not given back
	headed     bool  // its status and header have arrived
	trailing   bool
	headAt     int // where the fields of the block begin in the buffer
	headSize   int
	status     int
	regular    bool // a field that is no pseudo-header was seen
	bad        *scenario.Fault

	// The end.
	over        bool
	fault       *scenario.Fault
	unprocessed bool // the target did nothing for the request
	end         int64
}

// reset prepares the stream for an exchange. It keeps the channel.
func (st *h2stream) reset(res *response, began, due int64) {
	done := st.done
	if done == nil {
		done = make(chan struct{}, 1)
	}
	*st = h2stream{res: res, began: began, due: due, done: done}
}

// wake lets the goroutine that waits for the stream go on.
func (st *h2stream) wake() {
	if st.piped != nil {
		st.piped.changed()
		return
	}
	st.done <- struct{}{}
}

// beginBlock is called before the fields of a header block.
func (st *h2stream) beginBlock() {
	p := &st.res.reply
	st.trailing = st.headed
	st.headAt, st.headSize, st.status, st.regular = len(p.buf), 0, 0, false
	if cap(p.buf) == 0 {
		p.buf = make([]byte, 0, firstBuffer)
	}
}

// Field implements h2.Sink.
func (st *h2stream) Field(name, value []byte) {
	if st.bad != nil {
		return
	}
	p := &st.res.reply
	fields := &p.fields
	if st.trailing {
		fields = &st.res.trailers
	}
	st.headSize += len(name) + len(value)
	switch {
	case st.headSize > maxHead:
		st.bad = protocol("header goes beyond %d bytes", maxHead)
		return
	case len(name) > 0 && name[0] == ':':
		st.pseudo(name, value)
		return
	case len(*fields) == maxFields:
		st.bad = protocol("more than %d header fields", maxFields)
		return
	}
	st.regular = true
	if !isLowerToken(name) {
		st.bad = protocol("header name %.60q", name)
		return
	}
	at := len(p.buf)
	p.buf = append(append(p.buf, name...), value...)
	end := at + len(name)
	f := scenario.HeaderField{Name: p.buf[at:end:end], Value: p.buf[end:len(p.buf):len(p.buf)]}
	*fields = append(*fields, f)
	if !st.trailing {
		st.bad = st.note(f)
	}
}

// pseudo takes ":status", the only pseudo-header of an answer.
func (st *h2stream) pseudo(name, value []byte) {
	if string(name) != ":status" || st.status != 0 || st.regular || st.trailing || len(value) != 3 {
		st.bad = protocol("pseudo-header %.40q: %.40q", name, value)
		return
	}
	n := 0
	for _, c := range value {
		if c < '0' || c > '9' {
			n = 0
			break
		}
		n = 10*n + int(c-'0')
	}
	if st.status = n; n < 100 || n > 599 {
		st.bad = protocol("status %.40q", value)
	}
}

// note records what the engine has to know of a field, and rejects those that
// HTTP/2 has no use for (RFC 9113, 8.2.2).
func (st *h2stream) note(f scenario.HeaderField) *scenario.Fault {
	switch string(f.Name) {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		return protocol("header field %s over HTTP/2", f.Name)
	case "content-length", "set-cookie", "content-encoding":
		if err := st.res.reply.note(f); err != nil {
			return err.(*scenario.Fault)
		}
	}
	return nil
}

// isLowerToken reports whether a field name is a token without capital letters.
func isLowerToken(name []byte) bool {
	for _, c := range name {
		if lowered[c] != c || c == 0 {
			return false
		}
	}
	return len(name) > 0
}

// endBlock is called after the fields of a block. It returns what is wrong with
// them. done is true when the answer is complete.
func (st *h2stream) endBlock(end bool) (done bool, wrong *scenario.Fault) {
	p := &st.res.reply
	if st.bad != nil {
		return false, st.bad
	}
	if text := p.buf[st.headAt:]; bytes.IndexByte(text, 0) >= 0 || bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, '\n') >= 0 {
		return false, protocol("header holds NUL, CR or LF")
	}
	switch {
	case st.trailing && !end:
		return false, protocol("a second header, which is no trailer")
	case st.trailing:
		return true, st.wholeBody()
	case st.status == 0:
		return false, protocol("the answer has no status")
	case st.status < 200:
		return false, st.skipInterim(end)
	}
	st.headed = true
	p.status, p.stage, p.minor = st.status, inLength, 2
	p.body, p.end = len(p.buf), len(p.buf)
	p.bodyless = p.bodyless || st.status == http.StatusNoContent || st.status == http.StatusNotModified
	if !p.bodyless && p.length > p.maxBody {
		return false, protocol("content-length %d is larger than the limit of %d", p.length, p.maxBody)
	}
	if end {
		return true, st.wholeBody()
	}
	return false, nil
}

// skipInterim drops a 1xx answer. HTTP/2 has no 101.
func (st *h2stream) skipInterim(end bool) *scenario.Fault {
	p := &st.res.reply
	p.interim++
	switch {
	case end:
		return protocol("an interim answer that ends the stream")
	case st.status == http.StatusSwitchingProtocols:
		return protocol("status 101 over HTTP/2")
	case p.interim > maxInterim:
		return protocol("more than %d interim answers", maxInterim)
	}
	p.buf = p.buf[:st.headAt]
	p.fields, p.length, p.cookies, p.gzip, p.coding = p.fields[:0], -1, false, false, nil
	return nil
}

// take appends a piece of the body.
func (st *h2stream) take(b []byte) *scenario.Fault {
	p := &st.res.reply
	if p.bodyless && len(b) > 0 {
		return protocol("a body with status %d to %s", p.status, st.why())
	}
	p.buf = append(p.buf, b...)
	p.end = len(p.buf)
	if p.left += len(b); p.length >= 0 && p.left > p.length {
		return protocol("body is longer than content-length %d", p.length)
	}
	if st.piped == nil && p.left > p.maxBody {
		return protocol("body is larger than %d bytes", p.maxBody)
	}
	return nil
}

// why is the reason why an answer has no body.
func (st *h2stream) why() string {
	if s := st.res.reply.status; s == http.StatusNoContent || s == http.StatusNotModified {
		return "a request"
	}
	return "HEAD"
}

// wholeBody checks the length of a body that is complete.
func (st *h2stream) wholeBody() *scenario.Fault {
	p := &st.res.reply
	if p.length >= 0 && p.left != p.length && !p.bodyless {
		return protocol("body of %d bytes with content-length %d", p.left, p.length)
	}
	p.stage = atEnd
	return nil
}

// giveBack returns how many bytes the target may send again, 0 for not yet. It is
// called when n bytes of the body were used.
func (st *h2stream) giveBack(n int64) (grant int64) {
	if st.credit += n; st.credit < h2StreamWindow/2 {
		return 0
	}
	grant, st.credit = st.credit, 0
	st.recvWindow += grant
	return grant
}

// A void takes the fields of a stream that is not open any more.
type void struct{}

// Field implements h2.Sink.
func (void) Field(name, value []byte) {}

var _ h2.Sink = (*h2stream)(nil)
