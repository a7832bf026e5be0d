package main

import (
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
		l := lab{server: server, clients: c.clients, load: 2 * time.Second, requests: 40, pool: 8, look: 2 * time.Millisecond}
		s, err := l.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.own < 60 {
			t.Errorf("%d clients: the requests have %d statements", c.clients, s.own)
		}
		for _, certainty := range []timeline.Certainty{timeline.Certain, timeline.Likely} {
			least := c.least
			if certainty == timeline.Certain {
				least = 0.97
			}
			if n := s.shown[certainty]; float64(s.right[certainty]) < least*float64(n)-3 { // 3: of few statements
				t.Errorf("%d clients: of %d %s statements, %d are right", c.clients, n, certainty, s.right[certainty])
			}
		}
		if float64(s.found) < c.found*float64(s.own) {
			t.Errorf("%d clients: %d of %d statements are shown as certain or likely", c.clients, s.found, s.own)
		}
	}
}
