package nginxconf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// echoesClient is an app that answers with what it receives about the client.
var echoesClient = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s%s asked as %q", r.Method, r.Host, r.URL.Path, r.Header.Values("X-User"))
})

// TestCacheTellsApart: no client gets an answer to a client that the app can
// tell apart, by any variable that nginx sends.
func TestCacheTellsApart(t *testing.T) {
	tier.Slow(t)
	const server = `map $http_x_team $team { default "no team"; ~. "team $http_x_team"; }
server {
	listen 127.0.0.1:%[2]d; # %[1]s
	location / { proxy_set_header X-User $arg_none$http_x_who; proxy_pass http://%[3]s; }
	location /key { proxy_set_header X-User "$http_x_api_key"; proxy_pass http://%[3]s; }
	location /team { proxy_set_header X-User "${team}"; proxy_pass http://%[3]s; }
	location /session { proxy_set_header X-User $cookie_session; proxy_pass http://%[3]s; }
}
`
	s := startSite(t, echoesClient, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": server})
	for path, header := range map[string]string{"/who": "X-Who", "/key": "X-Api-Key", "/team": "X-Team", "/session": "Cookie"} {
		apply(t, s, remedy("cache", "path", path, "valid", "100s", "cookies", "ignore"))
		for _, user := range []string{"", "session=alice", "session=bob", "", "session=bob", "session=alice"} {
			want := user
			switch {
			case user != "" && path == "/team":
				want = "team " + user
			case path == "/session":
				want = strings.TrimPrefix(user, "session=")
			}
			_, got := s.askHost(t, "a.test", path, http.Header{header: {user}})
			if _, as, _ := strings.Cut(got, " asked as "); want != "" && as != fmt.Sprintf("[%q]", want) || strings.Contains(got, "alice") != strings.Contains(user, "alice") || strings.Contains(got, "bob") != strings.Contains(user, "bob") {
				t.Errorf("%s: %q got %s", path, user, got)
			}
		}
	}
}

// TestCacheRefusesPersonal: no answers are kept where nginx authenticates
// clients, and where the app receives something different in each request.
func TestCacheRefusesPersonal(t *testing.T) {
	const server = `server {
	listen 127.0.0.1:%[2]d; # %[1]s
	location = /whoami { internal; return 204; }
	location /asked { auth_request /whoami; proxy_pass http://%[3]s; }
	location /password { auth_basic all; auth_basic_user_file none; proxy_pass http://%[3]s; }
	location /traced { proxy_set_header X-Id $request_id; proxy_pass http://%[3]s; }
	location ~ ^/(captured)$ { proxy_set_header X-Name $1; proxy_pass http://%[3]s; }
	location /free { auth_basic off; proxy_pass http://%[3]s; }
}
`
	s := startSite(t, echoesClient, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": server})
	for path, why := range map[string]string{"/asked": "auth_request", "/password": "auth_basic", "/traced": "$request_id", "/captured": "captures"} {
		if _, err := change.Plan(t.Context(), s.open(s.dir), remedy("cache", "path", path, "valid", "1s")); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", path, err, why)
		}
	}
	apply(t, s, remedy("cache", "path", "/free", "valid", "1s"))
}
