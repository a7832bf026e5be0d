package diagnose_test

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/facts"
)

// nginx has a configuration as nginx -T prints it.
func (s *scene) nginx(t *testing.T, text string) *scene {
	t.Helper()
	f, err := facts.NginxFact("nginx", "# configuration file /etc/nginx/nginx.conf:\n"+text)
	if err != nil {
		t.Fatal(err)
	}
	s.Facts = append(s.Facts, f)
	return s
}

// kept keeps connections to an app, so that WEB102 has nothing to say.
const kept = `upstream app { server 127.0.0.1:3000; keepalive 8; } proxy_http_version 1.1; proxy_set_header Connection ""; access_log off;`

// style is an answer that is a file on disk.
func style(url string) iikanji.Answer {
	return iikanji.Answer{URL: url, Host: "127.0.0.1:80", Status: 200, Encoding: "gzip", Bytes: 9000, Expires: true, Same: true, File: "/srv/public" + url}
}

// TestStaticThroughApp: a file that the app is asked for is told when an answer
// had its bytes, and when the server that answers the run hands it on.
func TestStaticThroughApp(t *testing.T) {
	const pass = `location / { proxy_pass http://app; }`
	for _, c := range []struct {
		name, conf string
		change     func(css *iikanji.Answer)
		want       string // the paths of the remedies, "" for no finding
	}{
		{"one server", `server { listen 80; ` + pass + ` }`, nil, "/js /css"},
		{"no proof", `server { listen 80; ` + pass + ` }`, func(a *iikanji.Answer) { a.File = "" }, "/js"},
		{"one that redirects beside it", `server { listen 80 default_server; location /.well-known/ { root /srv; } location / { return 301 https://$host$request_uri; } }
			server { listen 443 ssl; ` + pass + ` }`, func(a *iikanji.Answer) { a.Host = "" }, "/js /css"},
		{"one at another port", `server { listen 8080; location / { root /srv; } } server { listen *:80; ` + pass + ` }`, nil, "/js /css"},
		{"the other one answers", `server { listen 8080; ` + pass + ` } server { listen *:80; location / { root /srv; } }`, nil, ""},
		{"one with another name", `server { listen 80; server_name a.test; location / { root /srv; } } server { listen 80 default_server; server_name b.test; ` + pass + ` }`, nil, "/js /css"},
		{"the one with the name", `server { listen 80; ` + pass + ` } server { listen 80; server_name 127.0.0.1; location / { root /srv; } }`, nil, ""},
		{"the address goes before all", `server { listen 80; location / { root /srv; } } server { listen 127.0.0.1:80; ` + pass + ` }`, nil, "/js /css"},
		{"locations do not inherit try_files", `server { listen 80; root /srv; try_files $uri @x; ` + pass + ` }`, nil, "/js /css"},
		{"its own try_files", `server { listen 80; root /srv; location / { try_files $uri @app; } location @app { proxy_pass http://app; } }`, nil, ""},
		{"one folder from disk", `server { listen 80; location /js/ { root /srv; } ` + pass + ` }`, nil, "/css"},
		{"FastCGI", `server { listen 80; location / { fastcgi_pass app; fastcgi_keep_conn on; } }`, nil, "patch"},
		{"uwsgi", `server { listen 80; location / { uwsgi_pass app; } }`, nil, "patch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			css, js := style("/css/a.css"), style("/js/a.js")
			if c.change != nil {
				c.change(&css)
				js.Host = css.Host
			}
			in := newScene().route("GET /css/:file.css", "/css/a.css", 5000, 9000, iikanji.WebRow{}).route("GET /js/:file.js", "/js/a.js", 9000, 9000, iikanji.WebRow{}).
				with("nginx", iikanji.TopicAnswer, "GET /css/:file.css", css).with("nginx", iikanji.TopicAnswer, "GET /js/:file.js", js).nginx(t, "http { "+kept+c.conf+" }")
			f, _ := found(t, in.Input, "WEB101")
			var got []string
			for _, r := range f.Remedies {
				if r.Kind == "patch" {
					got = append(got, r.Kind)
				} else {
					got = append(got, r.Args["path"])
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("remedies for %q, want %q", got, c.want)
			}
			blind(t, in.Input, nil)
		})
	}
}

// TestPicturesOfTheApp: what the app makes up under the name of a file is no
// file, however long it takes.
func TestPicturesOfTheApp(t *testing.T) {
	in := newScene().route("GET /image/:file.png", "/image/7.png", 5000, 90000, iikanji.WebRow{Upstream: 50 * time.Second}).
		with("nginx", iikanji.TopicAnswer, "GET /image/:file.png", iikanji.Answer{URL: "/image/7.png", Status: 200, Type: "image/png", Bytes: 90000, Expires: true, Same: true}).
		nginx(t, "http { "+kept+" server { listen 80; location / { proxy_pass http://app; } } }")
	if f, ok := found(t, in.Input, "WEB101"); ok {
		t.Errorf("%+v", f)
	}
}
