package nginxconf

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// askHost requests a path of a host. Any status is accepted.
func (s *testSite) askHost(t *testing.T, host, path string, header http.Header) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host, req.Close = host, true
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// echoesHost is an app that answers with the Host that it receives.
var echoesHost = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "app %s %s conn=%q", r.Host, r.URL.Path, r.Header.Get("Connection"))
})

// twins are two servers whose locations come from one file.
const twins = `server {
	listen 127.0.0.1:%[2]d;
	server_name a.test;
	include %[1]s/conf/locations.inc;
}
server {
	listen 127.0.0.1:%[2]d;
	server_name b.test;%[3]s
	include %[1]s/conf/locations.inc;
}
`

// TestSharedLocations: an edit for one server is refused if it would change a
// file that another server includes too.
func TestSharedLocations(t *testing.T) {
	tier.Slow(t)
	s := startSite(t, echoesHost, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": strings.Replace(twins, "%[3]s", "#%[3]s", 1),
		"conf/locations.inc": "location / {\n\tproxy_pass http://%[3]s;\n\tproxy_set_header Host $host; # %[1]s %[2]d\n}\n", "public/assets/a.txt": "from disk"})
	for _, r := range []iikanji.Remedy{
		remedy("static files", "path", "/", "server", "a.test"),
		remedy("expires", "path", "/*", "expires", "1h", "server", "a.test"),
		remedy("cache", "path", "/*", "valid", "1s", "server", "a.test"),
	} {
		if _, err := change.Plan(t.Context(), s.open(s.dir), r); err == nil || !strings.Contains(err.Error(), "locations.inc, which is included in 2 places") {
			t.Errorf("%v: %v", r.Args, err)
		}
	}
	apply(t, s, remedy("static files", "path", "/assets/", "server", "a.test")) // locations of a.test's own
	apply(t, s, remedy("cache", "path", "/x", "valid", "1s", "server", "a.test"))
	apply(t, s, remedy("upstream keepalive", "keepalive", "8")) // the same for both
	for _, host := range []string{"a.test", "b.test"} {
		if _, got := s.askHost(t, host, "/x", nil); got != "app "+host+` /x conn=""` {
			t.Errorf("%s answers %q", host, got)
		}
	}
	if status, got := s.askHost(t, "b.test", "/assets/a.txt", nil); status != 200 || !strings.HasPrefix(got, "app b.test") {
		t.Errorf("the other server answers %d %q", status, got)
	}
}

// TestSharedPass: if a file with a proxy_pass is included in several locations,
// each of them sends the same to the app as before.
func TestSharedPass(t *testing.T) {
	s := startSite(t, echoesHost, map[string]string{"conf/nginx.conf": siteConf, "conf/proxy.inc": "proxy_pass http://%[3]s; # %[1]s %[2]d\n", "conf/sites/a.conf": `server {
	listen 127.0.0.1:%[2]d;
	server_name a.test; # %[3]s
	location / { include %[1]s/conf/proxy.inc; }
	location /named { proxy_set_header Host named.test; include %[1]s/conf/proxy.inc; }
}
server {
	listen 127.0.0.1:%[2]d;
	server_name b.test;
	location / { include %[1]s/conf/proxy.inc; }
}
`})
	ask := func() string {
		var all []string
		for _, host := range []string{"a.test", "b.test"} {
			for _, path := range []string{"/x", "/named"} {
				_, got := s.askHost(t, host, path, nil)
				all = append(all, strings.Replace(got, `"close"`, `""`, 1))
			}
		}
		return strings.Join(all, "\n")
	}
	before, dials := ask(), s.dials.Load()
	apply(t, s, remedy("upstream keepalive", "keepalive", "8"))
	if got := ask(); got != before {
		t.Errorf("the app is asked\n%s\nand was asked\n%s", got, before)
	}
	if n := s.dials.Load() - dials; n != 1 {
		t.Errorf("4 requests took %d connections", n)
	}
}

// TestSharedPassDiffers: a location that is included in two servers cannot have
// the Host of both.
func TestSharedPassDiffers(t *testing.T) {
	s := startSite(t, echoesHost, map[string]string{"conf/nginx.conf": siteConf, "conf/locations.inc": "location / { proxy_pass http://%[3]s; } # %[1]s %[2]d\n",
		"conf/sites/a.conf": strings.Replace(twins, "%[3]s", "\n\tproxy_set_header Host named.test; # %[3]s", 1)})
	c, err := change.Plan(t.Context(), s.open(s.dir), remedy("upstream keepalive", "keepalive", "8"))
	if err == nil || !strings.Contains(err.Error(), "shares directives with others") {
		t.Errorf("%v", err)
		if c != nil {
			t.Log(change.Diff(c))
		}
	}
}
