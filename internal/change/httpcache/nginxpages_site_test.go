package httpcache

import (
	"fmt"
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
