package field

import "testing"

// TestHostsOfLogLines: a log with the virtual host tells whom a client asked.
func TestHostsOfLogLines(t *testing.T) {
	for _, c := range []struct{ line, path, host string }{
		{`a.example:80 192.0.2.1 - - [27/Nov/2026:10:00:00 +0000] "GET /x?y=1 HTTP/1.1" 200 5 "-" "-"`, "/x?y=1", "a.example"},
		{`192.0.2.1 - - [27/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "-"`, "/x", ""},
		{"time:1\thost:192.0.2.1\tvhost:b.example\tmethod:GET\turi:/z\tstatus:200", "/z", "b.example"},
		{"time:1\thost:192.0.2.1\tmethod:GET\turi:/z\tstatus:200", "/z", ""},
		{`{"time":"x","host":"c.example","method":"GET","uri":"/w","status":200}`, "/w", "c.example"},
	} {
		got := getsOf([]byte(c.line + "\n"))
		if len(got) != 1 || got[0].Path != c.path {
			t.Errorf("%s: %+v", c.line, got)
			continue
		}
		host := ""
		for _, h := range got[0].Header {
			host = h[1]
		}
		if host != c.host {
			t.Errorf("%s: host %q, want %q", c.line, host, c.host)
		}
	}
}
