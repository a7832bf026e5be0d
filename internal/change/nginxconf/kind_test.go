package nginxconf

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

func remedy(act string, kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "nginxconf", Target: "nginx", Args: changetest.Args(append([]string{"act", act}, kv...)...)}
}

// apply plans and performs a remedy.
func apply(t *testing.T, s *testSite, r iikanji.Remedy) *iikanji.Change {
	t.Helper()
	site := s.open(s.dir)
	c, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatalf("%v\n%s", err, change.Diff(c))
		}
	}
	return c
}

// TestEffects: each edit has its effect on a real nginx.
func TestEffects(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	plain := s.body(t, "/x")
	ask := func(n int) int64 {
		from := s.dials.Load()
		for range n {
			s.body(t, "/x")
		}
		return s.dials.Load() - from
	}
	if got := ask(10); got != 10 {
		t.Fatalf("without keep-alive the app accepted %d connections for 10 requests", got)
	}
	apply(t, s, remedy("upstream keepalive", "keepalive", "8"))
	if got := ask(10); got != 1 {
		t.Errorf("with keep-alive the app accepted %d connections for 10 requests", got)
	}
	if got := s.body(t, "/x"); got != strings.Replace(plain, "conn=close", "conn=", 1) {
		t.Errorf("the app sees\n%.80s\nand saw\n%.80s", got, plain)
	}

	apply(t, s, remedy("static files", "path", "/assets", "expires", "1d"))
	resp, err := s.get("/assets/a.txt", nil)
	if err != nil || resp.Header.Get("Cache-Control") != "max-age=86400" || s.body(t, "/assets/a.txt") != "from disk" {
		t.Errorf("static file: %v %v", resp, err)
	}
	if got := s.body(t, "/assets/none"); !strings.HasPrefix(got, "app 127.0.0.1") || !strings.Contains(got, " /assets/none ") {
		t.Errorf("what is not on disk is answered %.60q", got)
	}

	if _, err := change.Plan(t.Context(), s.open(s.dir), remedy("static files", "path", "/assets/")); !errors.Is(err, change.ErrNothing) {
		t.Errorf("a second time: %v", err)
	}

	apply(t, s, remedy("gzip"))
	resp, err = s.get("/x", http.Header{"Accept-Encoding": {"gzip"}})
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("gzip: %v %v", resp, err)
	}

	c := apply(t, s, remedy("set", "directive", "access_log", "value", "off"))
	if len(c.Weakens) != 1 || c.Weakens[0] != iikanji.Observability {
		t.Errorf("logs off weakens %v", c.Weakens)
	}
	size := func() int64 {
		info, err := os.Stat(s.dir + "/access.log")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if was := size(); ask(3) >= 0 && size() != was {
		t.Error("the log still grows")
	}
	for name, value := range map[string]string{"worker_processes": "2", "worker_rlimit_nofile": "4096", "worker_connections": "1024", "multi_accept": "on",
		"client_body_buffer_size": "256k", "proxy_buffers": "16 16k"} {
		if c := apply(t, s, remedy("set", "directive", name, "value", value)); len(c.Weakens) > 0 {
			t.Errorf("%s weakens %v", name, c.Weakens)
		}
	}
	if c := apply(t, s, remedy("set", "directive", "gzip_static", "value", "on")); len(c.Weakens) != 1 || c.Weakens[0] != iikanji.Freshness {
		t.Errorf("compressed copies weaken %v", c.Weakens) // a copy stays as it is when its file changes
	}
	s.body(t, "/")
}

// TestRefused: an invalid remedy is refused before any file is written, and the
// error names the argument. A remedy may come from a proposer.
func TestRefused(t *testing.T) {
	s := newTestSite(t)
	changetest.Refuse(t, s.open(s.dir), s.state, []struct {
		Remedy iikanji.Remedy
		Why    string
	}{
		{remedy("nonsense"), "nonsense"},
		{iikanji.Remedy{Kind: "nginxconf", Target: "apache", Args: map[string]string{"act": "gzip"}}, "apache"},
		{remedy("upstream keepalive"), "keepalive"},
		{remedy("upstream keepalive", "keepalive", "99999999"), "keepalive"},
		{remedy("static files", "path", "/a/ { } location /b"), "path of a URL"},
		{remedy("static files", "path", "/a/../../etc/"), "path of a URL"},
		{remedy("static files", "path", "/assets", "root", "tmp"), "absolute"},
		{remedy("static files", "path", "/etc", "root", "/"), "public folder"},
		{remedy("static files", "path", "/none"), "/none"},
		{remedy("upstream keepalive", "keepalive", "4", "to", "b:1"), "b:1"},
		{remedy("static files", "path", "/assets/", "expires", "1d; x"), "expires"},
		{remedy("gzip", "level", "10"), "level"},
		{remedy("gzip", "types", "text/css; include /etc/passwd"), "types"},
		{remedy("static files", "path", "/assets", "file", "/../x"), "file"},
		{remedy("static files", "path", "/", "file", "/index.html"), "less than every path"},
		{remedy("static files", "path", "= /none"), "no file"},
		{remedy("static files", "path", "/assets/:id"), "want a folder"},
		{remedy("gzip static", "path", "/assets"), "does not serve it"},
		{remedy("gzip static", "path", "/ready", "root", "/etc"), "public folder"},
		{remedy("set", "directive", "worker_processes", "value", "9999"), "count from 1"},
		{remedy("set", "directive", "worker_processes", "value", "0"), "count from 1"},
		{remedy("workers", "processes", "9999"), "count from 1"},
		{remedy("set", "directive", "proxy_buffers", "value", "9999 999999k"), "each request may have"},
		{remedy("set", "directive", "proxy_buffers", "value", "0 4k"), "at least one buffer"},
		{remedy("set", "directive", "client_body_buffer_size", "value", "99m"), "each request may have"},
		{remedy("set", "directive", "keepalive_timeout", "value", "9999d"), "want a time"},
		{remedy("expires", "path", "/x", "expires", "tomorrow"), "expires"},
		{remedy("expires", "path", "/x", "expires", "1h", "cache-control", "x\" always"), "cache-control"},
		{remedy("expires", "path", "/x;", "expires", "1h"), "path of a URL"},
		{remedy("expires", "path", "/a/:id\n/b", "expires", "1h"), "path of a URL"},
		{remedy("cache", "path", "/x", "valid", "1h"), "valid"},
		{remedy("cache", "path", "/x", "valid", "50ms"), "valid"},
		{remedy("cache", "path", "/x", "valid", "1500ms", "stale", "updating"), "whole seconds"},
		{remedy("cache", "path", "/x", "valid", "1s", "key", "$uri; x"), "key"},
		{remedy("cache", "path", "/x", "valid", "1s", "key", "all"), "$request_uri among them"},
		{remedy("cache", "path", "/x", "valid", "1s", "key", "$request_uri"), "receives $http_host"}, // the location's own Host
		{remedy("cache", "path", "/x", "valid", "1s", "cookies", "mine"), "cookies"},
		{remedy("cache", "path", "/x/", "valid", "1s", "cookies", "ignore"), "folder"},
		{remedy("cache", "path", "/ready/words.txt", "valid", "1s"), "passes it on to the app"},
		{remedy("cache", "path", "/x", "valid", "1s", "server", "other.test"), "other.test"},
		{remedy("buffers"), "want a size"},
		{remedy("buffers", "body", "1g"), "body"},
		{remedy("buffers", "answer", "900m"), "answer"},
		{remedy("workers"), "want a count"},
		{remedy("workers", "connections", "2000", "nofile", "3000"), "twice"},
		{remedy("workers", "processes", "0"), "processes"},
		{remedy("set", "directive", "worker_rlimit_nofile", "value", "100"), "twice"},
		{remedy("open file cache", "valid", "x"), "valid"},
		{remedy("access log", "log", "on"), "log"},
		{remedy("access log", "log", "buffered", "flush", "soon"), "flush"},
		{remedy("refuse user agents"), "patterns"},
		{remedy("refuse user agents", "patterns", "bot\n.*"), "usual User-Agent"},
		{remedy("refuse user agents", "patterns", "."), "usual User-Agent"},
		{remedy("refuse user agents", "patterns", "(?i)mozilla"), "usual User-Agent"},
		{remedy("refuse user agents", "patterns", "*"), "begins with a star"}, // nginx: anything, in any case
		{remedy("refuse user agents", "patterns", "*."), "begins with a star"},
		{remedy("refuse user agents", "patterns", "(?!zzz)"), "cannot tell"},
		{remedy("refuse user agents", "patterns", "(bot"), "cannot tell"},
		{remedy("refuse user agents", "patterns", "bot", "status", "200"), "status"},
		{remedy("upstream socket", "socket", "/tmp/../x"), "socket"},
		{remedy("set", "directive", "load_module", "value", "x"), `"load_module" may not be set; those that may are accept_mutex, `},
		{remedy("set", "directive", "tcp_nopsh", "value", "on"), `did you mean "tcp_nopush"?`},
		{remedy("set", "directive", "worker_connections", "value", "1; user root"), "worker_connections"},
		{remedy("set", "directive", "access_log", "value", "/tmp/x; include y"), "access_log"},
		{remedy("set", "directive", "access_log", "value", "/no/such/folder/x.log"), "no access log is written there"},
		{remedy("set", "directive", "proxy_buffer_size", "value", "64k"), "nginx refuses"}, // larger than proxy_busy_buffers_size
	})
}

// public is a folder of files that may be served.
var public = func() string {
	dir, err := filepath.Abs("testdata/public")
	if err != nil {
		panic(err)
	}
	return dir
}()

// oneFile is a configuration without includes.
type oneFile string

func (f oneFile) Read(path string) ([]byte, error) {
	if path != "/c/nginx.conf" {
		return nil, fs.ErrNotExist
	}
	return []byte(f), nil
}

func (oneFile) Glob(string) ([]string, error) { return nil, nil }

// editTree edits trees without a plan.
func editTree(t *testing.T, tree *nginxedit.Conf, r iikanji.Remedy) error {
	_, e, err := match(r)
	if err != nil {
		return err
	}
	return e.edit(&task{&nginxedit.Plan{Ctx: t.Context(), Site: &change.Site{}, Conf: tree, Svc: change.Service{Public: public}, Host: host.Local{}}})
}

// TestEdits shows edits: the text before, the remedy, the text after.
func TestEdits(t *testing.T) {
	for _, c := range []struct {
		name, before string
		r            iikanji.Remedy
		after        string
	}{
		{"in one line", "events{}http{server{location /{proxy_pass http://a:1/x;}}}", remedy("upstream keepalive", "keepalive", "4"),
			"events{}http{\n    upstream iikanji_a_1 {\n        server a:1;\n        keepalive 4;\n    }\nserver{location /{proxy_pass http://iikanji_a_1/x;\n    proxy_set_header Host a:1;\n    proxy_redirect http://a:1/x /;\n    proxy_http_version 1.1;\n    proxy_set_header Connection \"\";\n}}}"},
		{"an upstream that is there", `http {
  upstream app {
    server 127.0.0.1:1; # the only one
    # more to come
  }
  server {
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header Connection close;
    location / { proxy_pass http://app; }
    location /ws { proxy_http_version 1.0; proxy_pass http://app; }
    location /v { proxy_pass http://$x; }
  }
}
`, remedy("upstream keepalive", "keepalive", "4"), `http {
  upstream app {
    server 127.0.0.1:1; # the only one
    keepalive 4;
    # more to come
  }
  server {
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header Connection "";
    location / { proxy_pass http://app;
        proxy_http_version 1.1;
    }
    location /ws { proxy_http_version 1.1; proxy_pass http://app; }
    location /v { proxy_pass http://$x; }
  }
}
`},
		{"further in, too", "http {\n  sendfile off; # why?\n  server { sendfile off; }\n}\n", remedy("set", "directive", "sendfile", "value", "on"),
			"http {\n  sendfile on; # why?\n  server { sendfile on; }\n}\n"},
		{"one log of two", "http {\n  access_log /a main;\n  access_log /b;\n  server { access_log off; }\n}\n",
			remedy("set", "directive", "access_log", "value", "/a main buffer=64k flush=1s"),
			"http {\n  access_log /a main buffer=64k flush=1s;\n  access_log /b;\n  server { access_log off; }\n}\n"},
		{"at the top of the main file", "# mine\nuser x;\nevents { }\n", remedy("set", "directive", "worker_rlimit_nofile", "value", "9000"),
			"# mine\nuser x;\nworker_rlimit_nofile 9000;\nevents { }\n"},
		{"before everything", "# mine\nevents { }\n", remedy("set", "directive", "worker_processes", "value", "auto"),
			"worker_processes auto;\n# mine\nevents { }\n"},
		{"into an empty block", "events { }\n", remedy("set", "directive", "worker_connections", "value", "99"),
			"events {\n    worker_connections 99;\n}\n"},
		{"a fallback as the app's location", "http {\n  server {\n    location / {\n      # to the app\n      proxy_pass http://a;\n    }\n  }\n}\n",
			remedy("static files", "path", "/s"),
			"http {\n  server {\n    location / {\n      # to the app\n      proxy_pass http://a;\n    }\n    location @iikanji_app {\n        proxy_pass http://a;\n    }\n    location /s/ {\n        root " + public + ";\n        disable_symlinks on from=$document_root;\n        try_files $uri @iikanji_app;\n        error_page 405 = @iikanji_app;\n        types {\n            text/css css;\n        }\n    }\n  }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, err := nginxedit.Load("/c/nginx.conf", oneFile(c.before))
			if err != nil {
				t.Fatal(err)
			}
			if err := editTree(t, tree, c.r); err != nil {
				t.Fatal(err)
			}
			got := tree.Root().String()
			if got != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			again, err := nginxedit.Load("/c/nginx.conf", oneFile(got))
			if err != nil {
				t.Fatal(err)
			}
			if err := editTree(t, again, c.r); err == nil && len(again.Changed()) > 0 {
				t.Errorf("a second time it becomes\n%s", again.Root())
			}
		})
	}
}

// TestAlready: nothing changes if the configuration has the effect already, in
// other words.
func TestAlready(t *testing.T) {
	for _, c := range []struct {
		text string
		r    iikanji.Remedy
	}{
		{"http { client_body_buffer_size 262144; }", remedy("set", "directive", "client_body_buffer_size", "value", "256k")},
		{"http { server { sendfile on; } server { sendfile on; } }", remedy("set", "directive", "sendfile", "value", "on")},
		{"http { }", remedy("set", "directive", "etag", "value", "on")},
		{"http { keepalive_timeout 75000ms; }", remedy("set", "directive", "keepalive_timeout", "value", "75")},
		{"http { client_body_buffer_size 1m; proxy_buffers 64 32k; proxy_buffer_size 32k; }", remedy("buffers", "body", "900k", "answer", "2m", "header", "16k")},
		{"http { access_log /a combined flush=1000ms buffer=65536; access_log off; access_log syslog:server=a; }", remedy("access log", "log", "buffered")},
		{"http { gzip on; gzip_comp_level 6; gzip_types *; gzip_min_length 1k; gzip_vary off; gzip_proxied any; }", remedy("gzip")},
		{"worker_rlimit_nofile 65536; events { worker_connections 4096; } http { }", remedy("workers", "connections", "4096")},
		{"http { upstream a { server b; keepalive 8; } server { proxy_http_version 1.1; proxy_set_header Connection ''; location / { proxy_pass http://a; } } }",
			remedy("upstream keepalive", "keepalive", "8")},
		{"http { server { location / { root " + public + "; try_files $uri @app; } location @app { proxy_pass http://a; } } }", remedy("static files", "path", "/assets")},
		{"http { server { location / { proxy_pass http://a; } location /assets { root " + public + "; } } }", remedy("static files", "path", "/assets")},
		{"http { expires 1h; server { location / { proxy_pass http://a; } } }", remedy("expires", "path", "/x/", "expires", "1h")},
	} {
		tree, err := nginxedit.Load("/c/nginx.conf", oneFile(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := editTree(t, tree, c.r); err != nil && !errors.Is(err, change.ErrNothing) {
			t.Errorf("%v: %v", c.r.Args, err)
		}
		if got := tree.Root().String(); got != c.text {
			t.Errorf("%v wrote\n%s\nover\n%s", c.r.Args, got, c.text)
		}
	}
}

// FuzzEdit: for any text, an edit does not panic, its result parses, and a
// second edit changes nothing.
func FuzzEdit(f *testing.F) {
	rs := []iikanji.Remedy{remedy("upstream keepalive", "keepalive", "4"), remedy("static files", "path", "/s/"), remedy("gzip"),
		remedy("set", "directive", "access_log", "value", "off"), remedy("set", "directive", "worker_processes", "value", "4")}
	for _, name := range slices.Sorted(maps.Keys(sameActs)) {
		r := sameActs[name].r
		r.Args = maps.Clone(r.Args)
		delete(r.Args, "server")
		rs = append(rs, r)
	}
	f.Add(fmt.Sprintf(siteConf, "/d", 1, "a"), byte(0))
	f.Add("http{"+fmt.Sprintf(serverConf, "/d", 1, "a:1")+"}", byte(0))
	f.Add("http{"+fmt.Sprintf(serverConf, "/d", 1, "a:1")+"}", byte(1))
	f.Add("events{}\nhttp{gzip off;#\n}", byte(2))
	f.Add("#a\nhttp{access_log x;#b\n}#c", byte(3))
	for i := range rs { // directives without their arguments, which nginx refuses
		f.Add("http{access_log;upstream a{server;}server{listen;location{proxy_pass;proxy_pass http://a;}}}", byte(i))
		f.Add("http{access_log;upstream a{server;}server{listen 80;location /{proxy_pass http://a;}}}", byte(i))
	}
	for i := range rs {
		for _, files := range shapes {
			f.Add(files["conf/nginx.conf"], byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, which byte) {
		r := rs[int(which)%len(rs)]
		edit := func(text string) (string, error) {
			tree, err := nginxedit.Load("/c/nginx.conf", oneFile(text))
			if err != nil {
				return "", err
			}
			if err := editTree(t, tree, r); err != nil {
				return "", err
			}
			tree.Flat()
			return tree.Root().String(), nil
		}
		once, err := edit(text)
		if err != nil {
			return
		}
		if _, err := nginx.Parse("f", once); err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		if twice, err := edit(once); err == nil && twice != once {
			t.Fatalf("%q\nonce %q\ntwice %q", text, once, twice)
		}
	})
}
