package worker

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/api"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// TestShadow: a page that the benchmarker alone gets fast, or gets at all, is named; pages that are
// equal, change by themselves or do not end are not.
func TestShadow(t *testing.T) {
	const bench = "bench/1"
	var asked atomic.Int64
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		mine := r.UserAgent() == bench
		switch r.URL.Path {
		case "/other":
			fmt.Fprint(w, mine)
		case "/missing":
			if !mine {
				http.NotFound(w, r)
			}
		case "/equal":
			fmt.Fprint(w, "equal")
		case "/changing":
			fmt.Fprint(w, n)
		case "/long":
			w.Write(make([]byte, mostAnswer+1)) //nolint:errcheck // the reader goes
		case "/elsewhere":
			http.Redirect(w, r, "/other", http.StatusFound)
		}
	}))
	defer site.Close()
	w := &Worker{}
	ask := func(outcome iikanji.Outcome, pages ...string) []string {
		return w.shadow(t.Context(), &api.Assignment{Target: site.URL, Problem: contest.Problem{Shadow: contest.Shadow{Pages: pages, Agent: bench}}}, outcome)
	}
	if got := ask(iikanji.Passed, "/equal", "/other", "/changing", "/missing"); !slices.Equal(got, []string{"/other", "/missing"}) {
		t.Errorf("named %q", got)
	}
	if got := ask(iikanji.Passed, "/long", "/elsewhere"); len(got) > 0 {
		t.Errorf("named %q", got)
	}
	before := asked.Load()
	if ask(iikanji.Failed, "/other"); ask(iikanji.Passed) != nil || asked.Load() != before {
		t.Error("it asked after a run that failed, or without pages")
	}
}
