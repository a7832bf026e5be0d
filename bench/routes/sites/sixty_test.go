package sites

import "testing"

// TestSixty: each site can be generated and has requests of each route in a long log.
func TestSixty(t *testing.T) {
	if len(Sixty) != 60 {
		t.Errorf("%d sites", len(Sixty))
	}
	for _, s := range Cut(Sixty, 20000) {
		seen := map[string]bool{}
		for _, q := range s.Requests() {
			seen[q.Route] = true
		}
		if n := len(s.parse()); len(seen) < n*9/10 {
			t.Errorf("%s: %d of %d routes have requests", s.Name, len(seen), n)
		}
	}
}
