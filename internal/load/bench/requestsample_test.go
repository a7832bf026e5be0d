package bench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRequestSample: a bounded number of each step, with cookies and the
// virtual host and without what describes the connection; no other method, and the same sample for the same seed.
func TestRequestSample(t *testing.T) {
	fill := func(seed uint64) []RecordedRequest {
		s := NewRequestSample(seed, 5)
		for i := range 100 {
			s.add(1, "GET /a", "GET", fmt.Appendf(nil, "GET /a?i=%d HTTP/1.1\r\nHost: h\r\nIf-None-Match: x\r\ncookie: s=%d\r\n\r\n", i, i))
		}
		s.add(0, "GET /b", "GET", []byte("GET /b HTTP/1.1\r\nHost: h\r\n\r\n"))
		s.add(0, "POST /b", "POST", []byte("POST /b HTTP/1.1\r\nHost: h\r\n\r\n"))
		s.add(0, "GET /b", "GET", []byte("GET /"+strings.Repeat("x", maxRecorded)+" HTTP/1.1\r\n\r\n"))
		s.add(0, "GET /b", "GET", []byte("nonsense\r\n\r\n"))
		return s.Requests()
	}
	got := fill(1)
	if len(got) != 6 || got[0].Path != "/b" || got[0].Step != "GET /b" || !slices.Equal(got[0].Header, [][2]string{{"Host", "h"}}) {
		t.Fatalf("%+v", got)
	}
	late := 0
	for _, r := range got[1:] {
		if len(r.Header) != 2 || r.Header[0][0] != "Host" || r.Header[1][0] != "Cookie" ||
			"/a?i="+strings.TrimPrefix(r.Header[1][1], "s=") != r.Path {
			t.Errorf("%+v", r)
		}
		if len(r.Path) == len("/a?i=10") {
			late++
		}
	}
	if late == 0 {
		t.Error("only the first requests were kept")
	}
	same := func(a, b []RecordedRequest) bool {
		return slices.EqualFunc(a, b, func(x, y RecordedRequest) bool { return x.Path == y.Path })
	}
	if !same(got, fill(1)) || same(got, fill(2)) {
		t.Error("the seed does not determine the sample")
	}
	var none *RequestSample
	none.add(0, "", "GET", nil)
}
