package app

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// TestHeatOfRoutes: the app's work of a route is not hidden by the waits of another one for its
// statements. A route whose statements overlap keeps a part.
func TestHeatOfRoutes(t *testing.T) {
	row := func(key string, took time.Duration) iikanji.Row {
		return iikanji.Row{Key: key, Count: 100, Total: took, Web: &iikanji.WebRow{Upstream: took}}
	}
	v := &cause.View{Input: cause.Input{Profiles: []iikanji.Profile{{Source: iikanji.Access, Rows: []iikanji.Row{row("POST /login", 2*time.Second), row("GET /", 100*time.Second), row("GET /list", 10*time.Second)}}}}}
	v.Digests = []cause.Digest{{Totals: index.Query{Seconds: 120}, Senders: []cause.Sender{{Route: "GET /", Share: 0.8}, {Route: "GET /list", Share: 0.2}}}}
	want := map[string]float64{"POST /login": 2, "GET /": 4, "GET /list": 0.2}
	for _, r := range routeTimes(v, false) {
		if w := want[r.route]; r.weight < 0.99*w || r.weight > 1.01*w {
			t.Errorf("%s: %.2f s, want %.2f", r.route, r.weight, w)
		}
	}
	for _, r := range routeTimes(v, true) {
		if r.weight != 100 {
			t.Errorf("%s: %.0f requests, want 100", r.route, r.weight)
		}
	}
}
