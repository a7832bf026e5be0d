package bench

import (
	"net/http"
	"strconv"
	"time"

	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// How an HTTP/2 connection sends. All functions are called with its lock held.

// appendHead appends the HEADERS of a request.
func (cc *h2conn) appendHead(k *call, st *h2stream) {
	at := len(cc.out)
	flags := uint8(h2.FlagEndHeaders)
	if len(st.body) == 0 && st.piped == nil {
		flags |= h2.FlagEndStream
		st.sentAll = true
	}
	b := h2.AppendHeader(cc.out, 0, h2.Headers, flags, st.id)
	b = cc.appendFields(b, k, st)
	if size := len(b) - at - h2.HeaderSize; size > cc.peer.maxFrame {
		b = cc.split(b, at, flags)
	} else {
		h2.SetLength(b[at:], size)
	}
	cc.out = b
}

// appendFields appends the header block of a request.
func (cc *h2conn) appendFields(b []byte, k *call, st *h2stream) []byte {
	c, e, r := cc.c, cc.enc, k.r
	b = e.Begin(b)
	switch k.method {
	case http.MethodGet:
		b = e.Index(b, h2.IndexGet)
	case http.MethodPost:
		b = e.Index(b, h2.IndexPost)
	default:
		b = e.Field(b, ":method", k.method)
	}
	if c.tls != nil {
		b = e.Index(b, h2.IndexHTTPS)
	} else {
		b = e.Index(b, h2.IndexHTTP)
	}
	b = e.Field(b, ":authority", c.fields.host)
	if r.Path == "/" {
		b = e.Index(b, h2.IndexRoot)
	} else {
		b = e.Once(b, h2.IndexPath, r.Path)
	}
	if c.fields.agent != "" {
		b = e.Field(b, "user-agent", c.fields.agent)
	}
	if c.fields.encoding != "" && st.piped == nil {
		b = e.Field(b, "accept-encoding", c.fields.encoding)
	}
	for i, list := 0, c.jar.cookies(); i < len(list); i++ {
		// Each cookie is a field of its own (RFC 9113, 8.2.3), so that it is compressed
		// while others change.
		if j := &list[i]; j.live(r.Path, time.Now) {
			b = e.Pair(b, "cookie", j.name, j.value)
		}
	}
	for i := range r.Header {
		b = e.Field(b, r.Header[i].Name, r.Header[i].Value)
	}
	if k.entry != nil {
		if k.entry.etag != "" {
			b = e.Once(b, h2.IndexIfNoneMatch, k.entry.etag)
		}
		if k.entry.modified != "" {
			b = e.Once(b, h2.IndexIfModifiedSince, k.entry.modified)
		}
	}
	if r.ContentType != "" {
		b = e.Field(b, "content-type", r.ContentType)
	}
	if st.piped == nil && (len(r.Body) > 0 || hasBody(k.method)) {
		var digits [20]byte
		b = e.OnceBytes(b, h2.IndexContentLength, strconv.AppendInt(digits[:0], int64(len(r.Body)), 10))
	}
	return b
}

// split makes a HEADERS frame at b[at:] that is too large into one of the largest
// size and CONTINUATION frames.
func (cc *h2conn) split(b []byte, at int, flags uint8) []byte {
	id := h2.ParseHeader(b[at:]).Stream
	block := append([]byte(nil), b[at+h2.HeaderSize:]...)
	b = b[:at]
	for kind := h2.Headers; len(block) > 0; kind = h2.Continuation {
		n := min(len(block), cc.peer.maxFrame)
		var f uint8
		if kind == h2.Headers {
			f = flags &^ h2.FlagEndHeaders
		}
		if n == len(block) {
			f |= h2.FlagEndHeaders
		}
		b = append(h2.AppendHeader(b, n, kind, f, id), block[:n]...)
		block = block[n:]
	}
	return b
}

// listSize is the size of the header list of a request as SETTINGS_MAX_HEADER_LIST_SIZE
// counts it, without the client's own fields.
func listSize(r *scenario.Request) (n int64) {
	for i := range r.Header {
		n += int64(len(r.Header[i].Name) + len(r.Header[i].Value) + 32)
	}
	return n + int64(len(r.Path)+len(r.ContentType))
}

// pump appends what the flow control allows of the bodies that wait, a frame of
// each in turn.
func (cc *h2conn) pump() {
	for progress := true; progress; {
		progress = false
		for i := 0; i < len(cc.sending); {
			st := cc.sending[i]
			n := min(int64(len(st.body)), cc.sendWindow, st.sendWindow, int64(cc.peer.maxFrame))
			if len(cc.out) >= h2Pending || n <= 0 && len(st.body) > 0 {
				i++
				continue
			}
			progress = true
			cc.useless = 0
			if cc.appendData(st, int(n)) {
				i++
			}
		}
	}
}

// appendData appends a DATA frame with the next n bytes of a body. more reports
// whether the stream has to wait again.
func (cc *h2conn) appendData(st *h2stream, n int) (more bool) {
	var flags uint8
	last := n == len(st.body)
	if last && st.lastPart {
		flags, st.sentAll = h2.FlagEndStream, true
	}
	cc.out = append(h2.AppendHeader(cc.out, n, h2.Data, flags, st.id), st.body[:n]...)
	st.body = st.body[n:]
	st.sendWindow -= int64(n)
	cc.sendWindow -= int64(n)
	st.sent += int64(n + h2.HeaderSize)
	if last {
		cc.unqueue(st)
		if st.piped != nil {
			st.piped.sent()
		}
	}
	return !last
}

// flush writes what was appended, and what is appended meanwhile. The lock is free
// during the system call.
func (cc *h2conn) flush() {
	if cc.writing {
		return // that writer takes it
	}
	cc.writing = true
	for len(cc.out) > 0 && !cc.dead {
		b := cc.out
		cc.out, cc.spare, cc.answers = cc.spare[:0], nil, 0
		cc.mu.Unlock()
		done, err := cc.wire.write(b)
		cc.mu.Lock()
		if err != nil {
			cc.broken()
			break
		}
		if !done {
			go cc.drain(b)
			return
		}
		cc.keep(b)
		cc.pump()
	}
	cc.writing = false
}

// drain waits until the target has read, and then writes on.
func (cc *h2conn) drain(b []byte) {
	err := cc.wire.drain()
	cc.mu.Lock()
	defer cc.mu.Unlock()
	cc.writing = false
	if err != nil {
		cc.broken()
		return
	}
	cc.keep(b)
	cc.pump()
	cc.flush()
}

// keep keeps the memory of written frames.
func (cc *h2conn) keep(b []byte) {
	if cap(b) <= h2Pending {
		cc.spare = b[:0]
	}
}

// broken is called when nothing can be written any more. What the target has sent
// before is still read: it may have answered and closed.
func (cc *h2conn) broken() {
	cc.draining = true
	cc.out = nil
	cc.giveTurn()
}
