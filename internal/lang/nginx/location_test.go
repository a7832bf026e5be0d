package nginx

import (
	"path/filepath"
	"strings"
	"testing"
)

// locationCases are configurations of one server whose locations answer with their own
// names, and the names of those that answer some paths. A real nginx is asked too.
var locationCases = []struct {
	name, locations string
	want            map[string]string
}{
	{"modifier and expression as one word", `location / { return 200 root; } location ~^/x { return 200 x; } location ~*\.PNG$ { return 200 png; } location =/y { return 200 y; } location ^~/z { return 200 z; }`,
		map[string]string{"/xy": "x", "/a.png": "png", "/y": "y", "/y/": "root", "/z.png": "z", "/": "root"}},
	{"a nested location is found only within the one around it",
		`location /a { return 200 a; location /a/b/c { return 200 nested; } } location /a/b { return 200 b; }`,
		map[string]string{"/a/b/c": "b", "/a/bc": "b", "/a/c": "a"}},
	{"a nested expression is before those of the server",
		`location / { return 200 root; location ~ \.js$ { return 200 nested; } } location ~ ^/s { return 200 s; }`,
		map[string]string{"/s.js": "nested", "/s": "s", "/x.js": "nested", "/x": "root"}},
	{"an expression of the server is before a nested prefix",
		`location / { return 200 root; location /a/ { return 200 nested; } } location ~ c$ { return 200 c; }`,
		map[string]string{"/a/b": "nested", "/a/c": "c"}},
	{"^~ of the outer location forbids the expressions of the server, not those inside",
		`location ^~ /a { return 200 a; location ~ c$ { return 200 inside; } } location ~ b$ { return 200 b; }`,
		map[string]string{"/ab": "a", "/ac": "inside", "/b": "b"}},
	{"^~ of a nested location does not forbid the expressions of the server",
		`location /a { return 200 a; location ^~ /a/b { return 200 nested; } } location ~ c$ { return 200 c; }`,
		map[string]string{"/a/b": "nested", "/a/bc": "c"}},
	{"an expression inside a prefix ends the search", `location /a { return 200 a; location ~ ^/a/(b)? { return 200 one; location ~ c$ { return 200 two; } } } location ~ d$ { return 200 d; }`,
		map[string]string{"/a/bd": "one", "/a/bc": "two", "/ad": "d"}},
	{"the first expression in the file", `location ~ a { return 200 one; } location ~ ab { return 200 two; }`, map[string]string{"/ab": "one"}},
	{"exact before all", `location = /a { return 200 exact; } location ^~ /a { return 200 prefix; } location ~ . { return 200 any; }`, map[string]string{"/a": "exact", "/ab": "prefix", "/b": "any"}},
	{"a location that passes requests on redirects to its slash", `location / { return 200 root; } location /a/ { proxy_pass http://unix:DIR/s; } location /b/ { return 200 b; } location ~ ^/a$ { return 200 expression; }`,
		map[string]string{"/a": "301 /a/", "/b": "root", "/b/": "b"}},
	{"a rewrite selects again", `location /old { rewrite ^/old(.*)$ /new$1 last; return 200 old; } location /new { return 200 new; }`, map[string]string{"/old/x": "new", "/old": "new"}},
	{"try_files before proxy_pass", `location / { try_files $uri @app; proxy_pass http://unix:DIR/s; } location @app { return 200 app; }`, map[string]string{"/x": "app"}},
	{"an error_page for a status", `location / { error_page 418 = @app; return 418; } location @app { return 200 app; }`, map[string]string{"/x": "app"}},
}

// TestLocations compares who answers with the table and with a real nginx.
func TestLocations(t *testing.T) {
	for _, c := range locationCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			text := strings.NewReplacer("SERVERS", "server { listen unix:DIR/s; "+c.locations+" }", "MERGE", "on").Replace(answersSkeleton)
			text = strings.ReplaceAll(text, "DIR", dir)
			start(t, dir, text)
			conf, err := Load("nginx.conf", oneText(text))
			if err != nil {
				t.Fatal(err)
			}
			client := &rawClient{t: t, path: filepath.Join(dir, "s")}
			for path, want := range c.want {
				r := Request{Address: "unix:" + filepath.Join(dir, "s"), Host: "x", Method: "GET", URI: path}
				a, err := conf.Answer(r)
				if got := a.Text; err != nil || got != strings.TrimPrefix(want, "301 ") {
					t.Errorf("%s: %q, %v; want %s", path, got, err, want)
				}
				status, header, body := client.ask(r)
				if status == 301 {
					body = "301 " + header.Get("Location")
				}
				if body != want {
					t.Errorf("%s: nginx answers %q, want %s", path, body, want)
				}
			}
		})
	}
}
