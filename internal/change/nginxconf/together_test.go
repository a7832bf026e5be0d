package nginxconf

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestTogether: the acts of a tuned site do not disturb each other, in any order.
func TestTogether(t *testing.T) {
	tier.Slow(t)
	acts := []iikanji.Remedy{
		remedy("upstream keepalive", "keepalive", "32"),
		remedy("static files", "path", "/assets"),
		remedy("cache", "path", "/api/trend", "valid", "100s", "cookies", "ignore", "stale", "updating"),
		remedy("expires", "path", "/api/isu/:id/icon", "expires", "1h", "cache-control", "private"),
		remedy("access log", "log", "off"),
	}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}} {
		var asked atomic.Int64
		app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/trend" {
				asked.Add(1)
			}
			fmt.Fprintf(w, "%s%s by %q conn=%q", r.Host, r.URL.Path, r.Header.Values("Cookie"), r.Header.Get("Connection"))
		})
		s := startSite(t, app, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": serverConf, "public/assets/a.txt": "from disk"})
		for _, i := range order {
			c := apply(t, s, acts[i])
			if strings.Contains(c.Says, "apart for each") {
				t.Errorf("the default key is complete: %s", c.Says)
			}
		}
		dials := s.dials.Load()
		for i := range 10 {
			host := "a.test"
			if i%2 == 1 {
				host = "b.test"
			}
			for path, want := range map[string]string{"/api/trend": host + `/api/trend by [] conn=""`, "/x": host + `/x by ["user=1"] conn=""`, "/assets/a.txt": "from disk"} {
				if _, got := s.askHost(t, host, path, http.Header{"Cookie": {"user=1"}}); got != want {
					t.Errorf("%v: %s%s is answered %q, want %q", order, host, path, got, want)
				}
			}
		}
		resp, err := s.get("/api/isu/12/icon", nil)
		if err != nil || strings.Join(resp.Header["Cache-Control"], ", ") != "max-age=3600, private" {
			t.Errorf("%v: the icon: %v %v", order, resp, err)
		}
		if n := asked.Load(); n != 2 {
			t.Errorf("%v: requests to two hosts asked the app %d times", order, n)
		}
		if n := s.dials.Load() - dials; n > 3 { // one of each worker and one that renews in the background
			t.Errorf("%v: kept alive, it took %d connections", order, n)
		}
	}
}
