package facts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestEveryone: an answer counts as the same for all only if no client of the run
// and no header that varied changes it, and the app does not state otherwise.
func TestEveryone(t *testing.T) {
	n := 0
	mux := http.NewServeMux()
	for path, answer := range map[string]func(w http.ResponseWriter, r *http.Request) string{
		"/all":       func(http.ResponseWriter, *http.Request) string { return "all" },
		"/cookie":    func(_ http.ResponseWriter, r *http.Request) string { return r.Header.Get("Cookie") },
		"/session":   func(_ http.ResponseWriter, r *http.Request) string { return r.Header.Get("X-Session") },
		"/forwarded": func(_ http.ResponseWriter, r *http.Request) string { return r.Header.Get("X-Forwarded-Host") },
		"/method":    func(_ http.ResponseWriter, r *http.Request) string { return r.Header.Get("X-HTTP-Method-Override") },
		"/agent":     func(_ http.ResponseWriter, r *http.Request) string { return r.UserAgent() },
		"/private": func(w http.ResponseWriter, _ *http.Request) string {
			w.Header().Set("Cache-Control", "private")
			return "x"
		},
		"/no-store": func(w http.ResponseWriter, _ *http.Request) string {
			w.Header().Set("Cache-Control", "no-store")
			return "x"
		},
		"/vary": func(w http.ResponseWriter, _ *http.Request) string {
			w.Header().Set("Vary", "Accept-Encoding, X-Team")
			return "x"
		},
		"/encoding": func(w http.ResponseWriter, _ *http.Request) string {
			w.Header().Set("Vary", "Accept-Encoding")
			return "x"
		},
		"/sets": func(w http.ResponseWriter, r *http.Request) string {
			if r.Header.Get("Cookie") != "" {
				w.Header().Set("Set-Cookie", "s=2")
			}
			return "x"
		},
		"/moves": func(http.ResponseWriter, *http.Request) string { n++; return fmt.Sprint(n / 3) },
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			body := answer(w, r)
			fmt.Fprint(w, body)
		})
	}
	s := httptest.NewServer(mux)
	defer s.Close()
	urls := map[string]string{}
	for _, path := range []string{"/all", "/cookie", "/session", "/forwarded", "/method", "/agent", "/private", "/no-store", "/vary", "/encoding", "/sets", "/moves"} {
		urls["GET "+path] = path
	}
	clients := Clients{Users: [][][2]string{{{"Cookie", "s=alice"}, {"X-Session", "alice"}}, {{"Cookie", "s=bob"}, {"X-Session", "bob"}}},
		Varied: map[string][]string{"cookie": {"s=alice", "s=bob"}, "x-session": {"alice", "bob"}, "x-forwarded-host": {"other"}, "x-http-method-override": {"DELETE"}, "user-agent": {"a", "b"}}}
	// A route whose first URL is the same for all, and its further URLs.
	further := map[string][]string{"GET /x/same": {"/encoding", "/none"}, "GET /x/differs": {"/encoding", "/cookie"}, "GET /x/private": {"/private"}}
	for route := range further {
		urls[route] = "/all"
	}
	clients.Others = further
	fs, err := AnswerFacts(t.Context(), host.Local{}, "nginx", s.URL, urls, nil, clients)
	if err != nil || len(fs) != len(urls) {
		t.Fatalf("%d facts, %v", len(fs), err)
	}
	for _, f := range fs {
		var a fact.Answer
		if err := json.Unmarshal([]byte(fact.Text(f)), &a); err != nil {
			t.Fatal(err)
		}
		want := a.URL == "/all" || a.URL == "/encoding"
		if strings.HasPrefix(f.Key, "GET /x/") {
			if want = f.Key == "GET /x/same"; a.SameForAll != want || want && a.URLs != 2 {
				t.Errorf("%s: same for all %v, %d URLs", f.Key, a.SameForAll, a.URLs)
			}
			continue
		}
		if a.SameForAll != want || want && a.Users != 2 {
			t.Errorf("%s: same for all %v as %d users", a.URL, a.SameForAll, a.Users)
		}
	}
}
