package bench

import (
	"context"
	"encoding/binary"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// An h2peer is the target's side of one connection over HTTP/2. It sends what a test
// likes. TestH2Go and TestH2Nginx have targets of others.
type h2peer struct {
	*rawConn
	dec   *h2.Decoder
	bytes map[uint32][]byte // of bodies, by stream
	pings int               // acknowledged
	sets  int               // acknowledged SETTINGS
	block []byte
	most  time.Duration // that a body drips
}

// An h2request is a HEADERS frame of the browser, with its CONTINUATION frames.
type h2request struct {
	id     uint32
	fields map[string]string
}

// Field implements h2.Sink.
func (r *h2request) Field(name, value []byte) { r.fields[string(name)] = string(value) }

// h2Server runs a target whose handle is called once per connection, after the
// preface was read and SETTINGS were sent.
func h2Server(t testing.TB, handle func(p *h2peer), settings ...h2.Setting) (url string, accepted *atomic.Int64) {
	return rawServer(t, func(c *rawConn) {
		p := &h2peer{rawConn: c, dec: h2.NewDecoder(h2.DefaultTable), bytes: map[uint32][]byte{}}
		got := make([]byte, len(h2.Preface))
		if _, err := io.ReadFull(p.r, got); err == nil && string(got) == h2.Preface {
			p.settings(settings...)
			handle(p)
		}
	})
}

// frame reads a frame and notes what tests ask for. ok is false at the end.
func (p *h2peer) frame() (h h2.FrameHeader, payload []byte, ok bool) {
	var head [h2.HeaderSize]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return h, nil, false
	}
	h = h2.ParseHeader(head[:])
	payload = make([]byte, h.Length)
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return h, nil, false
	}
	switch h.Type {
	case h2.Settings:
		if h.Has(h2.FlagAck) {
			p.sets++
		} else {
			p.raw(h2.Settings, h2.FlagAck, 0, "")
		}
	case h2.Ping:
		if h.Has(h2.FlagAck) {
			p.pings++
		}
	case h2.Data:
		p.bytes[h.Stream] = append(p.bytes[h.Stream], payload...)
	}
	return h, payload, true
}

// request reads up to the next request.
func (p *h2peer) request() (r h2request, ok bool) {
	for {
		h, payload, ok := p.frame()
		if !ok {
			return r, false
		}
		if h.Type != h2.Headers && h.Type != h2.Continuation {
			continue
		}
		if p.block = append(p.block, payload...); !h.Has(h2.FlagEndHeaders) {
			continue
		}
		r = h2request{h.Stream, map[string]string{}}
		err := p.dec.Decode(p.block, &r)
		p.block = nil
		return r, err == nil
	}
}

// next reads up to the next request and returns its stream and path.
func (p *h2peer) next() (id uint32, path string, ok bool) {
	r, ok := p.request()
	return r.id, r.fields[":path"], ok
}

// until reads until what is true, and reports whether it became true.
func (p *h2peer) until(what func() bool) bool {
	for !what() {
		if _, _, ok := p.frame(); !ok {
			return false
		}
	}
	return true
}

// hold reads until the browser closes the connection.
func (p *h2peer) hold() { p.until(func() bool { return false }) }

// raw sends a frame of any form. The browser may have closed: some tests need that.
func (p *h2peer) raw(kind h2.FrameType, flags uint8, id uint32, payload string) {
	_ = p.send(kind, flags, id, payload)
}

func (p *h2peer) send(kind h2.FrameType, flags uint8, id uint32, payload string) error {
	_, err := p.Write(append(h2.AppendHeader(nil, len(payload), kind, flags, id), payload...))
	return err
}

// encodeFields returns a header block of "name: value" lines, in which nothing is kept.
func encodeFields(fields ...string) string {
	var b []byte
	str := func(s string) {
		for n, first := len(s), true; ; n, first = n>>7, false {
			if first {
				if n < 127 {
					b = append(b, byte(n))
					break
				}
				b = append(b, 127)
				n -= 127
			}
			if n < 128 {
				b = append(b, byte(n))
				break
			}
			b = append(b, byte(n)|0x80)
		}
		b = append(b, s...)
	}
	for _, f := range fields {
		at := strings.Index(f, ": ")
		b = append(b, 0)
		str(f[:at])
		str(f[at+2:])
	}
	return string(b)
}

// headers sends a header block. end ends the stream.
func (p *h2peer) headers(id uint32, end bool, fields ...string) {
	flags := uint8(h2.FlagEndHeaders)
	if end {
		flags |= h2.FlagEndStream
	}
	p.raw(h2.Headers, flags, id, encodeFields(fields...))
}

func (p *h2peer) data(id uint32, end bool, body string) {
	var flags uint8
	if end {
		flags = h2.FlagEndStream
	}
	p.raw(h2.Data, flags, id, body)
}

// answer sends a complete answer.
func (p *h2peer) answer(id uint32, body string) {
	p.headers(id, false, ":status: 200", "content-type: text/plain")
	p.data(id, true, body)
}

func (p *h2peer) settings(list ...h2.Setting) { p.say(string(h2.AppendSettings(nil, list...))) }

func (p *h2peer) window(id uint32, n int) { p.say(string(h2.AppendWindowUpdate(nil, id, n))) }

func (p *h2peer) resetStream(id uint32, code h2.Code) { p.say(string(h2.AppendReset(nil, id, code))) }

func (p *h2peer) goAway(last uint32, code h2.Code) {
	b := binary.BigEndian.AppendUint32(nil, last)
	p.raw(h2.GoAway, 0, 0, string(binary.BigEndian.AppendUint32(b, uint32(code))))
}

// browseH2 returns a browser that speaks HTTP/2 without asking first.
func browseH2(t testing.TB, url string, o scenario.ClientOptions) (*client, context.Context) {
	t.Helper()
	o.Protocol = scenario.HTTP2
	return browse(t, url, o)
}
