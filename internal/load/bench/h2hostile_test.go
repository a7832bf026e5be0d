package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// An h2fault is what a hostile target does with a request on a stream.
type h2fault struct {
	name string
	do   func(p *h2peer, id uint32)
	kind iikanji.FaultKind
	then h2then
}

// An h2then is what the target does after a fault.
type h2then int

const (
	holds   h2then = iota // waits for the end of the connection
	hangsUp               // closes the connection
	stays                 // goes on: only the stream is lost
)

// repeat calls f until the connection breaks.
func (p *h2peer) repeat(f func() error) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if f() != nil {
			return
		}
	}
}

// h2Faults are faults of frames and of answers.
func h2Faults() []h2fault {
	const proto, closed, timeout = iikanji.FaultProtocol, iikanji.FaultClosed, iikanji.FaultTimeout
	raw := func(kind h2.FrameType, flags uint8, stream int64, payload string) func(p *h2peer, id uint32) {
		return func(p *h2peer, id uint32) {
			if stream >= 0 {
				id = uint32(stream)
			}
			p.raw(kind, flags, id, payload)
		}
	}
	head := func(fields ...string) func(p *h2peer, id uint32) {
		return func(p *h2peer, id uint32) { p.headers(id, true, fields...) }
	}
	body := func(text string, fields ...string) func(p *h2peer, id uint32) {
		return func(p *h2peer, id uint32) {
			p.headers(id, false, append([]string{":status: 200"}, fields...)...)
			p.data(id, true, text)
		}
	}
	const own = -1
	return []h2fault{
		// The connection.
		{"silence", func(p *h2peer, id uint32) {}, timeout, holds},
		{"closed without an answer", func(p *h2peer, id uint32) {}, closed, hangsUp},
		{"closed within the answer", func(p *h2peer, id uint32) { p.headers(id, false, ":status: 200"); p.data(id, false, "a") }, closed, hangsUp},
		{"garbage", func(p *h2peer, id uint32) { p.say(strings.Repeat("\xff", 100)) }, proto, holds},
		{"garbage without end", func(p *h2peer, id uint32) { flood(p.rawConn, strings.Repeat("\xff", 4096)) }, proto, holds},
		{"a frame that is too large", raw(h2.Data, 0, own, strings.Repeat("x", 16385)), proto, holds},
		{"DATA of stream 0", raw(h2.Data, 0, 0, "x"), proto, holds},
		{"DATA of a stream that was not opened", raw(h2.Data, 0, 99, "x"), proto, holds},
		{"DATA of a stream of the target", raw(h2.Data, 0, 2, "x"), proto, holds},
		{"DATA with too much padding", raw(h2.Data, h2.FlagPadded, own, "\x05abc"), proto, holds},
		{"DATA without its padding", raw(h2.Data, h2.FlagPadded, own, ""), proto, holds},
		{"HEADERS of a stream that was not opened", raw(h2.Headers, h2.FlagEndHeaders, 99, "\x88"), proto, holds},
		{"HEADERS with too much padding", raw(h2.Headers, h2.FlagEndHeaders|h2.FlagPadded, own, "\x05\x88"), proto, holds},
		{"HEADERS without its priority", raw(h2.Headers, h2.FlagEndHeaders|h2.FlagPriority, own, "\x88"), proto, holds},
		{"a block that is no HPACK", raw(h2.Headers, h2.FlagEndHeaders, own, "\xff\xff\xff\xff\xff\xff"), proto, holds},
		{"CONTINUATION without HEADERS", raw(h2.Continuation, h2.FlagEndHeaders, own, "\x88"), proto, holds},
		{"another frame within a block", func(p *h2peer, id uint32) {
			p.raw(h2.Headers, 0, id, "\x88")
			p.raw(h2.Ping, 0, 0, "12345678")
		}, proto, holds},
		{"CONTINUATION of another stream", func(p *h2peer, id uint32) {
			p.raw(h2.Headers, 0, id, "\x88")
			p.raw(h2.Continuation, h2.FlagEndHeaders, id+2, "")
		}, proto, holds},
		{"endless CONTINUATION", func(p *h2peer, id uint32) {
			p.raw(h2.Headers, 0, id, "\x88")
			p.repeat(func() error { return p.send(h2.Continuation, 0, id, "\x40\x01a\x01b") })
		}, proto, holds},
		{"endless empty CONTINUATION", func(p *h2peer, id uint32) {
			p.raw(h2.Headers, 0, id, "\x88")
			p.repeat(func() error { return p.send(h2.Continuation, 0, id, "") })
		}, proto, holds},
		{"a block cut in two and then silence", func(p *h2peer, id uint32) { p.raw(h2.Headers, 0, id, "\x88") }, timeout, holds},
		{"PUSH_PROMISE", raw(h2.PushPromise, h2.FlagEndHeaders, own, "\x00\x00\x00\x02\x82"), proto, holds},
		{"PRIORITY of 4 bytes", raw(h2.Priority, 0, own, "abcd"), proto, holds},
		{"RST_STREAM of 3 bytes", raw(h2.ResetStream, 0, own, "abc"), proto, holds},
		{"RST_STREAM of a stream that was not opened", raw(h2.ResetStream, 0, 99, "abcd"), proto, holds},
		{"SETTINGS of 5 bytes", raw(h2.Settings, 0, 0, "abcde"), proto, holds},
		{"SETTINGS of a stream", raw(h2.Settings, 0, own, ""), proto, holds},
		{"acknowledged SETTINGS with bytes", raw(h2.Settings, h2.FlagAck, 0, "\x00\x04\x00\x00\x00\x00"), proto, holds},
		{"SETTINGS that allow to push", raw(h2.Settings, 0, 0, "\x00\x02\x00\x00\x00\x01"), proto, holds},
		{"SETTINGS with too large a window", raw(h2.Settings, 0, 0, "\x00\x04\x80\x00\x00\x00"), proto, holds},
		{"SETTINGS with too small a frame", raw(h2.Settings, 0, 0, "\x00\x05\x00\x00\x00\x01"), proto, holds},
		{"endless SETTINGS", func(p *h2peer, id uint32) { p.repeat(func() error { return p.send(h2.Settings, 0, 0, "") }) }, proto, holds},
		{"endless SETTINGS from a target that does not read", func(p *h2peer, id uint32) {
			p.repeat(func() error { return p.send(h2.Settings, 0, 0, "") })
		}, proto, holds},
		{"PING of 7 bytes", raw(h2.Ping, 0, 0, "1234567"), proto, holds},
		{"PING of a stream", raw(h2.Ping, 0, own, "12345678"), proto, holds},
		{"endless PING", func(p *h2peer, id uint32) { p.repeat(func() error { return p.send(h2.Ping, 0, 0, "12345678") }) }, proto, holds},
		{"endless empty DATA", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			p.repeat(func() error { return p.send(h2.Data, 0, id, "") })
		}, proto, holds},
		{"endless unknown frames", func(p *h2peer, id uint32) {
			p.repeat(func() error { return p.send(0x77, 0, id, "what is it") })
		}, proto, holds},
		{"GOAWAY of 4 bytes", raw(h2.GoAway, 0, 0, "abcd"), proto, holds},
		{"GOAWAY of a stream", raw(h2.GoAway, 0, own, "\x7f\xff\xff\xff\x00\x00\x00\x00"), proto, holds},
		{"GOAWAY that takes streams back", func(p *h2peer, id uint32) {
			p.goAway(id, h2.NoError)
			p.goAway(id+2, h2.NoError)
		}, proto, holds},
		{"GOAWAY and the end", func(p *h2peer, id uint32) { p.goAway(id, h2.InternalError) }, closed, hangsUp},
		{"GOAWAY before each request", func(p *h2peer, id uint32) { p.goAway(0, h2.NoError) }, closed, holds},
		{"WINDOW_UPDATE of 3 bytes", raw(h2.WindowUpdate, 0, 0, "abc"), proto, holds},
		{"WINDOW_UPDATE by 0", raw(h2.WindowUpdate, 0, 0, "\x00\x00\x00\x00"), proto, holds},
		{"WINDOW_UPDATE beyond the end", raw(h2.WindowUpdate, 0, 0, "\x7f\xff\xff\xff"), proto, holds},
		{"WINDOW_UPDATE of a stream that was not opened", raw(h2.WindowUpdate, 0, 99, "\x00\x00\x00\x01"), proto, holds},
		// The stream.
		{"WINDOW_UPDATE of the stream by 0", raw(h2.WindowUpdate, 0, own, "\x00\x00\x00\x00"), proto, stays},
		{"WINDOW_UPDATE of the stream beyond the end", raw(h2.WindowUpdate, 0, own, "\x7f\xff\xff\xff"), proto, stays},
		{"RST_STREAM", raw(h2.ResetStream, 0, own, "\x00\x00\x00\x02"), closed, stays},
		{"RST_STREAM of an unknown code", raw(h2.ResetStream, 0, own, "\x00\x00\xff\xff"), closed, stays},
		{"refused each time", raw(h2.ResetStream, 0, own, "\x00\x00\x00\x07"), closed, stays},
		{"RST_STREAM within the answer", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			p.data(id, false, "abc")
			p.resetStream(id, h2.InternalError)
		}, closed, stays},
		{"no status", head("content-type: text/plain"), proto, stays},
		{"an empty header", head(), proto, stays},
		{"a status of words", head(":status: abc"), proto, stays},
		{"status 99", head(":status: 099"), proto, stays},
		{"status 600", head(":status: 600"), proto, stays},
		{"two statuses", head(":status: 200", ":status: 200"), proto, stays},
		{"a status behind fields", head("a: b", ":status: 200"), proto, stays},
		{"a pseudo-header of requests", head(":status: 200", ":path: /"), proto, stays},
		{"a name in capitals", head(":status: 200", "Content-Type: text/plain"), proto, stays},
		{"a name with a space", head(":status: 200", "a b: c"), proto, stays},
		{"an empty name", head(":status: 200", ": c"), proto, stays},
		{"a field of the connection", head(":status: 200", "connection: close"), proto, stays},
		{"transfer-encoding", head(":status: 200", "transfer-encoding: chunked"), proto, stays},
		{"a line end in a field", head(":status: 200", "a: b\r\nset-cookie: admin=1"), proto, stays},
		{"NUL in a field", head(":status: 200", "a: b\x00c"), proto, stays},
		{"too many fields", func(p *h2peer, id uint32) {
			fields := []string{":status: 200"}
			for range maxFields + 1 {
				fields = append(fields, "a: b")
			}
			p.headers(id, true, fields...)
		}, proto, stays},
		{"a header of megabytes from a small block", func(p *h2peer, id uint32) {
			// One field of 3900 bytes that is kept, and four hundred times its index.
			block := "\x88\x40\x01a\x7f\xbd\x1d" + strings.Repeat("b", 3900)
			p.raw(h2.Headers, h2.FlagEndHeaders|h2.FlagEndStream, id, block+strings.Repeat("\xbe", 400))
		}, proto, stays},
		{"an interim answer that ends the stream", head(":status: 103"), proto, stays},
		{"status 101", func(p *h2peer, id uint32) { p.headers(id, false, ":status: 101") }, proto, stays},
		{"many interim answers", func(p *h2peer, id uint32) {
			for range maxInterim + 1 {
				p.headers(id, false, ":status: 103")
			}
		}, proto, stays},
		{"DATA before the header", func(p *h2peer, id uint32) { p.data(id, true, "x") }, proto, stays},
		{"two headers", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			p.headers(id, false, ":status: 200")
		}, proto, stays},
		{"a status in the trailers", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			p.headers(id, true, ":status: 200")
		}, proto, stays},
		{"a body that is too short", body("ab", "content-length: 3"), proto, stays},
		{"a body that is too long", body("abcd", "content-length: 3"), proto, stays},
		{"no body, but a length", head(":status: 200", "content-length: 3"), proto, stays},
		{"a length that is none", body("abc", "content-length: -3"), proto, stays},
		{"two lengths", body("abc", "content-length: 3", "content-length: 3"), proto, stays},
		{"a length of petabytes", body("abc", "content-length: 9007199254740993"), proto, stays},
		{"a body without end", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			for range 80 { // the browser stops it at 64
				p.data(id, false, strings.Repeat("x", 16384))
			}
		}, proto, stays},
		{"status 204 with a body", func(p *h2peer, id uint32) { p.headers(id, false, ":status: 204"); p.data(id, true, "x") }, proto, stays},
		{"gzip bomb", body(bomb(8<<20), "content-encoding: gzip"), proto, stays},
		{"gzip that is none", body("plain", "content-encoding: gzip"), iikanji.FaultBody, stays},
		{"dripping body", func(p *h2peer, id uint32) {
			p.headers(id, false, ":status: 200")
			for end := time.Now().Add(p.most); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				if p.send(h2.Data, 0, id, "x") != nil {
					return
				}
			}
		}, timeout, stays},
	}
}

// TestH2Hostile connects a browser over HTTP/2 to a target that misbehaves. The
// fault must have the right kind and come within the request's timeout; the browser
// must work afterwards, on the same connection where only the stream was lost.
func TestH2Hostile(t *testing.T) {
	for _, c := range h2Faults() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.kind != iikanji.FaultTimeout {
				if err := c.meet(t, patience); err != nil {
					t.Error(err)
				}
				return
			}
			slower(t, 800*time.Millisecond, func(d time.Duration) error { return c.meet(t, d) })
		})
	}
}

// meet connects a browser to the target, with a timeout of the request that has the fault. The
// error is that a connection was given up of which only the stream was lost: a busy machine may
// take a target that drips for a silent one.
func (c *h2fault) meet(t *testing.T, timeout time.Duration) error {
	url, accepted := h2Server(t, func(p *h2peer) {
		for {
			id, path, ok := p.next()
			switch {
			case !ok:
				return
			case path == "/fine":
				p.answer(id, "fine")
				continue
			}
			p.most = 4 * timeout
			switch c.do(p, id); c.then {
			case hangsUp:
				return
			case holds:
				p.hold()
				return
			}
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{Gzip: true, MaxBody: 1 << 20})
	wantFaultBetween(t, ctx, b, timeout, c.kind)
	if n := accepted.Load(); c.then == stays && n != 1 {
		return fmt.Errorf("%d connections, although only the stream was lost", n)
	}
	return nil
}
