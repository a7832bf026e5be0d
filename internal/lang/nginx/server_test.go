package nginx

import (
	"net"
	"testing"
)

// FuzzSplitHostPort compares splitHostPort with net.SplitHostPort, which is in a
// package that this one must not import.
func FuzzSplitHostPort(f *testing.F) {
	for _, s := range []string{"127.0.0.1:80", "[::]:80", "[::1]", "localhost", "localhost:8080", ":80", "", "::1", "a:b:c", "[a]b:1", "unix:/run/x.sock", "[::1]:", "a]:1", "a[:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, port, ok := splitHostPort(s)
		wantHost, wantPort, err := net.SplitHostPort(s)
		if ok != (err == nil) || ok && (host != wantHost || port != wantPort) {
			t.Errorf("%q: %q, %q, %v; want %q, %q, %v", s, host, port, ok, wantHost, wantPort, err)
		}
	})
}
