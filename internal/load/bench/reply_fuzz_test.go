package bench

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// FuzzReply: the same bytes in any pieces give the same answer or a fault, within
// the limits, and net/http reads an accepted answer in the same way.
func FuzzReply(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;e=1\r\nde\r\n0\r\nT: x\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\nSet-Cookie: a=b; Path=/\r\n\r\n",
		"HTTP/1.0 200 OK\nConnection: keep-alive\n\nuntil the end",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n",
	} {
		f.Add([]byte(s), uint16(5), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint16, head bool) {
		const limit = 4096
		whole, parts := new(reply), new(reply)
		whole.reset(head, limit)
		parts.reset(head, limit)
		done1, err1 := feed(whole, data, len(data)+1)
		done2, err2 := feed(parts, data, int(piece%97)+1)
		if done1 != done2 || scenario.KindOf(err1) != scenario.KindOf(err2) {
			t.Fatalf("at once: %v %v; in pieces: %v %v", done1, err1, done2, err2)
		}
		if done1 == (err1 != nil) {
			t.Fatalf("done %v with %v", done1, err1)
		}
		if err1 != nil {
			if k := scenario.KindOf(err1); k != iikanji.FaultProtocol && k != iikanji.FaultClosed {
				t.Fatalf("fault of kind %v", k)
			}
			return
		}
		body := whole.buf[whole.body:whole.end]
		if !bytes.Equal(body, parts.buf[parts.body:parts.end]) || len(body) > limit {
			t.Fatalf("bodies differ, or %d bytes beyond the limit", len(body))
		}
		sameAsStdlib(t, data, head, whole.status, body)
	})
}

// sameAsStdlib compares an accepted answer with net/http's reading of it.
func sameAsStdlib(t *testing.T, data []byte, head bool, status int, body []byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(data))
	req := &http.Request{Method: "GET"}
	if head {
		req.Method = "HEAD"
	}
	res, err := http.ReadResponse(r, req)
	for err == nil && res.StatusCode < 200 {
		res, err = http.ReadResponse(r, req)
	}
	if err != nil {
		// net/http also rejects harmless answers: a reason phrase with odd bytes,
		// field values with control characters.
		return
	}
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	if res.StatusCode != status || !bytes.Equal(got, body) {
		t.Fatalf("status %d, body %.60q; net/http reads %d, %.60q", status, body, res.StatusCode, got)
	}
}
