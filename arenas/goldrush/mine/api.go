package mine

import (
	"encoding/json"
	"net/http"
	"sync"
)

// An api serves a game over HTTP. Each request but that for its health begins the game.
type api struct {
	game  *game
	begin func()
	log   func(method, path string, status int) // nil for no log

	mu      sync.Mutex
	answers map[string]map[int]int64 // by operation and status
}

// operations are those of the API: a method and a path each.
var operations = map[string]string{
	"GET /health-check": "health", "GET /balance": "balance", "GET /licenses": "list", "POST /licenses": "license",
	"POST /explore": "explore", "POST /dig": "dig", "POST /cash": "cash",
}

// paths are those with an operation.
var paths = map[string]bool{"/health-check": true, "/balance": true, "/licenses": true, "/explore": true, "/dig": true, "/cash": true}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op := operations[r.Method+" "+r.URL.Path]
	if op != "health" {
		a.begin()
	}
	answer, refusal := a.do(op, r)
	status := http.StatusOK
	if refusal != nil {
		status, answer = refusal.Status, refusal
	}
	a.count(op, status)
	if a.log != nil {
		a.log(r.Method, r.URL.Path, status)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"code":500,"message":"the answer cannot be written"}`)
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noCache
	h["Pragma"] = noPragma
	h["Expires"] = noExpires
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // an error is the client's, who is gone
}

// Values of header fields, which all answers share.
var (
	jsonType  = []string{"application/json"}
	noCache   = []string{"no-cache, no-store, must-revalidate"}
	noPragma  = []string{"no-cache"}
	noExpires = []string{"0"}
)

// do performs an operation.
func (a *api) do(op string, r *http.Request) (any, *Refusal) {
	ctx, g := r.Context(), a.game
	switch op {
	case "health":
		return "OK", nil
	case "balance":
		return g.balance()
	case "list":
		return g.listLicenses(ctx)
	case "license":
		coins, bad := readCoins(r)
		if bad != nil {
			return nil, bad
		}
		return g.issueLicense(ctx, coins)
	case "explore":
		area, bad := readArea(r)
		if bad != nil {
			return nil, bad
		}
		n, bad := g.explore(ctx, area)
		return explored{area, n}, bad
	case "dig":
		s, bad := readSpade(r)
		if bad != nil {
			return nil, bad
		}
		id, bad := g.dig(ctx, s)
		return []string{id}, bad
	case "cash":
		id, bad := readTreasure(r)
		if bad != nil {
			return nil, bad
		}
		return g.cash(ctx, id)
	}
	if paths[r.URL.Path] {
		return nil, refuse(405, 405, "method %.20s is not allowed", r.Method)
	}
	return nil, refuse(404, 404, "path %.60s was not found", r.URL.Path)
}

// explored is the answer to an exploration.
type explored struct {
	Area   Area `json:"area"`
	Amount int  `json:"amount"`
}

// count notes an answer.
func (a *api) count(op string, status int) {
	if op == "" {
		op = "other"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers[op] == nil {
		a.answers[op] = map[int]int64{}
	}
	a.answers[op][status]++
}
