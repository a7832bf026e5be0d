package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestMetrics: the numbers are in the format that Prometheus reads, those of one name together, with
// labels that cannot end early; and they are for staff alone.
func TestMetrics(t *testing.T) {
	s := newServer(t)
	get := func(path, caller string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil)
		if caller != "" {
			r.Header.Set("Authorization", "Bearer "+caller)
		}
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, r)
		return answer
	}
	const want = "# HELP a A.\n# TYPE a gauge\na 12\n# HELP b B.\n# TYPE b gauge\nb{round=\"a\\\"\\\\\\n\"} 0.5\nb 3\n# HELP iikanji_portal_streams Open streams of browsers at this process.\n# TYPE iikanji_portal_streams gauge\niikanji_portal_streams 0\n"
	if got := get("/metrics", "viewer"); got.Code != http.StatusOK || got.Body.String() != want {
		t.Errorf("%d\n%s\nwant\n%s", got.Code, got.Body, want)
	}
	for caller, status := range map[string]int{"": http.StatusUnauthorized, "leader": http.StatusForbidden} {
		if got := get("/metrics", caller); got.Code != status {
			t.Errorf("%q got %d", caller, got.Code)
		}
	}
	if got := get("/readyz", ""); got.Code != http.StatusOK {
		t.Errorf("/readyz answers %d", got.Code)
	}
}
