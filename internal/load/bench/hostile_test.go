package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

func bomb(size int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		z.Write(zeros)
	}
	z.Close()
	return b.String()
}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

// flood writes a piece until the connection breaks.
func flood(c *rawConn, piece string) {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if _, err := c.Write([]byte(piece)); err != nil {
			return
		}
	}
}

// drip writes byte by byte.
func drip(c *rawConn, s string, pause time.Duration) {
	for i := range s {
		if _, err := c.Write([]byte(s[i : i+1])); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// TestHostile connects a browser to a real socket that misbehaves. The fault must
// have the right kind and come within the request's timeout, and the browser must
// still work afterwards.
func TestHostile(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	say := func(s string) func(c *rawConn) { return func(c *rawConn) { c.say(s); c.hold() } }
	hangUp := func(s string) func(c *rawConn) { return func(c *rawConn) { c.say(s) } }
	reset := func(s string) func(c *rawConn) {
		return func(c *rawConn) {
			c.say(s)
			c.Conn.(*net.TCPConn).SetLinger(0) // RST instead of FIN
		}
	}
	squeezed := bomb(8 << 20)
	packed := gzipped("a body that is worth packing, packing, packing")
	for _, c := range []struct {
		name string
		do   func(c *rawConn)
		kind iikanji.FaultKind
	}{
		{"silence", say(""), iikanji.FaultTimeout},
		{"closed at once", hangUp(""), iikanji.FaultClosed},
		{"reset at once", reset(""), iikanji.FaultClosed},
		{"closed within the status line", hangUp("HTTP/1.1 2"), iikanji.FaultClosed},
		{"closed within the header", hangUp(head + "A: b\r\n"), iikanji.FaultClosed},
		{"closed within the body", hangUp(head + "Content-Length: 100\r\n\r\nabc"), iikanji.FaultClosed},
		{"reset within the body", reset(head + "Content-Length: 100\r\n\r\nabc"), iikanji.FaultClosed},
		{"closed within a chunk", hangUp(head + "Transfer-Encoding: chunked\r\n\r\n64\r\nabc"), iikanji.FaultClosed},
		{"length too long, then silence", say(head + "Content-Length: 100\r\n\r\nabc"), iikanji.FaultTimeout},
		{"length too short", say(head + "Content-Length: 2\r\n\r\nabc"), iikanji.FaultProtocol},
		{"negative length", say(head + "Content-Length: -5\r\n\r\n"), iikanji.FaultProtocol},
		{"two lengths", say(head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), iikanji.FaultProtocol},
		{"length of petabytes", say(head + "Content-Length: 9007199254740993\r\n\r\nabc"), iikanji.FaultProtocol},
		{"bad chunk size", say(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"), iikanji.FaultProtocol},
		{"overflowing chunk size", say(head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nabc\r\n"), iikanji.FaultProtocol},
		{"garbage", say("\x00\xff\xfe garbage"), iikanji.FaultProtocol},
		{"another protocol", say("220 mail.example ESMTP\r\n"), iikanji.FaultProtocol},
		{"garbage without end", func(c *rawConn) { flood(c, strings.Repeat("x", 4096)) }, iikanji.FaultProtocol},
		{"endless header line", func(c *rawConn) { c.say(head + "A: "); flood(c, strings.Repeat("x", 4096)) }, iikanji.FaultProtocol},
		{"endless header lines", func(c *rawConn) { c.say(head); flood(c, strings.Repeat("A: b\r\n", 100)) }, iikanji.FaultProtocol},
		{"endless interim answers", func(c *rawConn) { flood(c, "HTTP/1.1 103 Early Hints\r\n\r\n") }, iikanji.FaultProtocol},
		{"endless body", func(c *rawConn) { c.say(head + "\r\n"); flood(c, strings.Repeat("x", 65536)) }, iikanji.FaultProtocol},
		{"endless chunks", func(c *rawConn) {
			c.say(head + "Transfer-Encoding: chunked\r\n\r\n")
			flood(c, "1000\r\n"+strings.Repeat("x", 4096)+"\r\n")
		}, iikanji.FaultProtocol},
		{"endless chunk extension", func(c *rawConn) {
			c.say(head + "Transfer-Encoding: chunked\r\n\r\n1;")
			flood(c, strings.Repeat("e", 4096))
		}, iikanji.FaultProtocol},
		{"endless trailer", func(c *rawConn) {
			c.say(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n")
			flood(c, strings.Repeat("T: x\r\n", 100))
		}, iikanji.FaultProtocol},
		{"dripping header", func(c *rawConn) { drip(c, head+strings.Repeat("A: b\r\n", 100), 10*time.Millisecond) }, iikanji.FaultTimeout},
		{"dripping body", func(c *rawConn) {
			drip(c, head+"Content-Length: 500\r\n\r\n"+strings.Repeat("x", 500), 5*time.Millisecond)
		}, iikanji.FaultTimeout},
		{"header injection", say(head + "Location: /x\rSet-Cookie: admin=1\r\nContent-Length: 0\r\n\r\n"), iikanji.FaultProtocol},
		{"NUL in a header", say(head + "X: a\x00b\r\nContent-Length: 0\r\n\r\n"), iikanji.FaultProtocol},
		{"gzip bomb", say(ok(squeezed, "Content-Encoding: gzip")), iikanji.FaultProtocol},
		{"gzip that is none", say(ok("plain text", "Content-Encoding: gzip")), iikanji.FaultBody},
		{"gzip cut short", say(ok(packed[:len(packed)-9], "Content-Encoding: gzip")), iikanji.FaultBody},
		{"gzip with a wrong sum", say(ok(packed[:len(packed)-8]+"12345678", "Content-Encoding: gzip")), iikanji.FaultBody},
		{"a coding not asked for", say(ok("?", "Content-Encoding: br")), iikanji.FaultBody},
		{"switching protocols", say("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"), iikanji.FaultProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, _ := rawServer(t, func(conn *rawConn) {
				for {
					req, more := conn.next()
					if !more {
						return
					}
					if req.URL.Path == "/fine" {
						conn.say(ok("fine"))
						continue
					}
					c.do(conn)
					return
				}
			})
			timeout := patience // a fault that is no timeout may come as late as the machine likes
			if c.kind == iikanji.FaultTimeout {
				timeout = 800 * time.Millisecond
			}
			b, ctx := browse(t, url, scenario.ClientOptions{Gzip: true, MaxBody: 1 << 20, MaxConns: 1})
			wantFaultBetween(t, ctx, b, timeout, c.kind)
		})
	}
}

// wantFaultBetween expects a fault of the request for /bad, and right answers before and after it.
func wantFaultBetween(t testing.TB, ctx context.Context, b scenario.Client, timeout time.Duration, kind iikanji.FaultKind) {
	t.Helper()
	want(t, ctx, b, "/fine", "fine")
	began := time.Now()
	// A POST, which is not sent twice.
	wantFault(t, ctx, b, &scenario.Request{Method: "POST", Path: "/bad", Timeout: timeout}, kind)
	if took := time.Since(began); took > patience/2 {
		t.Errorf("the fault took %v", took)
	}
	want(t, ctx, b, "/fine", "fine")
}

// hold keeps the connection open until the browser closes it.
func (c *rawConn) hold() {
	_ = c.SetReadDeadline(time.Now().Add(2 * patience))
	_, _ = c.r.ReadByte() // any end will do
}

// TestHostileDial: nothing listens on the port; the host has no address.
func TestHostileDial(t *testing.T) {
	gone := "http://" + servertest.FreeAddress(t)
	b, ctx := browse(t, gone, scenario.ClientOptions{})
	f := wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultDial)
	if f.Message != "connection refused" {
		t.Errorf("message %q", f.Message)
	}
	if n := b.s.dials.faults.Load(); n != 1 {
		t.Errorf("%d dial faults counted, want 1", n)
	}
	b, ctx = browse(t, "http://no-such-host.invalid", scenario.ClientOptions{})
	wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultDial)
}

// TestHostileBacklog: a target that listens but does not accept connections gives
// a timeout, as in a browser, not a refusal.
func TestHostileBacklog(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + itoa(name.(*unix.SockaddrInet4).Port)
	for full := false; !full; { // fill the queue, until a connection hangs
		c, err := net.DialTimeout("tcp", addr, 200*time.Millisecond)
		if full = err != nil; !full {
			defer c.Close()
		}
	}
	b, ctx := browse(t, "http://"+addr, scenario.ClientOptions{Timeout: 300 * time.Millisecond})
	f := wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultTimeout)
	if !strings.Contains(f.Message, "connection") {
		t.Errorf("message %q", f.Message)
	}
}

// TestHostileReader: a target that never reads a large body.
func TestHostileReader(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	url, _ := rawServer(t, func(c *rawConn) { <-done })
	b, ctx := browse(t, url, scenario.ClientOptions{Timeout: 300 * time.Millisecond})
	wantFault(t, ctx, b, &scenario.Request{Method: "POST", Path: "/", Body: make([]byte, 64<<20)}, iikanji.FaultTimeout)
}

// TestHostileTLS: a plain server where TLS is expected.
func TestHostileTLS(t *testing.T) {
	url, _ := rawServer(t, func(c *rawConn) { c.say(ok("plain")); c.hold() })
	b, ctx := browse(t, strings.Replace(url, "http://", "https://", 1), scenario.ClientOptions{})
	wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultDial)
}

// TestRefusedRequests: parts of a request may come from a hostile answer and must
// not be able to add lines to the request.
func TestRefusedRequests(t *testing.T) {
	url, accepted := rawServer(t, func(c *rawConn) { c.say(ok("")) })
	b, ctx := browse(t, url, scenario.ClientOptions{})
	for _, r := range []scenario.Request{
		{Path: ""}, {Path: "no/slash"}, {Path: "/a b"}, {Path: "/a\r\nX: y"}, {Path: "/é"}, {Path: "/\x00"},
		{Path: "/", Method: "GET /other HTTP/1.1\r\nX:"},
		{Path: "/", Header: []scenario.Field{{Name: "X", Value: "a\r\nY: b"}}},
		{Path: "/", Header: []scenario.Field{{Name: "X: y\r\nZ", Value: "a"}}},
		{Path: "/", Header: []scenario.Field{{Name: "", Value: "a"}}},
		{Path: "/", Header: []scenario.Field{{Name: "hOST", Value: "elsewhere"}}},
		{Path: "/", Header: []scenario.Field{{Name: "Content-Length", Value: "0"}}},
		{Path: "/", Method: "POST", ContentType: "a\r\nb"},
	} {
		wantFault(t, ctx, b, &r, iikanji.FaultProtocol)
	}
	if n := accepted.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	if c, _ := browse(t, url, scenario.ClientOptions{BaseURL: "ftp://x"}); c.baseErr == nil {
		t.Error("ftp:// was taken for a base URL")
	}
}
