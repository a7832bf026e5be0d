package facts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// TestAlive: candidates prove that an answer is the same for all if their sessions are
// alive: some other page shows who they are.
func TestAlive(t *testing.T) {
	sessions := map[string]string{"a": "alice", "b": "bob"}
	n := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/picture", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "picture") })
	mux.HandleFunc("/moves", func(w http.ResponseWriter, _ *http.Request) { n++; fmt.Fprint(w, n) })
	mux.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("session")
		if err != nil || sessions[c.Value] == "" {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, sessions[c.Value])
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	cookie := func(v string) [][2]string { return [][2]string{{"Cookie", "session=" + v}} }
	urls := map[string]string{"GET /picture": "/picture", "GET /me": "/me", "GET /moves": "/moves"}
	for name, c := range map[string]struct {
		candidates [][][2]string
		users      int
	}{
		"two alive":   {[][][2]string{cookie("ended"), cookie("a"), cookie("b")}, 2},
		"one alive":   {[][][2]string{cookie("ended"), cookie("a")}, 1},
		"none alive":  {[][][2]string{cookie("ended"), cookie("gone")}, 0},
		"no sessions": {nil, 0},
	} {
		fs, err := AnswerFacts(t.Context(), host.Local{}, "nginx", s.URL, urls, nil, Clients{Candidates: c.candidates})
		if err != nil || len(fs) != len(urls) {
			t.Fatalf("%s: %d facts, %v", name, len(fs), err)
		}
		for _, f := range fs {
			var a fact.Answer
			if err := json.Unmarshal([]byte(fact.Text(f)), &a); err != nil {
				t.Fatal(err)
			}
			switch f.Key {
			case "GET /picture":
				if !a.SameForAll || a.Users != c.users || a.Alive != (c.users > 0) {
					t.Errorf("%s: same for all %v as %d users, want %d", name, a.SameForAll, a.Users, c.users)
				}
			case "GET /moves":
				if a.SameForAll {
					t.Errorf("%s: a page that changes is the same for all", name)
				}
			}
		}
	}
}
