package cause_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestConnectionsToUpstreams has cases of a server's configuration with the expected
// finding: the upstream with a new connection for each request, the kind of the
// remedy, and the number of requests passed there.
func TestConnectionsToUpstreams(t *testing.T) {
	const (
		speaks = `proxy_http_version 1.1; proxy_set_header Connection "";`
		up     = `upstream app { server 127.0.0.1:3000; keepalive 8; } `
		bare   = `upstream app { server 127.0.0.1:3000; } `
		all    = `location / { proxy_pass http://app; }`
		upgr   = `map $http_upgrade $connection_upgrade { default upgrade; '' close; } `
	)
	for _, c := range []struct {
		name, outside, server, version, want string
	}{
		{"kept", up, speaks + all, "", ""},
		{"no keepalive", bare, speaks + all, "", "app nginxconf 99,003"},
		{"HTTP/1.0", up, `proxy_set_header Connection "";` + all, "", "app nginxconf 99,003"},
		{"only where requests went", up, speaks + `location /api/ { proxy_pass http://app; } location /admin/ { proxy_pass http://127.0.0.1:9000; } location /ws { proxy_pass http://127.0.0.1:9001; }`, "", ""},
		{"the one with many", up, speaks + `location /api/ { proxy_pass http://127.0.0.1:9000/x/; } location / { proxy_pass http://127.0.0.1:9001; }`, "", "127.0.0.1:9000 nginxconf 90,000; 127.0.0.1:9001 nginxconf 9,003"},
		{"behind try_files", bare, `root /srv; location / { try_files $uri @app; } location @app { ` + speaks + ` proxy_pass http://app; }`, "", "app nginxconf 99,003"},
		{"a map to close", upgr + up, `proxy_http_version 1.1; proxy_set_header Connection $connection_upgrade; ` + all, "", "app person 99,003"},
		{"a map to an empty value", strings.Replace(upgr, "close", "''", 1) + up, `proxy_http_version 1.1; proxy_set_header Connection $connection_upgrade; ` + all, "", ""},
		{"a map of something else", strings.Replace(upgr, "$http_upgrade", "$arg_x", 1) + up, `proxy_http_version 1.1; proxy_set_header Connection $connection_upgrade; ` + all, "", ""},
		{"FastCGI", bare, `location / { fastcgi_pass app; }`, "", "app person 99,003"},
		{"FastCGI that closes", up, `location / { fastcgi_pass app; }`, "", "app person 99,003"},
		{"FastCGI, kept", up, `fastcgi_keep_conn on; location / { fastcgi_pass app; }`, "", ""},
		{"uwsgi has no keep-alive", bare, `location / { uwsgi_pass app; }`, "", ""},
		{"a computed target", bare, `location / { proxy_pass http://$arg_to; }`, "", ""},

		{"the old defaults", bare, all, "nginx/1.29.6", "app nginxconf 99,003"},
		{"the new defaults", bare, all, "nginx/1.29.7", ""},
		{"the new defaults of a stable one", bare, all, "nginx/1.30.0", ""},
		{"a fork", bare, all, "freenginx/1.29.7", "app nginxconf 99,003"},
		{"new, turned off", strings.Replace(up, "8", "0", 1), all, "nginx/1.29.7", "app nginxconf 99,003"},
		{"new, HTTP/1.0", bare, "proxy_http_version 1.0;" + all, "nginx/1.29.7", "app nginxconf 99,003"},
		{"new, closed", bare, "proxy_set_header Connection close;" + all, "nginx/1.29.7", "app nginxconf 99,003"},
		{"new, an address has no upstream", "", "location / { proxy_pass http://127.0.0.1:3000; }", "nginx/1.29.7", "127.0.0.1:3000 nginxconf 99,003"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newScene().route("GET /api/x", "/api/x", 90000, 10, iikanji.WebRow{}).route("GET /ws", "/ws", 3, 10, iikanji.WebRow{}).route("GET /", "/", 9000, 10, iikanji.WebRow{}).
				nginx(t, "http { access_log off; "+c.outside+" server { listen 80; "+c.server+" } }")
			if c.version != "" {
				in.with("nginx", string(fact.TopicNginxVersion), "version", c.version)
			}
			fs, err := findAll(in.Input)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fs {
				n, _, _ := strings.Cut(f.Evidence[1].Text, " ")
				got = append(got, fmt.Sprintf("%s %s %s", f.Where, f.Remedies[0].Kind, n))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			blind(t, in.Input, fs)
		})
	}
}

// TestOnlyWhatWasPassedOn checks that only requests that were passed to the upstream
// count for it, if the log shows them.
func TestOnlyWhatWasPassedOn(t *testing.T) {
	in := newScene().route("GET /a", "/a", 90000, 10, iikanji.WebRow{Upstreams: 20000}).route("GET /b.js", "/b.js", 90000, 10, iikanji.WebRow{}).
		nginx(t, "http { access_log off; server { listen 80; root /srv; location / { try_files $uri @app; } location @app { proxy_pass http://127.0.0.1:3000; } } }")
	f, ok := found(t, in.Input, "WEB102")
	if !ok || f.Gain != (iikanji.Range{Lo: 0.4, Hi: 2.4}) {
		t.Errorf("%+v", f)
	}
}
