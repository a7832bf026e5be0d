package nginxconf

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A resetApp answers every GET with the version of its data and the number of the
// request. A POST makes the next version.
type resetApp struct {
	version, asked, resets atomic.Int64
	hold                   atomic.Pointer[chan struct{}] // a reset waits for it after it has made the data
	status                 atomic.Int64                  // of a reset, 0 for 200
}

func (a *resetApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		a.version.Add(1)
		hold := a.hold.Load()
		a.resets.Add(1)
		if hold != nil {
			<-*hold
		}
		if s := a.status.Load(); s != 0 {
			w.WriteHeader(int(s))
		}
		fmt.Fprintf(w, `{"made":%q}`, body)
		return
	}
	if r.URL.Path == "/img/own" {
		w.Header().Set("Cache-Control", "private")
	}
	fmt.Fprintf(w, "%d %d %q", a.version.Load(), a.asked.Add(1), r.Header.Values("Cookie"))
}

// reset sends the request that makes the data anew, and returns its answer.
func (s *testSite) reset(t *testing.T) (status int, body string) {
	t.Helper()
	resp, err := http.Post("http://"+s.address()+"/initialize", "text/plain", strings.NewReader("a=b"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestUntilReset: answers are kept, no client that has the answer of a reset gets an
// answer from before, and a reset that does not end leaves nothing kept.
func TestUntilReset(t *testing.T) {
	tier.Slow(t)
	app := &resetApp{}
	conf := strings.Replace(siteConf, "worker_processes 1", "worker_processes 2", 1)
	s := startSite(t, app, map[string]string{"conf/nginx.conf": conf, "conf/sites/a.conf": serverConf, "public/x": "x"})
	r := remedy("cache until reset", "path", "/img/:id", "reset", "/initialize", "cookies", "ignore")
	r.Proof = []iikanji.Proof{iikanji.SameForAll, iikanji.Unchanged}
	c := apply(t, s, r)
	if got := fmt.Sprint(c.Weakens); got != "[tested-only]" {
		t.Errorf("it weakens %s", got)
	}
	if _, err := change.Plan(t.Context(), s.open(s.dir), r); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planned again: %v", err)
	}
	r.Args["path"] = "/pictures/"
	r.Args["cookies"] = "personal"
	apply(t, s, r) // a second path has the same generation

	t.Run("kept", func(t *testing.T) {
		for _, path := range []string{"/img/1", "/pictures/1"} {
			first := s.text(t, path, nil)
			for i := range 5 {
				if got := s.text(t, path, http.Header{"Cookie": {fmt.Sprintf("user=%d", i)}}); strings.HasPrefix(path, "/img") && got != first {
					t.Errorf("%s: %s, then %s", path, first, got)
				} else if strings.HasPrefix(path, "/pictures") && !strings.Contains(got, fmt.Sprintf("user=%d", i)) {
					t.Errorf("%s: a client with a cookie got %s", path, got)
				}
			}
			if got := s.text(t, path, nil); got != first {
				t.Errorf("%s: %s, then %s", path, first, got)
			}
		}
		if a, b := s.text(t, "/img/own", nil), s.text(t, "/img/own", nil); a == b {
			t.Error("an answer was kept that the app calls private")
		}
		if a, b := s.text(t, "/other", nil), s.text(t, "/other", nil); a == b {
			t.Error("another path is kept")
		}
	})
	t.Run("resets", func(t *testing.T) { resets(t, app, s) })
	t.Run("failed", func(t *testing.T) {
		for _, status := range []int64{500, 302} {
			app.status.Store(status)
			s.reset(t)
			if a, b := s.text(t, "/img/1", nil), s.text(t, "/img/1", nil); a == b {
				t.Errorf("an answer is kept after a reset with status %d", status)
			}
		}
		app.status.Store(0)
		if status, body := s.reset(t); status != 200 || body != `{"made":"a=b"}` {
			t.Errorf("the reset's answer is %d %q", status, body)
		}
		if a, b := s.text(t, "/img/1", nil), s.text(t, "/img/1", nil); a != b {
			t.Error("no answer is kept after a reset")
		}
	})
	t.Run("abandoned", func(t *testing.T) { abandoned(t, app, s) })
}

// resets makes the data anew while clients read, with two workers of nginx.
func resets(t *testing.T, app *resetApp, s *testSite) {
	end := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if _, err := s.get("/img/1", nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 40 {
		s.reset(t)
		want := fmt.Sprintf("%d ", app.version.Load())
		for range 3 {
			if got := s.text(t, "/img/1", nil); !strings.HasPrefix(got, want) {
				t.Errorf("after the reset to %sa client got %s", want, got)
			}
		}
	}
	close(end)
	readers.Wait()
}

// abandoned hangs up in the middle of a reset, before the app answers.
func abandoned(t *testing.T, app *resetApp, s *testSite) {
	hold := make(chan struct{})
	app.hold.Store(&hold)
	before := app.resets.Load()
	c, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST /initialize HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := servertest.Eventually(func() error {
		if app.resets.Load() == before {
			return errors.New("the reset has not reached the app")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if a, b := s.text(t, "/img/1", nil), s.text(t, "/img/1", nil); a == b {
		t.Error("an answer is kept during a reset")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := servertest.Eventually(func() error { // nginx has seen it, and logs "client closed request"
		text, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
		if err == nil && !strings.Contains(string(text), `POST /initialize HTTP/1.1" 499 `) {
			err = errors.New("nginx has not noticed")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	app.hold.Store(nil)
	close(hold)
	if a, b := s.text(t, "/img/1", nil), s.text(t, "/img/1", nil); a == b {
		t.Error("an answer is kept after an abandoned reset")
	}
}

// TestUntilResetRefused: nothing is kept where the generation could not be read, where it
// would let clients in, and where the data is made anew past nginx.
func TestUntilResetRefused(t *testing.T) {
	const server = `server {
	listen 127.0.0.1:%[2]d; # %[1]s
	server_name %[4]sa;
	location = /whoami { internal; return 204; }
	location /asked { auth_request /whoami; proxy_pass http://%[3]s; }
	location /any { satisfy any; deny 10.0.0.1; proxy_pass http://%[3]s; }
	location /framed { add_after_body /foot; proxy_pass http://%[3]s; }
	location / { proxy_pass http://%[3]s; }
}
server {
	listen unix:%[1]s/u.sock;
	server_name unix;
	location / { proxy_pass http://%[3]s; }
}
server {
	listen 127.0.0.1:%[2]d;
	server_name moved;
	if ($arg_a) { return 404; }
	location / { proxy_pass http://%[3]s; }
}
server {
	listen 127.0.0.1:%[2]d;
	server_name ~^x;
	location / { proxy_pass http://%[3]s; }
}
server {
	listen 127.0.0.1:%[2]d;
	server_name guarded;
	deny 10.0.0.1;
	location / { proxy_pass http://%[3]s; }
}
`
	s := startSite(t, echoesClient, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": server})
	site := s.open(s.dir)
	for _, c := range []struct{ path, reset, server, want string }{
		{"/asked/a", "/initialize", "a", "auth_request is in effect"},
		{"/img/1", "/asked/a", "a", "auth_request is in effect"},
		{"/any/a", "/initialize", "a", "satisfy any"},
		{"/img/1", "/framed/a", "a", "add_after_body"},
		{"/img/1", "/initialize", "unix", "no address with plain HTTP/1"},
		{"/img/1", "/initialize", "moved", "has if"},
		{"/img/1", "/initialize", "~^x", "want a plain name"},
		{"/img/1", "/initialize", "guarded", "deny is in effect"},
		{"/initialize", "/initialize", "a", "another path"},
	} {
		_, err := change.Plan(t.Context(), site, remedy("cache until reset", "path", c.path, "reset", c.reset, "server", c.server))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s in %s: %v, want %q", c.path, c.reset, c.server, err, c.want)
		}
	}
	site.Target.Bench.Resets = true
	if _, err := change.Plan(t.Context(), site, remedy("cache until reset", "path", "/img/1", "reset", "/initialize", "server", "a")); err == nil || !strings.Contains(err.Error(), "put back by a command") {
		t.Errorf("data that a command puts back: %v", err)
	}
}

func TestLoopbackOf(t *testing.T) {
	for listen, want := range map[string]string{"80": "127.0.0.1:80", "*:8080": "127.0.0.1:8080", "0.0.0.0:81": "127.0.0.1:81", "[::]:82": "[::1]:82", "[::1]": "[::1]:80",
		"10.0.0.7": "10.0.0.7:80", "10.0.0.7:83": "10.0.0.7:83", "localhost:84": "localhost:84"} {
		if got := loopbackOf(listen); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}
