package isuports

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/golang-jwt/jwt/v5"
)

// A perfectApp implements the contest's API in memory. It is fast and correct, so
// the benchmarker must find no fault.
type perfectApp struct {
	key any // public

	billsLate bool // fault: visits after the end are billed
	keepsLast bool // fault: only the last visit of a player is kept

	mu      sync.Mutex
	tenants []*perfectTenant
	nextID  int
}

type perfectTenant struct {
	id            int
	name, display string
	players       []*perfectPlayer // ascending by time
	byID          map[string]*perfectPlayer
	competitions  []*perfectCompetition
}

type perfectPlayer struct {
	id, name     string
	disqualified bool
}

type perfectCompetition struct {
	id, title string
	finished  bool
	scores    map[string]perfectScore
	visitors  map[string]bool // before the end
}

type perfectScore struct {
	score int64
	row   int
}

// initialize restores the initial data. It draws it again, so it needs no copy.
func (a *perfectApp) initialize() {
	ids := newIDs()
	a.tenants, a.nextID = nil, 1<<36
	for id := range int64(initialTenants) {
		data := smallSize.drawTenant(id+1, ids)
		t := &perfectTenant{id: int(data.id), name: data.name, display: data.displayName, byID: map[string]*perfectPlayer{}}
		for _, p := range data.players {
			t.add(&perfectPlayer{p.id, p.name, p.disqualified})
		}
		for _, c := range data.competitions {
			held := &perfectCompetition{id: c.id, title: c.title, finished: c.finished != 0, scores: map[string]perfectScore{}, visitors: map[string]bool{}}
			for i, s := range c.scores {
				held.scores[data.players[s.player].id] = perfectScore{s.score, i}
			}
			for _, v := range c.visits {
				held.visitors[data.players[v.player].id] = true
			}
			t.competitions = append(t.competitions, held)
		}
		a.tenants = append(a.tenants, t)
	}
}

func (t *perfectTenant) add(p *perfectPlayer) {
	t.players = append(t.players, p)
	t.byID[p.id] = p
}

func (t *perfectTenant) competition(id string) *perfectCompetition {
	for _, c := range t.competitions {
		if c.id == id {
			return c
		}
	}
	return nil
}

// A perfectCall is a request with its session.
type perfectCall struct {
	w      http.ResponseWriter
	r      *http.Request
	tenant *perfectTenant // nil for the admin
	role   string
	player *perfectPlayer
}

type object = map[string]any

func (c *perfectCall) ok(data object) {
	sendPerfect(c.w, 200, object{"status": true, "data": data})
}

func (c *perfectCall) refuse(status int) {
	sendPerfect(c.w, status, object{"status": false, "message": ""})
}

func sendPerfect(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "private")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

const perfectPage = `<!DOCTYPE html><script src="/a.js"></script>`

var perfectPublic = fstest.MapFS{"index.html": {Data: []byte(perfectPage)}, "a.js": {Data: []byte("a")}, "a.css": {Data: []byte("b")}}

func (a *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.initialize()
		sendPerfect(w, 200, object{"status": true, "data": object{"lang": "test"}})
	})
	for pattern, route := range map[string]struct {
		role   string
		answer func(c *perfectCall)
	}{
		"POST /api/admin/tenants/add":                  {"admin", a.addTenant},
		"GET /api/admin/tenants/billing":               {"admin", a.billingPage},
		"GET /api/organizer/players":                   {"organizer", a.players},
		"POST /api/organizer/players/add":              {"organizer", a.addPlayers},
		"POST /api/organizer/player/{id}/disqualified": {"organizer", a.disqualify},
		"POST /api/organizer/competitions/add":         {"organizer", a.addCompetition},
		"POST /api/organizer/competition/{id}/finish":  {"organizer", a.finish},
		"POST /api/organizer/competition/{id}/score":   {"organizer", a.upload},
		"GET /api/organizer/billing":                   {"organizer", a.billing},
		"GET /api/organizer/competitions":              {"organizer", a.competitions},
		"GET /api/player/player/{id}":                  {"player", a.detail},
		"GET /api/player/competition/{id}/ranking":     {"player", a.ranking},
		"GET /api/player/competitions":                 {"player", a.competitions},
		"GET /api/me":                                  {"", a.me},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, route.role, route.answer) })
	}
	mux.HandleFunc("GET /a.js", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("a")) })
	mux.HandleFunc("GET /a.css", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("b")) })
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(perfectPage)) })
	return mux
}

// serve checks the session and answers. Only one request is served at a time.
func (a *perfectApp) serve(w http.ResponseWriter, r *http.Request, role string, answer func(c *perfectCall)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &perfectCall{w: w, r: r, role: "none"}
	host := strings.TrimSuffix(r.Host, "."+defaultDomain)
	if role == "admin" && host != "admin" {
		c.refuse(404)
		return
	}
	for _, t := range a.tenants {
		if t.name == host {
			c.tenant = t
		}
	}
	subject, err := a.session(r, host, c)
	if err != nil && role == "" {
		answer(c)
		return
	}
	switch {
	case err != nil || c.tenant == nil && host != "admin" || host == "admin" && c.role != "admin":
		c.refuse(401)
	case role != "" && c.role != role:
		c.refuse(403)
	case c.role == "player" && c.tenant.byID[subject] == nil:
		c.refuse(401)
	case c.role == "player" && c.tenant.byID[subject].disqualified:
		c.refuse(403)
	default:
		if c.role == "player" {
			c.player = c.tenant.byID[subject]
		}
		answer(c)
	}
}

// session reads the token.
func (a *perfectApp) session(r *http.Request, host string, c *perfectCall) (subject string, err error) {
	k, err := r.Cookie(sessionCookie)
	if err != nil {
		return "", err
	}
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(k.Value, claims, func(*jwt.Token) (any, error) { return a.key, nil }, jwt.WithValidMethods([]string{"RS256"}),
		jwt.WithExpirationRequired()); err != nil {
		return "", err
	}
	aud, _ := claims.GetAudience()
	role, _ := claims["role"].(string)
	subject, _ = claims.GetSubject()
	if subject == "" || !slices.Contains([]string{"admin", "organizer", "player"}, role) || len(aud) != 1 || aud[0] != host {
		return "", fmt.Errorf("bad claims")
	}
	c.role = role
	return subject, nil
}
