package isucholar

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
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
			// On a busy machine a run may end before a course does, or be void: its faults
			// stand then, but it may have none.
			load, last := leastLoad, (*iikanji.Run)(nil)
			for begin := time.Now(); time.Since(begin) < 2*time.Minute; {
				run, compared := runSpoiled(t, load, spoil)
				last = run
				caught := slices.ContainsFunc(last.Faults, func(f iikanji.Fault) bool { return f.Check == check })
				switch {
				case caught && last.Outcome != iikanji.Passed:
					return
				case last.Outcome == iikanji.Void || !compared:
					load = min(2*load, 16*time.Second)
				default:
					t.Fatalf("the run %s: %v %+v; want a fault of check %s", last.Outcome, last.Reasons, last.Faults, check)
				}
			}
			t.Errorf("no run proves anything: the last one is %s: %v", last.Outcome, last.Reasons)
		})
	}
}

// runSpoiled runs the benchmarker against a perfect app whose answers in JSON are spoiled
// after the load. It also reports whether everything was compared.
func runSpoiled(t *testing.T, load time.Duration, spoil func(path string, v any)) (run *iikanji.Run, compared bool) {
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
		body := answer.Body.Bytes()
		// An export may still run when the load ends. Its answer is a zip, not JSON: it is
		// sent unchanged.
		var v any
		if json.Unmarshal(body, &v) == nil && answer.Code == http.StatusOK {
			spoil(r.URL.Path, v)
			body, _ = json.Marshal(v)
			answer.Header().Del("Content-Length")
		}
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		w.Write(body)
	}))
	defer server.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: server.URL, Seed: 1, Load: load,
		OnPhase: func(p scenario.Phase, begins bool) { after.Store(p == scenario.Validate && begins) }})
	if err != nil {
		t.Fatal(err)
	}
	ct.mu.Lock()
	defer ct.mu.Unlock()
	unsure := slices.ContainsFunc(ct.courses, func(c *course) bool { return c.unsure })
	return run, !unsure && !ct.lostCourse && len(ct.students) > 0 && ct.students[0].finished > 0
}
