package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/timeline"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestJoinUnderLoad measures two short loads on a real MariaDB: what is called certain or
// likely is mostly right, also where many requests are in flight, and most of the
// requests' statements are found at a low load.
func TestJoinUnderLoad(t *testing.T) {
	tier.Slow(t)
	server, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for _, c := range []struct {
		clients      int
		least, found float64 // shares that must be right, and shown
	}{{1, 0.97, 0.9}, {8, 0.75, 0.15}} {
		var wrong []string
		for range 4 { // on a busy machine few requests are made, and their times are far off
			l := lab{server: server, clients: c.clients, load: 2 * time.Second, requests: 40, pool: 8, look: 2 * time.Millisecond}
			s, err := l.measure(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if wrong = s.below(c.least, c.found); len(wrong) == 0 {
				break
			}
			t.Logf("%d clients: %q", c.clients, wrong)
		}
		for _, why := range wrong {
			t.Errorf("%d clients: %s", c.clients, why)
		}
	}
}

// below lists what is less than the shares that must be right among the likely statements, and
// that must be shown.
func (s *score) below(least, found float64) (wrong []string) {
	if s.own < 60 {
		wrong = append(wrong, fmt.Sprintf("the requests have %d statements", s.own))
	}
	for certainty, share := range map[timeline.Certainty]float64{timeline.Certain: 0.97, timeline.Likely: least} {
		if n := s.shown[certainty]; float64(s.right[certainty]) < share*float64(n)-3 { // 3: of few statements
			wrong = append(wrong, fmt.Sprintf("of %d %s statements, %d are right", n, certainty, s.right[certainty]))
		}
	}
	if float64(s.found) < found*float64(s.own) {
		wrong = append(wrong, fmt.Sprintf("%d of %d statements are shown as certain or likely", s.found, s.own))
	}
	return wrong
}
