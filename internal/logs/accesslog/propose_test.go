package accesslog

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// TestProposed: what is not recognised is answered with a format that, given as it is, reads
// the log.
func TestProposed(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		key   string
		count int64
	}{
		"no time and no status": {[]string{"GET /users/12 ok", "GET /users/13 ok", "POST /login failed"}, "POST /login", 1},
		"two shapes of lines": {[]string{
			"10.0.0.1 - GET - /a/1 - x", "worker 3 started in 12 seconds", "10.0.0.1 - GET - /a/2 - y",
			"worker 4 started in 12 seconds with flags", "10.0.0.1 - GET - /a/3 - z", "gc: freed 12 pages"}, "GET /a/:id", 3},
	} {
		text := strings.Repeat(strings.Join(c.lines, "\n")+"\n", 10)
		_, err := readErr(t, Options{}, text)
		var unknown *UnknownFormatError
		if !errors.As(err, &unknown) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hint := strings.Join(unknown.Hints(), "\n")
		m := regexp.MustCompile(`^--log-format '([^']+)' reads (\d+) of the first (\d+) lines`).FindStringSubmatch(hint)
		if m == nil {
			t.Errorf("%s: %s", name, hint)
			continue
		}
		p, err := readErr(t, Options{Format: m[1], MaxBad: 0.9}, text)
		if err != nil {
			t.Errorf("%s: %s: %v", name, m[1], err)
			continue
		}
		found := false
		for _, r := range p.Rows {
			found = found || r.Key == c.key && r.Count == 10*c.count
		}
		if !found {
			t.Errorf("%s: %s: %+v", name, m[1], p.Rows)
		}
	}
	if _, err := readErr(t, Options{}, strings.Repeat("the quick brown fox\n", 30)); err == nil || strings.Contains(strings.Join(hintsOf(err), ""), "reads") {
		t.Errorf("prose: %v", err)
	}
}

// hintsOf returns the hints of an error.
func hintsOf(err error) []string {
	var h interface{ Hints() []string }
	if errors.As(err, &h) {
		return h.Hints()
	}
	return nil
}
