package nginxconf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// head is the beginning of all shapes, up to the content of the http block.
const head = `pid %[1]s/nginx.pid;
error_log %[1]s/error.log warn;
events { worker_connections 64; }
http {
    log_format braces '{"uri": "$uri", "a": "};{"}'; # { not a block
    access_log %[1]s/access.log braces;
    client_body_temp_path %[1]s/run/body; proxy_temp_path %[1]s/run/proxy;
    fastcgi_temp_path %[1]s/run/f; uwsgi_temp_path %[1]s/run/u; scgi_temp_path %[1]s/run/s;
`

// shapes are configurations as they occur on servers.
var shapes = map[string]map[string]string{
	"plain": {"conf/nginx.conf": head + `
    server {
        listen 127.0.0.1:%[2]d; server_name one.test;
        # everything is the app's
        location / { # here
            proxy_set_header X-A "a { b";
            proxy_pass http://%[3]s; # there
        }
    }
}`},
	"included": {"conf/nginx.conf": head + "include conf.d/*.conf;\ninclude sites/one; include sites/*.site;\n}", "conf/conf.d/app.conf": "upstream app { server %[3]s; }\nproxy_set_header X-A all;\n", "conf/sites/x.site": `
server { listen 127.0.0.1:%[2]d; server_name one.test;
	add_header X-Server "one; two" always;
	location / { proxy_pass http://app; include proxy_params; }
	location = /exact { proxy_pass http://app; }
}
`, "conf/sites/one": "# nothing", "conf/proxy_params": "proxy_set_header X-A params;\nproxy_set_header Host $http_host;\nproxy_http_version 1.0;\n"},
	"many servers": {"conf/nginx.conf": head + `
    upstream "app" { server %[3]s weight=5; }
    server { listen 127.0.0.1:%[2]d default_server; return 404 "nobody\n"; }
    server {
        listen 127.0.0.1:%[2]d; server_name one.test www.one.test;
        error_page 404 = /sorry;
        location / { proxy_set_header X-A one; proxy_pass http://app; expires epoch; add_header X-Location one; }
        location /admin/ { proxy_pass http://app; deny all; }
    }
    server {
        listen 127.0.0.1:%[2]d; server_name two.test;
        location /{proxy_pass 'http://app';}
        location /base/ { proxy_pass http://app/other/; }
    }
}`},
	"expressions": {"conf/nginx.conf": head + `
    server {
        listen 127.0.0.1:%[2]d;
        server_name one.test;
        location / { proxy_pass http://%[3]s; }
        location ~ \.png$ { proxy_set_header X-A "png {2}"; proxy_pass http://%[3]s; }
        location ~* "^/api/[a-z]{3}/u" { proxy_set_header X-A three; proxy_pass http://%[3]s; }
        location ^~ /assets/fixed/ { proxy_set_header X-A fixed; proxy_pass http://%[3]s; }
        location =/exact { proxy_set_header X-A exact; proxy_pass http://%[3]s; }
    }
}`},
	"nested": {"conf/nginx.conf": head + `
    server {
        listen 127.0.0.1:%[2]d;
        server_name one.test;
        proxy_set_header X-A server;
        location / {
            proxy_pass http://%[3]s;
            location /api/ {
                proxy_set_header X-A api; # only here
                proxy_pass http://%[3]s;
            }
            location /assets/fixed/ { return 200 "fixed\n"; }
            location ~ \.css$ { proxy_set_header X-A css; proxy_pass http://%[3]s; }
        }
    }
}`},
	"odd": {"conf/nginx.conf": head + `
    map $arg_v $backend { default "%[3]s"; 'x}' nowhere; }
    server {
        listen 127.0.0.1:%[2]d; server_name one.test;
        location / {
            if ($request_method = PUT) { proxy_pass http://%[3]s; }
            proxy_pass http://%[3]s;
        }
        location /var/ { proxy_pass http://$backend; }
        location /base/ { proxy_pass http://%[3]s/other/; }
        location /api/ { proxy_redirect off; proxy_pass http://%[3]s; limit_except GET POST HEAD { deny all; } }
    }
}`},
}

var publicOfSame = map[string]string{
	"public/assets/app.js": strings.Repeat("let words = 'that compress';\n", 100), "public/assets/pic.png": "\x89PNG",
	"public/assets/fixed/a.css": "a{}", "public/index.html": "<!doctype html>", "secret.txt": "secret",
}

// echo is an app that answers with all that an edit could change, and with the
// public files.
func echo(public func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if text, err := os.ReadFile(filepath.Join(public(), r.URL.Path)); err == nil && (r.Method == "GET" || r.Method == "HEAD") && !strings.Contains(r.URL.Path, "link") {
			w.Header().Set("Content-Type", mediaTypes[strings.TrimPrefix(filepath.Ext(r.URL.Path), ".")])
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			_, _ = w.Write(text)
			return
		}
		if strings.Contains(r.URL.Path, "redirect") {
			w.Header().Set("Location", "http://"+r.Host+"/to")
			w.WriteHeader(302)
		}
		w.Header().Set("Content-Type", "text/x-echo")
		fmt.Fprintf(w, "%s %s host=%s a=%s body=%q\n", strings.Replace(r.Method, "HEAD", "GET", 1), r.RequestURI, r.Host, r.Header.Values("X-A"), body)
	})
}

// probes are requests whose answers show what an edit broke.
func probes() []string {
	paths := []string{"/", "/x?y=1", "/exact", "/redirect", "/admin/x", "/base/x", "/base/redirect", "/var/x", "/img/a.png", "/index.html",
		"/assets", "/assets/", "/assets/app.js", "/assets/pic.png", "/assets/none.js", "/assets/none.png", "/assets/fixed/a.css", "/assets/fixed/x", "/assets/fixed/p.png", "/assets-old/a",
		"/assets/link.txt", "/assets/../../secret.txt", "/assets/%2e%2e/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets//app.js", "/assets/.%00/a", "/assets/a%20b?c=%20d",
		"/api", "/api/", "/api/trend", "/api/trend?x=1", "/api/trend/", "/api/trends", "/api/abc/u", "/api/isu/12/icon", "/api/isu/12/icon/", "/api/isu/1/2/icon", "/api/x.css", "/x.css"}
	var all []string
	for _, host := range []string{"one.test", "two.test", "127.0.0.1"} {
		for _, p := range paths {
			all = append(all, "GET "+p+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		}
		for _, p := range []string{"/x", "/assets/app.js", "/api/trend", "/exact", "/"} {
			all = append(all, "POST "+p+" HTTP/1.1\r\nHost: "+host+"\r\nContent-Length: 5\r\n\r\nhello", "HEAD "+p+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n",
				"PUT "+p+" HTTP/1.1\r\nHost: "+host+"\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "OPTIONS "+p+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
		}
	}
	return all
}

// An answered probe has all of nginx's answer but what differs each time.
type answered struct {
	status string
	header http.Header
	body   string
}

// without is the answer as text, without headers that an edit may change.
func (a answered) without(headers []string) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if !slices.Contains(headers, name) {
			fmt.Fprintln(&b, name, a.header[name])
		}
	}
	return b.String() + a.body
}

// answers sends every probe.
func (s *testSite) answers(t *testing.T) map[string]answered {
	t.Helper()
	all := map[string]answered{}
	for _, p := range probes() {
		a, err := s.answer(p)
		if err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		all[p] = a
	}
	return all
}

func (s *testSite) answer(probe string) (a answered, err error) {
	c, err := net.Dial("tcp", s.address())
	if err != nil {
		return a, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, strings.Replace(probe, "\r\n", "\r\nConnection: close\r\n", 1)); err != nil {
		return a, err
	}
	method, _, _ := strings.Cut(probe, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	resp.Header.Del("Date")
	resp.Header.Del("Connection")
	return answered{resp.Status, resp.Header, string(body)}, err
}

// sameActs are remedies, with the headers that they are meant to change.
var sameActs = map[string]struct {
	r      iikanji.Remedy
	wanted []string
}{
	"keepalive":     {remedy("upstream keepalive", "keepalive", "8", "requests", "100", "timeout", "30s"), nil},
	"static":        {remedy("static files", "path", "/assets", "server", "one.test"), []string{"Etag", "Last-Modified", "Accept-Ranges"}},
	"static all":    {remedy("static files", "path", "/", "server", "one.test"), []string{"Etag", "Last-Modified", "Accept-Ranges"}},
	"static one":    {remedy("static files", "path", "= /index.html", "server", "one.test", "expires", "1h"), []string{"Etag", "Last-Modified", "Accept-Ranges", "Expires", "Cache-Control"}},
	"gzip":          {remedy("gzip", "level", "2"), []string{"Vary"}},
	"expires":       {remedy("expires", "path", "/api/trend", "expires", "1h", "cache-control", "public", "server", "one.test"), []string{"Expires", "Cache-Control"}},
	"expires all":   {remedy("expires", "path", "/assets/", "expires", "1d", "server", "one.test"), []string{"Expires", "Cache-Control"}},
	"expires base":  {remedy("expires", "path", "/base/x", "expires", "1h", "server", "one.test"), []string{"Expires", "Cache-Control"}},
	"expires fixed": {remedy("expires", "path", "/assets/fixed/p.png", "expires", "1h", "server", "one.test"), []string{"Expires", "Cache-Control"}},
	"expires route": {remedy("expires", "path", "/api/isu/:id/icon", "expires", "max", "server", "one.test"), []string{"Expires", "Cache-Control"}},
	"cache":         {remedy("cache", "path", "/api/trend", "valid", "500ms", "server", "one.test"), nil},
	"cache folder":  {remedy("cache", "path", "/api/", "valid", "3s", "stale", "updating", "server", "one.test"), nil},
	"cache exact":   {remedy("cache", "path", "/exact", "valid", "30s", "cookies", "ignore", "server", "one.test"), nil},
	"cache route":   {remedy("cache", "path", "/api/isu/:id/icon", "valid", "10s", "server", "one.test"), nil},
	"buffers":       {remedy("buffers", "body", "300k", "answer", "1m", "header", "16k", "spill", "off"), nil},
	"workers":       {remedy("workers", "processes", "2", "connections", "512", "nofile", "2048"), nil},
	"open files":    {remedy("open file cache", "max", "100"), nil},
	"log buffered":  {remedy("access log", "log", "buffered"), nil},
	"log off":       {remedy("access log", "log", "off"), nil},
	"agents":        {remedy("refuse user agents", "patterns", "bot\n(?i)Spider[/ ]\"x{2}"), nil},
	"set":           {remedy("set", "directive", "tcp_nopush", "value", "on"), nil},
}

// refusals are the shapes for which an act must be refused, and words of the error.
var refusals = map[string]string{
	"odd/static":           "has if",
	"odd/static all":       "has if",
	"odd/static one":       "has if",
	"nested/static all":    "inside",
	"nested/expires route": "may answer it",
	"nested/cache route":   "may answer it",
}

// TestSame: for each shape of the configuration, an edit changes only the headers
// that it is meant to change; planned again there is nothing to change; and
// undone every byte is as before.
func TestSame(t *testing.T) {
	t.Parallel()
	for shape, conf := range shapes {
		t.Run(shape, func(t *testing.T) {
			t.Parallel() // each shape has an nginx of its own
			files := map[string]string{"run/x": ""}
			for _, m := range []map[string]string{conf, publicOfSame} {
				for k, v := range m {
					files[k] = v
				}
			}
			dir := ""
			s := startSite(t, echo(func() string { return dir }), files)
			dir = filepath.Join(s.dir, "public")
			if err := os.Symlink("../../secret.txt", filepath.Join(dir, "assets/link.txt")); err != nil {
				t.Fatal(err)
			}
			_ = os.Chmod(filepath.Join(s.dir, "run"), 0o777)
			before := s.answers(t) // of all acts: each is undone
			for name, act := range sameActs {
				t.Run(name, func(t *testing.T) { s.same(t, before, act.r, act.wanted, refusals[shape+"/"+name]) })
			}
		})
	}
}

func (s *testSite) same(t *testing.T, before map[string]answered, r iikanji.Remedy, wanted []string, refusal string) {
	site := s.open(s.dir)
	state, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		if refusal == "" || !strings.Contains(err.Error(), refusal) {
			t.Errorf("refused: %v, want %q", err, refusal)
		}
		return
	}
	if refusal != "" {
		t.Errorf("planned, want it refused because of %q\n%s", refusal, change.Diff(c))
	}
	perform := func(ops []iikanji.Op) {
		t.Helper()
		for _, op := range ops {
			if err := site.Perform(t.Context(), op); err != nil {
				t.Fatalf("%v\n%s", err, change.Diff(c))
			}
		}
	}
	perform(c.Do)
	differ := 0
	for p, a := range s.answers(t) {
		got, was := a.without(wanted), before[p].without(wanted)
		if differ++; got != was && differ < 1000 {
			t.Errorf("%q\nis answered\n%s\nand was\n%s\nwith\n%s", p, got, was, change.Diff(c))
			differ = 1000 // one is enough to read
		}
	}
	if _, err := change.Plan(t.Context(), site, r); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned again: %v\n%s", err, change.Diff(c))
	}
	perform(c.Undo)
	if after, err := s.state(); err != nil || after != state {
		t.Errorf("undone it is\n%s\nand was\n%s", after, state)
	}
}

// TestStaticProven: where no folder is known to be public, the files that the app answered
// with are served, and no other file beside them.
func TestStaticProven(t *testing.T) {
	s := newTestSite(t)
	for name, text := range map[string]string{"assets/b.txt": "b from disk", "assets/secret.txt": "secret"} {
		if err := os.WriteFile(filepath.Join(s.dir, "public", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := s.open(s.dir)
	svc := site.Services["nginx"]
	svc.Public = ""
	site.Services["nginx"] = svc
	r := remedy("static files", "path", "/assets", "from", filepath.Join(s.dir, "public"), "same", "/assets/a.txt;/assets/b.txt")
	if _, err := change.Plan(t.Context(), site, r); err == nil || !strings.Contains(err.Error(), "no run proved") {
		t.Errorf("without a proof: %v", err)
	}
	c, err := change.Plan(t.Context(), site, proven(r, iikanji.SameAsFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Weakens) > 0 {
		t.Errorf("it weakens %v", c.Weakens)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"/assets/a.txt": "from disk", "/assets/b.txt": "b from disk", "/assets/secret.txt": "app ", "/assets/none.txt": "app ", "/other": "app "} {
		if got := s.body(t, path); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %.40q, want %q", path, got, want)
		}
	}
	if _, err := change.Plan(t.Context(), site, proven(r, iikanji.SameAsFile)); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned again: %v", err)
	}
}
