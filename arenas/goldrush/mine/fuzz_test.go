package mine

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// FuzzRequest sends any request to a game. Each answer is JSON with a status of the API, a
// refusal has a code and a message, and no coins come out of nothing.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":5,"sizeY":5}`}, {"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":1}`},
		{"POST", "/cash", `"x"`}, {"POST", "/licenses", "[]"}, {"GET", "/balance", ""}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	statuses := []int{200, 400, 402, 403, 404, 405, 409, 415, 422, 429, 500, 502, 503, 504}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if method == "" || path == "" || path[0] != '/' || strings.ContainsAny(method+path, " \r\n\t?#%") || !isToken(method) {
			t.Skip()
		}
		g := newTestGame(t, Small)
		g.licenses.active[0] = &License{Allowed: 3}
		a := &api{game: g, begin: func() {}, answers: map[string]map[int]int64{}}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL.Path = method, path
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		var refusal Refusal
		switch {
		case !slices.Contains(statuses, w.Code) || !json.Valid(w.Body.Bytes()):
			t.Errorf("status %d, %s", w.Code, w.Body)
		case w.Code != 200 && (json.Unmarshal(w.Body.Bytes(), &refusal) != nil || refusal.Code == 0 || refusal.Message == ""):
			t.Errorf("a refusal without code and message: %s", w.Body)
		case g.bank.balance != 0:
			t.Errorf("%d coins", g.bank.balance)
		}
	})
}

// isToken reports whether a method has plain letters only.
func isToken(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// FuzzSaved takes any file up as a saved game: it is refused, or its state is one of the game.
func FuzzSaved(f *testing.F) {
	f.Add(`{"seed":3,"size":{"X":5,"Y":5,"Depth":10,"Density":4,"Licenses":3,"Test":true},"balance":9,"licenses":[{"id":1,"digAllowed":3,"digUsed":1}],"next":2}` + "\n" + strings.Repeat("\x01", 25))
	f.Add("{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "game.save")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := NewGame(Config{Seed: 3, Size: Small, Duration: time.Hour, Save: file})
		if err != nil {
			return
		}
		if b := g.game.bank; b.balance < 0 || b.balance > b.total || len(b.wallet()) != min(b.balance, walletMost) {
			t.Errorf("a balance of %d", b.balance)
		}
		if n := len(g.game.licenses.active); n > Small.Licenses {
			t.Errorf("%d licences", n)
		}
	})
}
