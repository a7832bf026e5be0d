package cause_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestGone checks that aborted requests are a finding of their own only if no other
// finding explains them; otherwise they are evidence of the largest cause.
func TestGone(t *testing.T) {
	const route = "GET /api/trend"
	own := change(all, func(s *fact.Series) { s.Alike = 0 }) // each client has a different answer: no cache
	alone := func(d time.Duration) fact.Answer {
		return change(trend, func(a *fact.Answer) { a.Took, a.Encoding = d, "gzip" })
	}
	// full is a machine whose app uses the whole core of the stack, and clients
	// that waited for nearly a second.
	full := func(s *scene) *scene {
		s.Run.Place = iikanji.Placement{Cores: 2, Generator: "0", Stack: "1"}
		s.Run.Usage = []iikanji.Usage{{Who: "app", Share: 0.45, User: 9 * time.Second}}
		s.Run.Steps = append(s.Run.Steps, iikanji.StepStat{Step: route, Count: 1000, Timeouts: 300, P95: 970 * time.Millisecond})
		return s
	}
	for _, c := range []struct {
		name  string
		in    *scene
		gone  int
		cause iikanji.Code // "" for WEB109 itself
	}{
		{"no other finding explains it", page(alone(20*time.Millisecond), own), 300, ""},
		{"all clients get the same answer", page(alone(20*time.Millisecond), all), 300, "WEB107"},
		{"it waits for the others", full(page(alone(17*time.Millisecond), own)), 300, "APP101"},
		{"it waits for the others, and has a cause of its own", full(page(alone(17*time.Millisecond), all)), 300, "WEB107"},
		{"it is slow when it is alone, too", full(page(alone(900*time.Millisecond), own)), 300, ""},
		{"what the others save is not enough", full(page(alone(17*time.Millisecond), own)), 800, ""},
		{"a route with another's cause", page(alone(20*time.Millisecond), own).route("GET /other", "/other", 1000, 3000, iikanji.WebRow{}).
			with("nginx", string(fact.TopicAnswer), "GET /other", change(alone(20*time.Millisecond), func(a *fact.Answer) { a.URL = "/other" })).
			with("nginx", string(fact.TopicSeries), "GET /other", all), 300, ""},
	} {
		c.in.with("nginx", string(fact.TopicHTTPStatus), "499 "+route, fmt.Sprint(c.gone))
		fs, err := findAll(c.in.Input)
		if err != nil {
			t.Fatal(err)
		}
		sameElsewhere(t, c.in.Input, fs)
		want := c.cause
		if want == "" {
			want = "WEB109"
		}
		told := ""
		for _, f := range fs {
			if f.Code == "WEB109" && c.cause != "" {
				t.Errorf("%s: a finding of its own: %+v", c.name, f)
			}
			for _, e := range f.Evidence {
				if strings.HasSuffix(e.Text, "of "+route+" ended with 499") {
					told += string(f.Code)
				}
			}
		}
		if told != string(want) {
			t.Errorf("%s: told by %q, want %s", c.name, told, want)
		}
	}
}
