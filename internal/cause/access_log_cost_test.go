package cause_test

import (
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestAccessLogInEffect checks that the log in effect where the run's requests were
// answered counts, including nginx's default.
func TestAccessLogInEffect(t *testing.T) {
	const line, together, app = "access_log /log;", "access_log /log combined buffer=64k;", "location /api/ { proxy_pass http://app; "
	for _, c := range []struct {
		name, http, server, api string
		want                    string // the lines written one by one, and what to do; "" for no finding
	}{
		{"line by line", line, "", "", "9,000 buffered off"},
		{"through a buffer", together, "", "", ""},
		{"the server has a buffer", line, together, "", ""},
		{"the server has none", together, line, "", "9,000 buffered off"},
		{"one location has none", together, "", line, "8,000 buffered off"},
		{"most are not logged", line, "", "access_log off;", ""}, // 1,000 lines cost nothing
		{"off", "access_log off;", "", "", ""},
		{"no directive", "", "", "", "9,000 off"},
		{"elsewhere", "access_log syslog:server=127.0.0.1;", "", "", ""},
		{"elsewhere, and here", line + "access_log syslog:server=127.0.0.1;", "", "", "9,000 buffered off"},
		{"two files", line + " access_log /other;", "", "", "18,000 buffered off"},
		{"a computed name", "access_log /log-$host;", "", "", "9,000 off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newScene().route("GET /api/x", "/api/x", 8000, 10, iikanji.WebRow{}).route("GET /", "/", 1000, 10, iikanji.WebRow{}).
				nginx(t, `http { upstream app { server 127.0.0.1:3000; keepalive 8; } proxy_http_version 1.1; proxy_set_header Connection ""; `+c.http+
					" server { listen 80; "+c.server+app+c.api+"} location / { root /srv; } } }")
			f, ok := found(t, in.Input, "WEB110")
			got := ""
			if ok {
				words := strings.Fields(f.Claim)
				got = words[len(words)-5]
				for _, r := range f.Remedies {
					got += " " + r.Args["log"]
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			blind(t, in.Input, nil)
		})
	}
}

// TestBareFilesAreLogged checks that a server that passes no requests on has a log, too.
func TestBareFilesAreLogged(t *testing.T) {
	in := newScene().route("GET /", "/", 9000, 10, iikanji.WebRow{}).nginx(t, "http { server { listen 80; location / { root /srv; } } }")
	if f, ok := found(t, in.Input, "WEB110"); !ok || f.Evidence[0].Text != "no access_log: nginx writes one by default" {
		t.Errorf("%+v", f)
	}
}
