package httpcache

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

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

// testFragments: nginx includes a part that it keeps for itself. A write that changes the
// part drops it alone.
func (s *blogSite) testFragments(t *testing.T) {
	c := s.apply(t, remedy("nginx", "path", "/page/:id", "valid", "100s", "cookies", "ignore", "fragments", "/part", "drops", "POST /comment/:1=/page/:1;POST /hidden/:1=/page/:1,/part"))
	defer s.undoAll(t, c)
	again := remedy("nginx", "path", "/page/:id;/part", "valid", "100s", "cookies", "ignore")
	if _, err := change.Plan(t.Context(), s.open(s.dir), again); err == nil {
		t.Errorf("a fragment is kept as a page: %v", again.Args)
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
	for _, path := range []string{"/part", "/%70art"} {
		if resp, _, err := s.get(path); err != nil || resp.StatusCode != 404 {
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
