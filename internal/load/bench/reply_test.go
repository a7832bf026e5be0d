package bench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// feed gives a reply its bytes in pieces and then the end of the stream.
func feed(p *reply, data []byte, piece int) (done bool, err error) {
	for len(data) > 0 {
		n := copy(p.room(), data[:min(piece, len(data))])
		data = data[n:]
		p.grow(n)
		if done, err = p.parse(); done || err != nil {
			if done && len(data) > 0 {
				// The next exchange would read the remaining bytes.
				return false, protocol("%d bytes after the end", len(data))
			}
			return done, err
		}
	}
	if err := p.eof(); err != nil {
		return false, err
	}
	return true, nil
}

func TestReplyGood(t *testing.T) {
	f := func(in string, status int, body string, keep bool) {
		t.Helper()
		for _, piece := range []int{1, 2, 3, 7, 64, 1 << 20} {
			var p reply
			p.reset(false, 1<<20)
			done, err := feed(&p, []byte(in), piece)
			if !done || err != nil {
				t.Errorf("%.60q in pieces of %d: done %v, %v", in, piece, done, err)
				continue
			}
			if got := string(p.buf[p.body:p.end]); p.status != status || got != body || p.keep != keep {
				t.Errorf("%.60q in pieces of %d: status %d body %.40q keep %v", in, piece, p.status, got, p.keep)
			}
			if p.wire != int64(len(in)) {
				t.Errorf("%.60q: %d bytes on the wire, want %d", in, p.wire, len(in))
			}
		}
	}
	f("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", true)
	f("HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc", 200, "abc", true)
	f("HTTP/1.1 200 \r\nContent-Length:3  \r\n\r\nabc", 200, "abc", true)
	f("HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", 200, "abc", true)
	f("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, "", true)
	f("HTTP/1.1 204 No Content\r\n\r\n", 204, "", true)
	f("HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n", 304, "", true)
	f("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false)
	f("HTTP/1.1 200 OK\r\nConnection: foo , CLOSE\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false)
	f("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false)
	f("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", 200, "ok", true)
	f("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end", false)
	f("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "x", true)
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=\"1\"\r\nde\r\n0\r\n\r\n", 200, "abcde", true)
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n00A \r\n0123456789\r\n0\r\nTrailer: yes\r\n\r\n", 200, "0123456789", true)
	big := strings.Repeat("0123456789abcdef", 4096)
	f("HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n"+big, 200, big, true)
	f("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n"+big+"\r\n0\r\n\r\n", 200, big, true)
}

func TestReplyBroken(t *testing.T) {
	tier.Slow(t)
	f := func(in string, kind iikanji.FaultKind) {
		t.Helper()
		for _, piece := range []int{1, 5, 1 << 20} {
			var p reply
			p.reset(false, 1000)
			done, err := feed(&p, []byte(in), piece)
			if done || scenario.KindOf(err) != kind {
				t.Errorf("%.70q in pieces of %d: done %v, %v; want %v", in, piece, done, err, kind)
			}
		}
	}
	const closed, bad = iikanji.FaultClosed, iikanji.FaultProtocol
	head := "HTTP/1.1 200 OK\r\n"
	f("HTTP/1.1 200 OK", closed)
	f(head+"A: b\r\n", closed)
	f(head+"Content-Length: 5\r\n\r\nabc", closed)
	f(head+"Transfer-Encoding: chunked\r\n\r\n5\r\nabc", closed)
	f(head+"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", closed)
	f(head+"Transfer-Encoding: chunked\r\n\r\n0\r\n", closed)
	f("SSH-2.0-OpenSSH_9.2\r\n", bad)
	f("\x16\x03\x01\x02\x00", bad)
	f("<html>no header at all</html>", bad)
	f("HTTP/2 200 OK\r\n\r\n", bad)
	f("HTTP/1.2 200 OK\r\n\r\n", bad)
	f("HTTP/1.1 20 OK\r\n\r\n", bad)
	f("HTTP/1.1 2000 OK\r\n\r\n", bad)
	f("HTTP/1.1 099 OK\r\n\r\n", bad)
	f("HTTP/1.1 600 OK\r\n\r\n", bad)
	f("HTTP/1.1 2x0 OK\r\n\r\n", bad)
	f("HTTP/1.1  200 OK\r\n\r\n", bad)
	f("HTTP/1.1 101 Switching Protocols\r\n\r\n", bad)
	f(strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxInterim+1), bad)
	f(head+"no colon\r\n\r\n", bad)
	f(head+": empty name\r\n\r\n", bad)
	f(head+"Space : before colon\r\n\r\n", bad)
	f(head+"A: b\r\n folded: line\r\n\r\n", bad)
	f(head+"N\x00ul: x\r\n\r\n", bad)
	f(head+"A: x\x00y\r\n\r\n", bad)
	f(head+"A: x\rSet-Cookie: injected=1\r\n\r\n", bad)
	f("HTTP/1.1 200 O\rK\r\n\r\n", bad)
	f(head+"Content-Length: -1\r\n\r\n", bad)
	f(head+"Content-Length: +1\r\n\r\na", bad)
	f(head+"Content-Length:\r\n\r\n", bad)
	f(head+"Content-Length: 0x10\r\n\r\n", bad)
	f(head+"Content-Length: 1, 1\r\n\r\na", bad)
	f(head+"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", bad)
	f(head+"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", bad)
	f(head+"Content-Length: 99999999999999999999999\r\n\r\n", bad)
	f(head+"Content-Length: 1001\r\n\r\n", bad)
	f(head+"Content-Length: 2\r\n\r\nabc", bad)
	f("HTTP/1.1 204 No Content\r\n\r\nbody", bad)
	f(head+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", bad)
	f(head+"Transfer-Encoding: gzip, chunked\r\n\r\n", bad)
	f(head+"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", bad)
	f("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad)
	chunked := head + "Transfer-Encoding: chunked\r\n\r\n"
	f(chunked+"\r\n", bad)
	f(chunked+"-1\r\n", bad)
	f(chunked+"xyz\r\n", bad)
	f(chunked+"3x\r\nabc\r\n", bad)
	f(chunked+"3\nabc\r\n0\r\n\r\n", bad)
	f(chunked+"3\r\nabcd\r\n0\r\n\r\n", bad)
	f(chunked+"3\r\nabc\n0\r\n\r\n", bad)
	f(chunked+"ffffffffffffffffffffffff\r\n", bad)
	f(chunked+"8000000000000000\r\n", bad)
	f(chunked+"3e9\r\n", bad)
	f(chunked+"3e8\r\n"+strings.Repeat("x", 1000)+"\r\n1\r\ny\r\n0\r\n\r\n", bad)
	f(chunked+"3;"+strings.Repeat("e", maxChunkLine)+"\r\nabc\r\n0\r\n\r\n", bad)
	f(chunked+"0\r\n"+strings.Repeat("T: x\r\n", maxHead/6+1)+"\r\n", bad)
	f(chunked+"0\r\nnot a trailer\r\n\r\n", bad)
	f(head+strings.Repeat("A: b\r\n", maxFields+1)+"\r\n", bad)
	f(head+"A: "+strings.Repeat("b", maxHead), bad)
	f(head+"\r\n"+strings.Repeat("x", 1001), bad)
}

// TestReplyMemory: an announced length and framing without content use no memory.
func TestReplyMemory(t *testing.T) {
	var p reply
	p.reset(false, 1<<30)
	if done, err := feed(&p, []byte("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nabc"), 1<<20); done || err == nil {
		t.Fatal("taken for a whole answer")
	}
	if cap(p.buf) > 64<<10 {
		t.Errorf("a buffer of %d bytes for an announced length", cap(p.buf))
	}
	p.reset(false, 1<<20)
	in := bytes.NewBufferString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for range 5000 {
		fmt.Fprintf(in, "1;%s\r\nx\r\n", strings.Repeat("e", 3000))
	}
	in.WriteString("0\r\n\r\n")
	for _, piece := range []int{999, 4096, 1 << 20} {
		p.reset(false, 1<<20)
		done, err := feed(&p, in.Bytes(), piece)
		if !done || err != nil || p.end-p.body != 5000 {
			t.Fatalf("done %v, %v, %d bytes", done, err, p.end-p.body)
		}
		if cap(p.buf) > 64<<10 {
			t.Errorf("a buffer of %d bytes for a body of 5000", cap(p.buf))
		}
	}
}
