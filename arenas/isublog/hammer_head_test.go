package isublog

import "testing"

// FuzzParseHead: no answer of a target breaks the load, and its numbers are not
// negative.
func FuzzParseHead(f *testing.F) {
	for _, head := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.0 404\r\n\r\n", "HTTP/1.1 200 \r\ncontent-length:99999999999999999999\r\n\r\n", "", "\r\n\r\n"} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		var s slot
		s.inHead = copy(s.head[:], head)
		if s.parseHead() && (s.status < 100 || s.status > 999 || s.length < -1) {
			t.Errorf("status %d, length %d", s.status, s.length)
		}
	})
}
