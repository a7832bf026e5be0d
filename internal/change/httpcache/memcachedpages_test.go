package httpcache

import (
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestMemcachedConformance runs the conformance suite of kinds for what the act adds to
// that of nginx: memcached's start and nginx's configuration. The app has its part of the
// change already; its steps are those of TestNginxPagesConformance, and each compiles.
func TestMemcachedConformance(t *testing.T) {
	tier.Slow(t)
	t.Parallel()
	s := newBlogSite(t)
	if changetest.ChildDir() == "" {
		site := s.open(s.dir)
		for _, op := range s.apply(t, keptByTable("memcached")).Undo {
			if op.Place == changetest.Service || strings.HasPrefix(op.Place, s.app.Source("")) {
				break
			}
			if err := site.Perform(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.conform(t, "memcached", "kept: true, memcached runs: true")
}

// keeps reports whether the app does not see the second request for a page. Every request
// that it sees counts.
func (s *blogSite) keeps(path string, header ...string) (bool, error) {
	if _, _, err := s.get(path, header...); err != nil {
		return false, err
	}
	before, err := s.asks()
	if err != nil {
		return false, err
	}
	if resp, _, err := s.get(path, header...); err != nil || resp.StatusCode != 200 {
		return false, fmt.Errorf("%s: %v %w", path, resp, err)
	}
	after, err := s.asks()
	return after == before+1, err
}

// asks is how many requests the app has answered, with this one.
func (s *blogSite) asks() (n int, err error) {
	resp, _, err := s.get("/counted")
	if err == nil {
		_, err = fmt.Sscan(resp.Header.Get("X-Asked"), &n)
	}
	return n, err
}

func (s *blogSite) counted(t *testing.T) int {
	t.Helper()
	n, err := s.asks()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *blogSite) mustKeep(t *testing.T, want bool, path string, header ...string) {
	t.Helper()
	if is, err := s.keeps(path, header...); err != nil || is != want {
		t.Errorf("%s %v is kept: %v, want %v, %v", path, header, is, want, err)
	}
}

// testMemcached: what a real nginx sends from a real memcached.
func (s *blogSite) testMemcached(t *testing.T) {
	proven := remedy("memcached", "path", "/article/:id;/list", "valid", "100s", "cookies", "ignore")
	proven.Proof = []iikanji.Proof{iikanji.SameForAll}
	all := s.apply(t, proven)
	if got := fmt.Sprint(all.Weakens); got != "[tested-only]" {
		t.Errorf("with proof it weakens %s", got)
	}
	for _, path := range []string{"/article/1?plain", "/list?plain"} {
		s.mustKeep(t, true, path)
		resp, body, err := s.get(path)
		if err != nil || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" || resp.ContentLength != int64(len(body)) {
			t.Errorf("%s: %v %v", path, resp, err)
		}
		if head, _, err := s.send("HEAD", path); err != nil || head.StatusCode != 200 {
			t.Errorf("HEAD %s: %v %v", path, head, err)
		}
	}
	s.mustKeep(t, true, "/article/1?plain", "Cookie", "a=1")
	s.mustKeep(t, true, "/article/1?plain", "Accept", "text/html, a%b")
	for _, path := range []string{"/article/1", "/article/cookie?plain", "/article/private?plain", "/article/vary?plain", "/article/01?plain", "/other?plain"} {
		s.mustKeep(t, false, path)
	}
	for _, header := range []string{"Authorization", "X-Api-Key"} {
		s.mustKeep(t, false, "/article/1?plain", header, "a")
	}
	s.mustKeep(t, false, "/article/1?plain", "Accept", strings.Repeat("x", 230))
	if resp, body, err := s.send("POST", "/article/1?plain"); err != nil || resp.StatusCode != 200 || !strings.HasPrefix(body, "article 1") {
		t.Errorf("another method for a kept page: %v %q %v", resp, body, err)
	}
	for i, path := range []string{"/comment/9", "/hidden/9"} {
		s.mustKeep(t, true, "/article/9?plain")
		s.post(t, path)
		if body := s.body(t, "/article/9?plain"); body != fmt.Sprint("article 9 comments ", i+1) {
			t.Errorf("after %s: %q", path, body)
		}
	}
	t.Run("linear", func(t *testing.T) { s.testLinear(t, "?plain") })
	t.Run("memcached down", func(t *testing.T) { s.testDown(t) })
	s.undoAll(t, all)
}

// testDown: without memcached, pages come from the app; with it, they are kept again.
func (s *blogSite) testDown(t *testing.T) {
	s.stopCache()
	s.mustKeep(t, false, "/list?plain")
	if err := s.restartCache(); err != nil {
		t.Fatal(err)
	}
	if err := servertest.Eventually(func() error {
		if kept, err := s.keeps("/list?plain"); err != nil || !kept {
			return fmt.Errorf("the list is kept: %v, %w", kept, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// testConnections: with idle=0 nginx opens a connection for each page, by default few.
func (s *blogSite) testConnections(t *testing.T) {
	const pages = 40
	opened := map[string]int{}
	for _, idle := range []string{"0", "32"} {
		c := s.apply(t, remedy("memcached", "path", "/list", "valid", "100s", "cookies", "ignore", "idle", idle))
		before := s.stat(t, "total_connections")
		for range pages {
			s.body(t, "/list?plain")
		}
		opened[idle] = s.stat(t, "total_connections") - before
		s.undoAll(t, c)
	}
	if opened["0"] < pages || opened["32"] > pages/4 {
		t.Errorf("connections to memcached for %d pages, by idle: %v", pages, opened)
	}
}

// testFragments: nginx includes a part that it keeps for itself. A write that changes the
// part drops it alone.
func (s *blogSite) testFragments(t *testing.T, act string) {
	c := s.apply(t, remedy(act, "path", "/page/:id", "valid", "100s", "cookies", "ignore", "fragments", "/part", "drops", "POST /comment/:1=/page/:1;POST /hidden/:1=/page/:1,/part"))
	defer s.undoAll(t, c)
	for _, again := range []iikanji.Remedy{
		remedy("nginx", "path", "/page/:id;/part", "valid", "100s", "cookies", "ignore"),
		remedy("memcached", "path", "/page/:id;/part", "valid", "100s", "cookies", "ignore"),
	} {
		if _, err := change.Plan(t.Context(), s.open(s.dir), again); err == nil {
			t.Errorf("a fragment is kept as a page: %v", again.Args)
		}
	}
	if got := fmt.Sprint(c.Weakens); got != "[privacy tested-only behaviour]" {
		t.Errorf("it weakens %s", got)
	}
	for _, path := range []string{"/page/1?plain", "/page/2?plain"} {
		s.mustKeep(t, true, path)
	}
	total := strings.TrimPrefix(s.body(t, "/page/2?plain"), "page 0: part ")
	s.post(t, "/hidden/3")
	for _, path := range []string{"/page/1?plain", "/page/2?plain"} {
		if body := s.body(t, path); !strings.HasSuffix(body, ": part "+next(t, total)) || strings.Contains(body, "#include") {
			t.Errorf("%s after a write of the part: %q, before: %s", path, body, total)
		}
	}
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/page/1?plain", s.port))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.ContentLength >= 0 || !resp.Close {
		t.Errorf("length %d, the connection closes: %v: a client that waits for the end would hang", resp.ContentLength, resp.Close)
	}
	want := map[string]int{"nginx": 404, "memcached": 200}[act]
	for _, path := range []string{"/part", "/%70art"} {
		if resp, _, err := s.get(path); err != nil || resp.StatusCode != want {
			t.Errorf("a client asks for %s: %v %v", path, resp, err)
		}
	}
}

func next(t *testing.T, number string) string {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(n + 1)
}

// testFullMemcached: a memcached that is smaller than the pages drops old ones, stays
// within its size, and every answer is right.
func (s *blogSite) testFullMemcached(t *testing.T) {
	c := s.apply(t, remedy("memcached", "path", "/full/:id", "valid", "100s", "cookies", "ignore"))
	defer s.undoAll(t, c)
	const pages = 60 // of 256 KiB, 15 MiB in all
	for i := range 2 * pages {
		path := fmt.Sprintf("/full/%d?plain", i%pages)
		if body := s.body(t, path); !strings.HasPrefix(body, fmt.Sprintf("full %d x", i%pages)) || len(body) < 256<<10 {
			t.Fatalf("%s: %d bytes", path, len(body))
		}
	}
	asked := func(path string) bool {
		before := s.counted(t)
		s.body(t, path)
		return s.counted(t) > before+1
	}
	if last := fmt.Sprintf("/full/%d?plain", pages-1); asked(last) {
		t.Error("a full memcached keeps nothing")
	}
	if !asked("/full/0?plain") {
		t.Error("the first page is still kept: memcached was not full")
	}
	if dropped, kept := s.stat(t, "evictions"), s.stat(t, "bytes"); dropped == 0 || kept < 2<<20 || kept > storedSize {
		t.Errorf("memcached of %d MiB has dropped %d pages and keeps %d bytes", storedSize>>20, dropped, kept)
	}
	if log, err := os.ReadFile(s.app.Path("app.log")); err != nil || strings.Contains(string(log), "storing a page") {
		t.Errorf("the app could not store a page: %s %v", log, err)
	}
}

// stat is a number of memcached's statistics.
func (s *blogSite) stat(t *testing.T, name string) int {
	t.Helper()
	c, err := textproto.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.cache))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.PrintfLine("stats"); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := c.ReadLine()
		if err != nil || line == "END" {
			t.Fatalf("no statistic %s: %v", name, err)
		}
		var n int
		if _, err := fmt.Sscanf(line, "STAT "+name+" %d", &n); err == nil {
			return n
		}
	}
}

// undoAll undoes changes of the site.
func (s *blogSite) undoAll(t *testing.T, changes ...*iikanji.Change) {
	t.Helper()
	for _, c := range changes {
		site := s.open(s.dir)
		for _, op := range c.Undo {
			if err := site.Perform(t.Context(), op); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// testMemcachedRefused: remedies that cannot be planned.
func (s *blogSite) testMemcachedRefused(t *testing.T) {
	state := func() (string, error) { return changetest.Tree(filepath.Join(s.dir, "conf")) }
	type refused = struct {
		Remedy iikanji.Remedy
		Why    string
	}
	changetest.Refuse(t, s.open(s.dir), state, []refused{
		{remedy("memcached", "path", "/a", "valid", "100ms"), "want whole seconds"},
		{remedy("memcached", "path", "/a", "valid", "1s", "type", "text/html; charset=\"; return 200"), "want a type"},
		{remedy("memcached", "path", "/a", "valid", "1s", "fragments", "/a"), "a fragment, too"},
		{remedy("memcached", "path", "/a", "valid", "1s", "fragments", "/b/:id"), "want the path of a fragment"},
		{remedy("memcached", "path", "/a", "valid", "1s", "service", "nginx"), "not a memcached"},
		{remedy("direct"), "no service of the engine varnish"},
	})
	small := s.open(s.dir)
	svc := small.Services["stored"]
	svc.Memory = 1 << 50
	small.Services["stored"] = svc
	changetest.Refuse(t, small, state, []refused{{remedy("memcached", "path", "/a", "valid", "1s"), "more than half"}})
}

// testDirect: a Varnish that was put in front is taken out, stopped, and put in again by
// the undo.
func testDirect(t *testing.T, s *testSite) {
	c := s.apply(t, remedy("direct"))
	if a, b := s.body(t, "/article/1"), s.body(t, "/article/1"); a == b || servertest.Accepts(s.cacheAddress()) == nil {
		t.Errorf("%q and %q: Varnish is still in front, or runs", a, b)
	}
	if _, err := change.Plan(t.Context(), s.open(s.dir), remedy("direct")); err == nil || !strings.Contains(err.Error(), change.ErrNothing.Error()) {
		t.Errorf("planned again: %v", err)
	}
	s.undo(t, c)
	if _, err := os.Stat(s.enableFile()); err != nil || servertest.Accepts(s.cacheAddress()) != nil {
		t.Errorf("undone, Varnish does not run: %v", err)
	}
}
