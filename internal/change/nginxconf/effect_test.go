package nginxconf

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/nginxedit"
	"github.com/iikanji/iikanji/internal/lang/nginx"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A clockApp answers with the time, the number of the request and the client's headers.
type clockApp struct {
	asked   atomic.Int64
	release chan struct{} // if not nil, answers wait until it is closed
}

func (a *clockApp) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := a.asked.Add(1)
	if a.release != nil {
		<-a.release
	}
	switch r.URL.Path {
	case "/private":
		w.Header().Set("Cache-Control", "private")
	case "/login":
		http.SetCookie(w, &http.Cookie{Name: "session", Value: strconv.FormatInt(n, 10)})
	case "/long":
		w.Header().Set("Cache-Control", "max-age=3600")
	}
	fmt.Fprintf(w, "%d %d %s %s %q", time.Now().UnixMilli(), n, r.Method, r.Header.Get("Authorization"), r.Header.Values("Cookie"))
}

func startClock(t *testing.T, app *clockApp) *testSite {
	return startSite(t, app, map[string]string{"conf/nginx.conf": siteConf, "conf/sites/a.conf": serverConf, "public/x": "x"})
}

// text is the body of an answer.
func (s *testSite) text(t *testing.T, path string, header http.Header) string {
	t.Helper()
	resp, err := s.get(path, header)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// TestCacheAsksOnce: of simultaneous requests, one reaches the app.
func TestCacheAsksOnce(t *testing.T) {
	app := &clockApp{release: make(chan struct{})}
	s := startClock(t, app)
	apply(t, s, remedy("cache", "path", "/x", "valid", "100s")) // a slice may end once in between, but not twice
	var conns []net.Conn
	for range 32 {
		c, err := net.Dial("tcp", s.address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	if err := servertest.Eventually(func() error {
		if app.asked.Load() == 0 {
			return errors.New("nothing reached the app")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	close(app.release)
	for _, c := range conns {
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	if n := app.asked.Load(); n > 2 {
		t.Errorf("32 requests at once asked the app %d times", n)
	}
	if s.text(t, "/y", nil); app.asked.Load() > 3 {
		t.Error("another path asked more than once")
	}
}

// TestCacheIsPersonal: a request with a cookie or a password gets an answer of
// its own, and no answer is kept if the app forbids it.
func TestCacheIsPersonal(t *testing.T) {
	app := &clockApp{}
	s := startClock(t, app)
	for _, path := range []string{"/x", "/private", "/login", "/long"} {
		apply(t, s, remedy("cache", "path", path, "valid", "100s"))
	}
	s.text(t, "/x", nil)
	for i := range 6 {
		user := fmt.Sprintf("user=%d", i)
		if got := s.text(t, "/x", http.Header{"Cookie": {user}}); !strings.Contains(got, `"`+user+`"`) {
			t.Fatalf("%s got %s", user, got)
		}
		if got := s.text(t, "/x", http.Header{"Authorization": {user}}); !strings.Contains(got, " "+user+" ") {
			t.Fatalf("%s got %s", user, got)
		}
		if got := s.text(t, "/x", nil); strings.Contains(got, "user=") {
			t.Fatalf("a client without credentials got %s", got)
		}
	}
	for _, path := range []string{"/private", "/login"} {
		if a, b := s.text(t, path, nil), s.text(t, path, nil); a == b {
			t.Errorf("%s was kept, which the app forbade", path)
		}
	}
	req, err := http.NewRequest("POST", "http://"+s.address()+"/x", strings.NewReader("a"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); !strings.Contains(string(b), " POST ") {
		t.Errorf("a POST got %s", b)
	}
}

// TestCacheIgnoresCookies: all clients get the same answer, the app receives no
// cookie, and no client gets the cookie of another one: an answer that sets a
// cookie is not kept.
func TestCacheIgnoresCookies(t *testing.T) {
	tier.Slow(t)
	app := &clockApp{}
	s := startClock(t, app)
	apply(t, s, remedy("cache", "path", "/x", "valid", "100s", "cookies", "ignore"))
	apply(t, s, remedy("cache", "path", "/login", "valid", "100s", "cookies", "ignore"))
	for path, cookies := range map[string]bool{"/x": false, "/login": true} {
		different := map[string]bool{}
		for i := range 20 {
			resp, err := s.get(path, http.Header{"Cookie": {fmt.Sprintf("user=%d", i)}})
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(resp.Body)
			different[string(b)] = true
			if strings.Contains(string(b), "user=") || (resp.Header.Get("Set-Cookie") != "") != cookies {
				t.Fatalf("%s: got %s with %v", path, b, resp.Header)
			}
		}
		if !cookies && len(different) > 2 { // a slice may end once in between
			t.Errorf("20 users got %d answers", len(different))
		}
		if cookies && len(different) != 20 {
			t.Errorf("an answer that sets a cookie was kept: %d answers", len(different))
		}
	}
	if got := s.text(t, "/x", http.Header{"Authorization": {"me"}}); !strings.Contains(got, " me ") {
		t.Errorf("with a password one got %s", got)
	}
}

// TestCacheExpires: when a request is sent, its answer is not older than allowed,
// whatever headers the app sends. nginx's own whole seconds would allow two.
func TestCacheExpires(t *testing.T) {
	tier.Slow(t)
	app := &clockApp{}
	s := startClock(t, app)
	apply(t, s, remedy("cache", "path", "/long", "valid", "500ms"))
	seen, hits, last := 0, 0, ""
	for end := time.Now().Add(time.Minute); seen < 4 && time.Now().Before(end); {
		sent := time.Now().UnixMilli()
		got := s.text(t, "/long", nil)
		at, _, _ := strings.Cut(got, " ")
		made, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if age := sent - made; age > 500+250 { // nginx reads the clock once for all events that are ready
			t.Fatalf("an answer was %d ms old", age)
		}
		if got == last {
			hits++
		} else {
			seen++
		}
		last = got
	}
	if seen < 4 || hits == 0 {
		t.Errorf("%d answers were seen, %d of them again: want both", seen, hits)
	}
}

// A timeSlice is one line of a map from the clock to slices.
type timeSlice struct {
	pattern nginx.Pattern
	re      *regexp.Regexp
	rest    string // of the value, after the part that the expression names
}

// slicesOf are the lines of the map of a slicing. Each expression is compiled once.
func slicesOf(t *testing.T, sl nginxedit.Slice) (all []timeSlice) {
	t.Helper()
	m := sl.Block()
	for _, d := range m.Block.Items[1:] {
		p := nginx.Pattern{How: "~", What: strings.TrimPrefix(d.Name(), "~")}
		re, err := regexp.Compile(p.What)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, timeSlice{p, re, d.Arg(0)[len("${iikanji_time}"):]})
	}
	return all
}

// TestSlices: the expressions divide the clock into slices of each length.
func TestSlices(t *testing.T) {
	for _, want := range []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 50 * time.Second, 100 * time.Second} {
		sl := nginxedit.SliceOf(want + want/2)
		if sl.Length != want {
			t.Fatalf("for %v the slice is %v", want+want/2, sl.Length)
		}
		lines, asked := slicesOf(t, sl), 0
		of := func(ms int64) string {
			clock := fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
			asked++
			for _, l := range lines {
				found := l.re.FindStringSubmatch(clock)
				if asked%100 == 1 { // what plans rest on, which compiles the expression each time
					if ok, err := l.pattern.Matches(clock); err != nil || ok != (found != nil) {
						t.Fatalf("%s: %s matches: %v, %v", l.pattern.What, clock, ok, err)
					}
				}
				if found != nil {
					return found[1] + l.rest
				}
			}
			t.Fatalf("%v: no slice for %s", want, clock)
			return ""
		}
		step := max(1, want.Milliseconds()/7)
		for ms := int64(1_699_999_900_000); ms < 1_700_000_400_000; ms += max(step, 211) {
			begin := ms / want.Milliseconds() * want.Milliseconds()
			if of(ms) != of(begin) || of(ms) == of(begin-1) {
				t.Fatalf("%v: %d is in slice %s, its begin in %s and what was before in %s", want, ms, of(ms), of(begin), of(begin-1))
			}
		}
	}
}

// TestGzipStatic: a compressed copy expands to its file, and only clients that
// accept it receive it.
func TestGzipStatic(t *testing.T) {
	s := newTestSite(t)
	plain := s.body(t, "/ready/words.txt")
	c := apply(t, s, remedy("gzip static", "path", "/ready"))
	if d := change.Diff(c); strings.ContainsRune(d, 0) || !strings.Contains(d, "Binary files") {
		t.Errorf("the diff shows bytes:\n%q", d)
	}
	resp, err := s.get("/ready/words.txt", http.Header{"Accept-Encoding": {"gzip"}})
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Vary") != "Accept-Encoding" || resp.Header.Get("Content-Type") != "text/plain" && resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Fatalf("%v %v", resp, err)
	}
	r, err := gzip.NewReader(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != plain {
		t.Errorf("expanded it is %q: %v", got, err)
	}
	if got := s.body(t, "/ready/words.txt"); got != plain {
		t.Errorf("without asking for it one gets %q", got)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "public/ready/words.txt"), []byte(plain+plain), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := change.Plan(t.Context(), s.open(s.dir), remedy("gzip static", "path", "/ready")); err != nil || len(c.Do) != 2 {
		t.Errorf("after the file changed: %v", err)
	}
}

// TestExpiresKeepsHeaders: a header added in a location hides those outside;
// they are sent nevertheless.
func TestExpiresKeepsHeaders(t *testing.T) {
	s := startSite(t, &clockApp{}, map[string]string{"conf/nginx.conf": head + `add_header X-Outer "1; 2" always;
	server { listen 127.0.0.1:%[2]d; location / { proxy_pass http://%[3]s; } } }`, "run/x": ""})
	apply(t, s, remedy("expires", "path", "/a/", "expires", "1h", "cache-control", "public, immutable"))
	resp, err := s.get("/a/b", nil)
	if err != nil || resp.Header.Get("X-Outer") != "1; 2" || strings.Join(resp.Header["Cache-Control"], "|") != "max-age=3600|public, immutable" {
		t.Errorf("%v %v", resp, err)
	}
	if resp, err = s.get("/b", nil); err != nil || resp.Header.Get("X-Outer") != "1; 2" || resp.Header["Cache-Control"] != nil {
		t.Errorf("elsewhere: %v %v", resp, err)
	}
}

// TestExpiresLeavesTheApp: the app's own Cache-Control is not replaced.
func TestExpiresLeavesTheApp(t *testing.T) {
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a/own" {
			w.Header().Set("Cache-Control", "no-store")
		}
		fmt.Fprint(w, "x")
	})
	s := startSite(t, app, map[string]string{"conf/nginx.conf": head + `
	server { listen 127.0.0.1:%[2]d; location / { proxy_pass http://%[3]s; } } }`, "run/x": ""})
	apply(t, s, remedy("expires", "path", "/a/", "expires", "1h", "cache-control", "private"))
	for path, want := range map[string]string{"/a/own": "no-store", "/a/any": "max-age=3600|private"} {
		resp, err := s.get(path, nil)
		if err != nil || strings.Join(resp.Header["Cache-Control"], "|") != want {
			t.Errorf("%s: %v %v, want Cache-Control %s", path, resp, err, want)
		}
	}
}

// TestAgents: expressions with quotes, braces and blanks reach nginx unchanged.
func TestAgents(t *testing.T) {
	s := newTestSite(t)
	apply(t, s, remedy("refuse user agents", "patterns", "^bot/[0-9]{2}$\n(?i)\"crawler\" \\(x;y\\)\\\\ #1\nit's", "status", "429"))
	for agent, refused := range map[string]bool{"bot/12": true, "bot/1": false, "Bot/12": false, `a "CRAWLER" (x;y)\ #1`: true, `a CRAWLER (x;y)\ #1`: false, "it's": true, "its": false, "": false} {
		resp, err := s.get("/x", http.Header{"User-Agent": {agent}})
		if resp == nil {
			t.Fatal(err)
		}
		if (resp.StatusCode == 429) != refused || !refused && err != nil {
			t.Errorf("%q is answered %s", agent, resp.Status)
		}
	}
}

// TestSocket: requests reach the app by its unix socket with the same Host, and
// connections are kept open if both acts are applied.
func TestSocket(t *testing.T) {
	s := newTestSite(t)
	plain := s.body(t, "/x")
	sock := filepath.Join(s.dir, "app.sock")
	r := remedy("upstream socket", "socket", sock)
	if _, err := change.Plan(t.Context(), s.open(s.dir), r); err == nil || !strings.Contains(err.Error(), "does not accept") {
		t.Errorf("without a socket: %v", err)
	}
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	var dials atomic.Int64
	app := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, "app %s %s conn=%s %s", r.Host, r.URL.Path, r.Header.Get("Connection"), strings.Repeat("x", 2000))
	}))
	app.Listener.Close()
	app.Listener = l
	app.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			dials.Add(1)
		}
	}
	app.Start()
	defer app.Close()
	if os.Geteuid() == 0 {
		if _, err := change.Plan(t.Context(), s.open(s.dir), r); err == nil || !strings.Contains(err.Error(), "may not use it") {
			t.Errorf("a socket that nginx's workers may not use: %v", err)
		}
	}
	if err := os.Chmod(sock, 0o666); err != nil {
		t.Fatal(err)
	}
	apply(t, s, r)
	from, tcp := dials.Load(), s.dials.Load()
	if got := s.body(t, "/x"); got != plain || dials.Load() != from+1 || s.dials.Load() != tcp {
		t.Errorf("by socket the answer is %.60q, was %.60q; %d connections", got, plain, dials.Load()-from)
	}
	apply(t, s, remedy("upstream keepalive", "keepalive", "4"))
	from = dials.Load()
	for range 10 {
		s.body(t, "/x")
	}
	if n := dials.Load() - from; n != 1 {
		t.Errorf("kept alive, 10 requests took %d connections", n)
	}
}

// TestBuffers: nginx holds in memory what it wrote to temporary files before.
func TestBuffers(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 1<<14) // 256 KiB
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d", n)
	})
	s := startSite(t, app, map[string]string{"conf/nginx.conf": head + `server { listen 127.0.0.1:%[2]d; location / { proxy_pass http://%[3]s; } } }`, "run/x": ""})
	_ = os.Chmod(filepath.Join(s.dir, "run"), 0o777)
	// A reload closes idle connections, and a POST on one of them is not repeated.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	spilled := func() int {
		resp, err := client.Post("http://"+s.address()+"/x", "text/plain", strings.NewReader(large))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if b, _ := io.ReadAll(resp.Body); string(b) != strconv.Itoa(len(large)) {
			t.Fatalf("the app got %s bytes", b)
		}
		log, err := os.ReadFile(filepath.Join(s.dir, "error.log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(log), "buffered to a temporary file")
	}
	if n := spilled(); n != 1 {
		t.Fatalf("%d bodies were written to files before the change, want 1", n)
	}
	apply(t, s, remedy("buffers", "body", "256k"))
	if n := spilled(); n != 1 {
		t.Errorf("the body is written to a file still")
	}
}

// TestStaticIsConfined: only files in the public folder are served, and no links
// that lead outside of it.
func TestStaticIsConfined(t *testing.T) {
	s := newTestSite(t)
	for path, text := range map[string]string{"public/assets/.git/config": "secret", "public2/a/b": "secret"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(s.dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(s.dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(s.dir, "public/root")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    iikanji.Remedy
		want string
	}{
		{remedy("static files", "path", "/assets"), "is not a public file"},
		{remedy("static files", "path", "/a", "root", s.dir+"/public2"), "public folder"},
		{remedy("static files", "path", "/etc", "root", s.dir+"/public/root"), "public folder"},
		{remedy("static files", "path", "/a", "root", s.dir+"/public/../public2"), "public folder"},
		{remedy("static files", "path", "/root"), "no file"},
	} {
		if _, err := change.Plan(t.Context(), s.open(s.dir), c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.r.Args, err, c.want)
		}
	}
}

// proven is a remedy with a proof of an observed run.
func proven(r iikanji.Remedy, p iikanji.Proof) iikanji.Remedy {
	r.Proof = append(r.Proof, p)
	return r
}

// TestPromises: a change has the promises that the edited configuration weakens,
// whatever the remedy states.
func TestPromises(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	for _, c := range []struct {
		r    iikanji.Remedy
		want string
	}{
		{remedy("cache", "path", "/x", "valid", "1s"), "[freshness privacy]"},
		{remedy("cache", "path", "/x", "valid", "1s", "cookies", "ignore"), "[freshness privacy]"},
		{remedy("cache until reset", "path", "/x", "reset", "/initialize", "cookies", "ignore"), "[freshness privacy]"},
		{proven(remedy("cache", "path", "/x", "valid", "1s", "cookies", "ignore"), iikanji.SameForAll), "[freshness]"},
		{remedy("open file cache"), "[freshness]"},
		{remedy("set", "directive", "open_file_cache", "value", "max=5"), "[freshness]"},
		{remedy("set", "directive", "open_file_cache_errors", "value", "on"), "[freshness]"},
		{remedy("set", "directive", "open_file_cache_valid", "value", "30s"), "[]"}, // 60s by default
		{remedy("set", "directive", "open_file_cache_valid", "value", "1h"), "[freshness]"},
		{remedy("set", "directive", "worker_connections", "value", "16"), "[availability]"},
		{remedy("workers", "connections", "16", "nofile", "64"), "[availability]"},
		{remedy("set", "directive", "proxy_buffer_size", "value", "1k"), "[availability]"},
		{remedy("expires", "path", "/x", "expires", "1h"), "[freshness privacy]"},
		{remedy("expires", "path", "/x", "expires", "1h", "cache-control", "private"), "[freshness]"},
		{proven(remedy("expires", "path", "/x", "expires", "1h", "cache-control", "public"), iikanji.SameForAll), "[freshness]"},
		{remedy("expires", "path", "/x", "expires", "epoch"), "[]"},
		{remedy("expires", "path", "/x", "expires", "-1", "cache-control", "public"), "[privacy]"},
		{remedy("expires", "path", "/x", "expires", "-1", "cache-control", "public, stale-while-revalidate=999999, immutable"), "[freshness privacy]"},
		{remedy("expires", "path", "/x", "expires", "off", "cache-control", "public, immutable"), "[freshness privacy]"},
		{remedy("static files", "path", "= /api/user/me", "file", "/assets/a.txt"), "[freshness availability]"},
		{proven(remedy("static files", "path", "= /api/user/me", "file", "/assets/a.txt"), iikanji.SameAsFile), "[]"},
		{remedy("static files", "path", "/assets", "expires", "1h"), "[freshness]"},
		{remedy("static files", "path", "/assets"), "[]"},
		{remedy("access log", "log", "off"), "[observability]"},
		{remedy("access log", "log", "buffered"), "[]"},
		{remedy("access log", "log", "buffered", "flush", "1h"), "[observability]"},
		{remedy("gzip"), "[]"},
		{remedy("refuse user agents", "patterns", "bot"), "[availability]"},
	} {
		ch, err := change.Plan(t.Context(), s.open(s.dir), c.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(ch.Weakens); got != c.want {
			t.Errorf("%v weakens %s, want %s", c.r.Args, got, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, zone)); !os.IsNotExist(err) {
		t.Errorf("planning a cache left its folder: %v", err)
	}
}

// TestRenewedGoes: an answer that is renewed in the background is removed soon
// after its last request, so that no later request gets an old answer.
func TestRenewedGoes(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	apply(t, s, remedy("cache", "path", "/x", "valid", "2s", "stale", "updating"))
	dir := filepath.Join(s.dir, zone+"_renewed_1s")
	kept := func() int {
		files := 0
		_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files++
			}
			return nil
		})
		return files
	}
	s.body(t, "/x")
	if kept() == 0 {
		t.Fatal("nothing is kept")
	}
	for until := time.Now().Add(time.Minute); kept() > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("it is still there a minute after the last request")
		}
	}
}
