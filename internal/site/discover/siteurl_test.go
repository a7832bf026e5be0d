package discover

import (
	"net/url"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/machine/process"
	"github.com/iikanji/iikanji/internal/site/target"
)

// TestSiteURL: the URL has the scheme, the port and the name by which the server block of
// the site is reached.
func TestSiteURL(t *testing.T) {
	const app = " location / { proxy_pass http://127.0.0.1:3000; } "
	for name, c := range map[string]struct{ conf, given, want string }{
		"plain":                     {"server { listen 8080; server_name shop.example;" + app + "}", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		"TLS":                       {"server { listen 8443 ssl; server_name shop.example;" + app + "}", "http://127.0.0.1:8443", "https://127.0.0.1:8443"},
		"TLS at its own port":       {"server { listen [::]:443 ssl http2; listen 443 ssl;" + app + "}", "http://127.0.0.1:443", "https://127.0.0.1"},
		"TLS by the old directive":  {"server { listen 8443; ssl on;" + app + "}", "http://127.0.0.1:8443", "https://127.0.0.1:8443"},
		"both at one port":          {"server { listen 8080; listen 8443 ssl;" + app + "}", "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		"no listen":                 {"server { server_name shop.example;" + app + "}", "http://127.0.0.1", "http://127.0.0.1"},
		"another default server":    {"server { listen 8443 ssl default_server; return 444; } server { listen 8443 ssl; server_name *.shop.example www.shop.example;" + app + "}", "http://127.0.0.1:8443", "https://www.shop.example:8443"},
		"the first is the default":  {"server { listen 80; return 444; } server { listen 80; server_name shop.example;" + app + "}", "http://127.0.0.1", "http://shop.example"},
		"the site is the default":   {"server { listen 80; server_name shop.example;" + app + "} server { listen 80; server_name b.example; return 444; }", "http://127.0.0.1", "http://127.0.0.1"},
		"a name is given":           {"server { listen 80; return 444; } server { listen 80; server_name shop.example;" + app + "}", "http://b.example", "http://b.example"},
		"no plain name":             {"server { listen 80; return 444; } server { listen 80; server_name ~^shop;" + app + "}", "http://127.0.0.1", "http://127.0.0.1"},
		"the port 80 redirects":     {"server { listen 80; return 301 https://$host$request_uri; } server { listen 443 ssl; server_name shop.example;" + app + "}", "http://127.0.0.1", "https://127.0.0.1"},
		"a redirect to another URL": {"server { listen 80; return 301 https://$host$request_uri; }", "http://127.0.0.1", "http://127.0.0.1"},
		"a page beside a redirect":  {"server { listen 80; location /a { return 301 https://$host/; }" + app + "} server { listen 443 ssl;" + app + "}", "http://127.0.0.1", "http://127.0.0.1"},
	} {
		conf, err := nginx.SplitDump("# configuration file /etc/nginx/nginx.conf:\nevents {}\nhttp { " + c.conf + " }\n").Config()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u, err := url.Parse(c.given)
		if err != nil {
			t.Fatal(err)
		}
		port := u.Port()
		if port == "" {
			port = "80"
		}
		p := &process.Process{Args: []string{"nginx"}}
		others := []string{"http://127.0.0.1:9000", "http://localhost"}
		s := &search{others: others, Options: Options{URL: c.given}, host: host.Local{}, m: &process.Machine{}, out: &Found{File: &target.File{URL: c.given}}}
		s.siteURL(&service{proc: p}, &server{conf: conf, port: port})
		if got := s.out.File.URL; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if len(s.others) > 0 {
			t.Errorf("%s: other sites at %q", name, s.others)
		}
	}
}

// TestAnotherSite: a web server of two sites has another URL, and one with several
// sockets for a site has not.
func TestAnotherSite(t *testing.T) {
	conf, err := nginx.SplitDump(`# configuration file /etc/nginx/nginx.conf:
http {
	server { listen 80; listen [::]:80; listen 443 ssl; location / { proxy_pass http://127.0.0.1:3000; } }
	server { listen 81; location / { proxy_pass http://127.0.0.1:3001; } }
	server { listen 82; return 404; }
}
`).Config()
	if err != nil {
		t.Fatal(err)
	}
	site := &server{conf: conf, port: "80"}
	for to, want := range map[string]bool{"http://localhost": false, "http://127.0.0.1:443": false, "http://127.0.0.1:81": true, "http://127.0.0.1:82": false, "http://127.0.0.1:9000": false} {
		if site.another(to) != want {
			t.Errorf("%s is another site: %v", to, !want)
		}
	}
}

// TestSeveralSites: of several sites at one port, the logs and the files are those of the site
// at the URL, and the others are named.
func TestSeveralSites(t *testing.T) {
	const conf = `# configuration file /etc/nginx/nginx.conf:
events {}
http {
	access_log /log/all.log;
	server { listen 8080 default_server; return 404; }
	server { listen 8080; server_name blog.example; access_log /log/blog.log; root /srv/blog; location / { fastcgi_pass unix:/run/fpm.sock; } }
	server { listen 8080; server_name www.shop.example shop.example; root /srv/shop; location / { proxy_pass http://127.0.0.1:3000; } }
	server { listen 8080; server_name api.example; location / { proxy_pass http://127.0.0.1:3001; } }
	server { listen 8080; server_name old.shop.example; location / { proxy_pass http://127.0.0.1:3000; } }
}
`
	c, err := nginx.SplitDump(conf).Config()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ given, url, root, log, first string }{
		{"http://127.0.0.1:8080", "http://blog.example:8080", "/srv/blog", "/log/blog.log", "blog.example, www.shop.example, api.example"},
		{"http://api.example:8080", "http://api.example:8080", "", "/log/all.log", "api.example, blog.example, www.shop.example"},
		{"http://shop.example:8080", "http://shop.example:8080", "/srv/shop", "/log/all.log", "www.shop.example, blog.example, api.example"},
	} {
		s := &search{Options: Options{URL: want.given}, host: host.Local{}, m: &process.Machine{}, out: &Found{File: &target.File{URL: want.given}}}
		site := &server{conf: c, port: "8080"}
		s.siteURL(&service{proc: &process.Process{Args: []string{"nginx"}}}, site)
		if got := s.out.File.URL; got != want.url || site.root() != want.root || site.setting("access_log")[0][0] != want.log {
			t.Errorf("%s: %s, files in %s, log %s", want.given, got, site.root(), site.setting("access_log"))
		}
		if todo := strings.Join(s.out.Todo, ""); !strings.Contains(todo, "("+want.first+")") {
			t.Errorf("%s: to do: %s", want.given, todo)
		}
	}
}
