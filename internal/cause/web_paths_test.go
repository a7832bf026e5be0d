package cause_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	sites "github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/nginxconf"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// plainSite is a site whose nginx passes all requests to an app, with files that the
// app serves. nginx only reads its configuration here.
func plainSite(t *testing.T) *sites.Site {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	dir := t.TempDir()
	conf := strings.ReplaceAll(`pid DIR/pid; error_log DIR/error.log; events { worker_connections 64; }
http { access_log off; client_body_temp_path DIR/tmp; proxy_temp_path DIR/tmp; fastcgi_temp_path DIR/tmp; uwsgi_temp_path DIR/tmp; scgi_temp_path DIR/tmp;
server { listen 127.0.0.1:1; location / { proxy_pass http://127.0.0.1:2; } } }
`, "DIR", dir)
	for name, text := range map[string]string{"conf/nginx.conf": conf, "public/x.js": "1", "public/assets/x.js": "1", "public/a/7/x.js": "1", "public/a b/x.js": "1"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &sites.Site{Roots: []string{dir}, Services: map[string]sites.Service{"nginx": {
		Config: filepath.Join(dir, "conf/nginx.conf"), Public: filepath.Join(dir, "public"),
		Checks: true, Running: changetest.Running{OnCheck: func(ctx context.Context, path string) error {
			out, err := exec.CommandContext(ctx, program, "-t", "-q", "-p", dir, "-c", path, "-e", filepath.Join(dir, "error.log")).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}}}}}
}

// proxied is a configuration that passes all requests to the app.
func (s *scene) proxied(t *testing.T) *scene {
	t.Helper()
	return s.nginx(t, "http { server { location / { proxy_pass http://app; } } }")
}

// TestPathsCanBeSaid checks, for unusual names of routes, that the kind nginxconf
// accepts the remedies of the rules, and that they affect only that route. If it would
// not, the remedy must be for the app.
func TestPathsCanBeSaid(t *testing.T) {
	tier.Slow(t)
	files := func(key, url string) *scene {
		a := change(script, func(a *fact.Answer) { a.URL, a.File = url, "/srv/public"+url })
		return newScene().route(key, url, 500, 40000, iikanji.WebRow{}).with("nginx", string(fact.TopicSeries), key, assets).with("nginx", string(fact.TopicAnswer), key, a)
	}
	data := func(key, url string) *scene {
		return newScene().route(key, url, 1000, 16000, iikanji.WebRow{}).with("nginx", string(fact.TopicSeries), key, icons)
	}
	pages := func(key string) *scene {
		a := change(trend, func(a *fact.Answer) {
			a.URL, a.Encoding, a.Took = strings.TrimPrefix(key, "GET "), "gzip", 60*time.Millisecond
		})
		return newScene().route(key, a.URL, 1000, 3000, iikanji.WebRow{}).with("nginx", string(fact.TopicAnswer), key, a).with("nginx", string(fact.TopicSeries), key, all)
	}
	for _, c := range []struct {
		in   *scene
		code iikanji.Code
		path string // "" for a remedy of the app
	}{
		{files("GET /assets/:file.js", "/assets/x.js"), "WEB106", "/assets/"},
		{files("GET /x.js", "/x.js"), "WEB106", "/x.js"},
		{files("GET /:file.js", "/x.js"), "WEB106", "/:file.js"},
		{files("GET /a/:id/x.js", "/a/7/x.js"), "WEB106", "/a/:id/x.js"},
		{files("GET /a/:id/:file.js", "/a/7/x.js"), "WEB106", "/a/:id/:file.js"},
		{files("GET /a%20b/x.js", "/a%20b/x.js"), "WEB106", ""},
		{files("GET /a//x.js", "/a//x.js"), "WEB106", "/a/"},
		{data("GET /icon/:uuid", "/icon/7"), "WEB106", "/icon/:uuid"},
		{data("GET /icon/:id/", "/icon/7/"), "WEB106", "/icon/:id/"},
		{data("GET /icon/:id.webm", "/icon/7.webm"), "WEB106", "/icon/:id.webm"},
		{data("GET /icon/@:name", "/icon/@a"), "WEB106", ""},
		{data("GET /icon/**", "/icon/1/2/3/4/5/6/7/8"), "WEB106", ""},
		{pages("GET /"), "WEB107", "/"},
		{pages("GET /api/trend"), "WEB107", "/api/trend"},
		{pages("GET /api/trend/"), "WEB107", "= /api/trend/"},
		{pages("GET /api//trend"), "WEB107", ""},
		{pages("GET /%E3%81%82"), "WEB107", ""},
		{files("GET /assets/:file.js", "/assets/x.js").proxied(t), "WEB101", "/assets"},
		{files("GET /x.js", "/x.js").proxied(t), "WEB101", "/"},
		{files("GET /a/:id/x.js", "/a/7/x.js").proxied(t), "WEB101", "/a"},
		{files("GET /a%20b/x.js", "/a%20b/x.js").proxied(t), "WEB101", "/"},
		{files("GET /:id/x.js", "/7/x.js").proxied(t), "WEB101", "/"},
	} {
		route := c.in.Profiles[0].Rows[0].Key
		f, ok := found(t, c.in.Input, c.code)
		if !ok {
			t.Errorf("%s %s is not found", c.code, route)
			continue
		}
		for i, r := range f.Remedies {
			if r.Kind != "nginxconf" {
				if i == 0 && c.path != "" {
					t.Errorf("%s %s: %+v, want the path %s", c.code, route, r, c.path)
				}
				continue
			}
			if r.Args["path"] != c.path {
				t.Errorf("%s %s: path %q, want %q", c.code, route, r.Args["path"], c.path)
			}
			if _, err := (nginxconf.Kind{}).Plan(t.Context(), plainSite(t), r); err != nil && !errors.Is(err, sites.ErrNothing) {
				t.Errorf("%s %s: %v: %v", c.code, route, r.Args, err)
			}
		}
	}
}
