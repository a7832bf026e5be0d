package pagegen

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var stored = &Memcached{Type: "text/html; charset=utf-8", Headers: []string{"Accept", "X-Who"}, Private: []string{"authorization"}}

// TestKey: the key of a request, and requests that have none.
func TestKey(t *testing.T) {
	request := func(url string, header ...string) *http.Request {
		r := httptest.NewRequest("GET", url, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		return r
	}
	for _, c := range []struct {
		r    *http.Request
		want string
	}{
		{request("/a?b=%20"), "f/g1%20example.com%20/a?b=%2520%20%20"},
		{request("/a", "Accept", "a, b\tc", "X-Who", "é"), "f/g1%20example.com%20/a%20a,%20b%09c%20é"},
		{request("/a", "Accept", "a", "Accept", "b"), ""},
		{request("/a", "Authorization", ""), ""},
		{request("/" + strings.Repeat("a", MaxKey)), ""},
		{request("/a", "Accept", strings.Repeat(" ", 90)), ""},
	} {
		if got := stored.key("f/g1", c.r); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.r.RequestURI, c.r.Header, got, c.want)
		}
	}
	if got := stored.key("", request("/a")); got != "" {
		t.Errorf("without a generation: %q", got)
	}
}

// TestSendable: only answers that the web server sends alike are stored.
func TestSendable(t *testing.T) {
	html := []string{"text/html; charset=UTF-8"}
	for _, c := range []struct {
		header http.Header
		want   bool
	}{
		{http.Header{"Content-Type": html}, true},
		{http.Header{"Content-Type": html, "Content-Length": {"1"}, "Date": {"x"}}, true},
		{http.Header{}, false},
		{http.Header{"Content-Type": {"text/plain"}}, false},
		{http.Header{"Content-Type": html, "Set-Cookie": {"a"}}, false},
		{http.Header{"Content-Type": html, "Vary": {"Accept"}}, false},
		{http.Header{"Content-Type": html, "Trailer:X": {"a"}}, false},
	} {
		if got := stored.sendable(c.header); got != c.want {
			t.Errorf("%v: %v", c.header, got)
		}
	}
}

// TestWhole: an answer that the client does not have whole is not stored.
func TestWhole(t *testing.T) {
	answer := func(h http.HandlerFunc) *digested {
		w := httptest.NewRecorder()
		d := &digested{ResponseWriter: w, hash: noHash{}, to: stored, most: 10}
		d.Header().Set("Content-Type", stored.Type)
		h(d, nil)
		return d
	}
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want bool
	}{
		"small":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("abc")) }, true},
		"too large": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("abcdefghijk")) }, false},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = w.Write([]byte("abc"))
		}, false},
		"a header too late": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Set-Cookie", "a")
			_, _ = w.Write([]byte("abc"))
			w.Header().Del("Set-Cookie")
		}, false},
	} {
		if got := answer(c.h).whole(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// noHash is a hash that a test does not look at.
type noHash struct{}

func (noHash) Write(b []byte) (int, error) { return len(b), nil }
func (noHash) Sum64() uint64               { return 0 }
