package isucholar

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestValidate: an app that loses something after the load fails because of that.
func TestValidate(t *testing.T) {
	tier.Slow(t)
	for check, spoil := range map[string]func(path string, v any){
		"grades-summary": func(path string, v any) {
			if path == atGrades {
				add(v.(object)["summary"].(object), "gpa_avg", 0.05)
			}
		},
		"grades-score": func(path string, v any) {
			if path != atGrades {
				return
			}
			for _, c := range v.(object)["courses"].([]any) {
				for _, s := range c.(object)["class_scores"].([]any) {
					s.(object)["score"] = 101
				}
			}
		},
		"announcements-count": func(path string, v any) {
			if path == atNotices {
				add(v.(object), "unread_count", 1)
			}
		},
		"announcements-missing": func(path string, v any) {
			if path == atNotices {
				v.(object)["announcements"] = v.(object)["announcements"].([]any)[1:]
			}
		},
		"search-fields": func(path string, v any) {
			if path != atSearch {
				return
			}
			for _, c := range v.([]any) {
				c.(object)["status"] = statusRegistration
			}
		},
	} {
		t.Run(check, func(t *testing.T) {
			t.Parallel()
			run := runSpoiled(t, spoil)
			for _, f := range run.Faults {
				if f.Check == check {
					return
				}
			}
			t.Errorf("the run %s: %v %+v; want a fault of check %s", run.Outcome, run.Reasons, run.Faults, check)
		})
	}
}

// runSpoiled runs the benchmarker against a perfect app whose answers are spoiled after the
// load.
func runSpoiled(t *testing.T, spoil func(path string, v any)) *iikanji.Run {
	t.Helper()
	ct, app := perfectContest(t)
	var after atomic.Bool
	routes := app.routes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !after.Load() || r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/api/") {
			routes.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		routes.ServeHTTP(answer, r)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		var v any
		if json.Unmarshal(answer.Body.Bytes(), &v) == nil && answer.Code == http.StatusOK {
			spoil(r.URL.Path, v)
		}
		w.WriteHeader(answer.Code)
		json.NewEncoder(w).Encode(v)
	}))
	defer server.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: server.URL, Seed: 1, Load: 4 * time.Second,
		OnPhase: func(p scenario.Phase, begins bool) { after.Store(p == scenario.Validate && begins) }})
	if err != nil {
		t.Fatal(err)
	}
	if run.Outcome != iikanji.Failed {
		t.Errorf("the run %s", run.Outcome)
	}
	return run
}
