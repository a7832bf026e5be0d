package bench

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestH2Allocs: a GET and a POST over HTTP/2 allocate nothing once the connection
// knows their fields.
func TestH2Allocs(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 64)
	url, _ := h2Server(t, func(p *h2peer) {
		// The server shares the process: it must not allocate either.
		head := encodeFields(":status: 200", "server: test", "date: Sat, 28 Nov 2026 04:37:12 GMT", "content-type: text/plain", "content-length: 1024")
		out := h2.AppendHeader(nil, len(head), h2.Headers, h2.FlagEndHeaders, 0)
		out = append(out, head...)
		second := len(out)
		out = append(h2.AppendHeader(out, len(body), h2.Data, h2.FlagEndStream, 0), body...)
		in := make([]byte, 1<<16)
		for {
			if _, err := p.r.Peek(h2.HeaderSize); err != nil {
				return
			}
			n, _ := p.r.Read(in)
			for b := in[:n]; len(b) >= h2.HeaderSize; {
				h := h2.ParseHeader(b)
				b = b[min(h2.HeaderSize+h.Length, len(b)):]
				if h.Has(h2.FlagEndStream) && h.Type <= h2.Headers {
					copy(out[5:], in[n-len(b)-h2.HeaderSize-h.Length+5:][:4])
					copy(out[second+5:], out[5:9])
					if _, err := p.Write(out); err != nil {
						return
					}
				}
			}
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{Gzip: true, UserAgent: "browser"})
	b.SetCookie("session", "0123456789abcdef")
	for _, req := range []scenario.Request{
		{Path: "/file?x=1", Header: []scenario.Field{{Name: "Accept", Value: "*/*"}}},
		{Method: "POST", Path: "/x", ContentType: "application/json", Body: []byte(`{"a":1}`)},
	} {
		once := func() {
			res, err := b.Do(ctx, &req)
			if err != nil || scenario.WantStatus(res, 200) != nil || string(res.Body) != body {
				t.Fatalf("%v", err)
			}
			res.Release()
		}
		once()
		if n := testing.AllocsPerRun(2000, once); n != 0 && !raceOn {
			t.Errorf("%s: %v allocations per request, want 0", req.Path, n)
		}
	}
}

// TestH2NoStream: a request to a target that allows no stream any more ends with its time, and the
// connection is used again when there are streams.
func TestH2NoStream(t *testing.T) {
	none, again := make(chan struct{}), make(chan struct{})
	url, accepted := h2Server(t, func(p *h2peer) {
		id, _, _ := p.next()
		p.answer(id, "x")
		n := p.sets + 1
		p.settings(h2.Setting{ID: h2.MaxConcurrentStreams, Value: 0})
		p.until(func() bool { return p.sets == n })
		close(none)
		<-again
		p.settings(h2.Setting{ID: h2.MaxConcurrentStreams, Value: 1})
		for id, _, ok := p.next(); ok; id, _, ok = p.next() {
			p.answer(id, "x")
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "x")
	<-none
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			wantFault(t, ctx, b, &scenario.Request{Path: "/", Timeout: 100 * time.Millisecond}, iikanji.FaultTimeout)
		})
	}
	wg.Wait()
	close(again)
	for range 3 {
		want(t, ctx, b, "/", "x")
	}
	if n := accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// TestH2Overrun: a target that sends more of a stream than was allowed while nobody reads it loses
// the stream, not the connection.
func TestH2Overrun(t *testing.T) {
	told := make(chan h2.Code, 1)
	url, accepted := h2Server(t, func(p *h2peer) {
		id, _, _ := p.next()
		p.headers(id, false, ":status: 200")
		for range h2StreamWindow/h2.MinMaxFrame + 1 {
			p.data(id, false, strings.Repeat("x", h2.MinMaxFrame))
		}
		for h, payload, ok := p.frame(); ok; h, payload, ok = p.frame() {
			if h.Type == h2.ResetStream && h.Stream == id {
				told <- h2.Code(binary.BigEndian.Uint32(payload))
				break
			}
		}
		for id, _, ok := p.next(); ok; id, _, ok = p.next() {
			p.answer(id, "x")
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	st, err := b.Open(ctx, &scenario.Request{Method: "POST", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if code := <-told; code != h2.FlowControlError {
		t.Errorf("the stream was reset with %v, want %v", code, h2.FlowControlError)
	}
	for buf := make([]byte, 1<<20); err == nil; {
		_, err = st.Read(buf)
	}
	if scenario.KindOf(err) != iikanji.FaultProtocol {
		t.Errorf("%v, want a fault of kind %v", err, iikanji.FaultProtocol)
	}
	want(t, ctx, b, "/", "x")
	if n := accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// FuzzH2Frames lets a connection with three requests in flight read what a target
// sends, in two pieces. The memory keeps its bounds, and each request ends at most
// once.
func FuzzH2Frames(f *testing.F) {
	settings := string(h2.AppendSettings(nil, h2.Setting{ID: h2.InitialWindowSize, Value: 10}))
	frame := func(kind h2.FrameType, flags uint8, id uint32, payload string) string {
		return string(h2.AppendHeader(nil, len(payload), kind, flags, id)) + payload
	}
	f.Add([]byte(settings+frame(h2.Headers, h2.FlagEndHeaders, 1, "\x88")+frame(h2.Data, h2.FlagEndStream, 1, "body")), 20)
	f.Add([]byte(settings+frame(h2.Headers, 0, 3, "\x88")+frame(h2.Continuation, h2.FlagEndHeaders, 3, "\x40\x01a\x01b")+frame(h2.Headers, h2.FlagEndHeaders|h2.FlagEndStream, 3, "\xbe")), 30)
	f.Add([]byte(settings+frame(h2.WindowUpdate, 0, 0, "\x00\x01\x00\x00")+frame(h2.WindowUpdate, 0, 5, "\x00\x01\x00\x00")+frame(h2.ResetStream, 0, 5, "\x00\x00\x00\x07")), 5)
	f.Add([]byte(settings+frame(h2.GoAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00")+frame(h2.Ping, 0, 0, "12345678")), 9)
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 4)
	f.Add([]byte(settings+frame(h2.Headers, h2.FlagEndHeaders|h2.FlagPadded|h2.FlagPriority, 1, "\x01\x00\x00\x00\x00\x00\x89\x00")+frame(h2.Data, h2.FlagPadded, 1, "\x02ab\x00\x00")), 40)
	f.Fuzz(func(t *testing.T, sent []byte, cut int) {
		s, ctx := session1(t, "http://127.0.0.1:1")
		c := s.NewClient(scenario.ClientOptions{Protocol: scenario.HTTP2, MaxBody: 1 << 16}).(*client)
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		cc := newH2conn(c, &wire{nc: here})
		cc.writing = true // nothing is written
		var all []*response
		for i := range 3 {
			k := call{ctx: ctx, method: "POST", res: new(response), r: &scenario.Request{Path: "/", Body: bytes.Repeat([]byte("x"), 40_000*i)}}
			k.res.reply.reset(false, c.maxBody)
			k.res.h2.reset(k.res, 0, int64(patience))
			k.res.h2.body, k.res.h2.lastPart = k.r.Body, true
			if err := cc.start(&k, &k.res.h2, false); err != nil {
				t.Fatal(err)
			}
			all = append(all, k.res)
		}
		first := len(cc.out)
		cc.in = new(h2input)
		cut = min(max(cut, 0), len(sent))
		for _, part := range [][]byte{sent[:cut], sent[cut:]} {
			for len(part) > 0 {
				n := copy(cc.in.buf[cc.in.end:], part)
				part = part[n:]
				cc.in.end += n
				if err := cc.receive(); err != nil {
					cc.fail(err)
					part = nil
				}
				if cc.in.end > h2.HeaderSize+h2.MinMaxFrame {
					t.Fatalf("%d bytes are kept", cc.in.end)
				}
			}
		}
		if limit := first + 2*80_000 + 4*len(sent) + 64; len(cc.out) > limit {
			t.Errorf("%d bytes to send, at most %d expected", len(cc.out), limit)
		}
		for _, r := range all {
			if len(r.h2.done) > 1 || r.h2.over != (len(r.h2.done) == 1) {
				t.Errorf("stream %d: over %v, woken %d times", r.h2.id, r.h2.over, len(r.h2.done))
			}
			if n := r.reply.end - r.reply.body; n > c.maxBody+h2.MinMaxFrame {
				t.Errorf("a body of %d bytes", n)
			}
		}
		cc.alarm.Stop()
	})
}
