package isuports

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/bench"
	"github.com/iikanji/iikanji/internal/scenario"
)

// A perfectApp implements the contest's API in memory. It is fast and correct, so
// the benchmarker must find no fault.
type perfectApp struct {
	key any // public

	billsLate bool // fault: visits after the end are billed
	keepsLast bool // fault: only the last visit of a player is kept

	mu      sync.RWMutex
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
		data := SmallSize.drawTenant(id+1, ids)
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

// serve checks the session and answers. Requests that change nothing share a lock.
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

func (a *perfectApp) id() string { a.nextID++; return strconv.FormatInt(int64(a.nextID), 16) }

var perfectName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,61}[a-z0-9]$`)

func (a *perfectApp) addTenant(c *perfectCall) {
	t := &perfectTenant{id: len(a.tenants) + 1, name: c.r.FormValue("name"), display: c.r.FormValue("display_name"), byID: map[string]*perfectPlayer{}}
	taken := slices.ContainsFunc(a.tenants, func(o *perfectTenant) bool { return o.name == t.name })
	if taken || !perfectName.MatchString(t.name) {
		c.refuse(400)
		return
	}
	a.tenants = append(a.tenants, t)
	c.ok(object{"tenant": t.shown()})
}

func (t *perfectTenant) shown() object {
	yen := int64(0)
	for _, k := range t.competitions {
		yen += k.report()["billing_yen"].(int64)
	}
	return object{"id": strconv.Itoa(t.id), "name": t.name, "display_name": t.display, "billing": yen}
}

func (k *perfectCompetition) report() object {
	players, visitors := int64(0), int64(0)
	if k.finished {
		players = int64(len(k.scores))
		for id := range k.visitors {
			if _, scored := k.scores[id]; !scored {
				visitors++
			}
		}
	}
	return object{"competition_id": k.id, "competition_title": k.title, "player_count": players, "visitor_count": visitors,
		"billing_player_yen": 100 * players, "billing_visitor_yen": 10 * visitors, "billing_yen": 100*players + 10*visitors}
}

func (a *perfectApp) billingPage(c *perfectCall) {
	before := len(a.tenants) + 1
	if text := c.r.FormValue("before"); text != "" {
		var err error
		if before, err = strconv.Atoi(text); err != nil {
			c.refuse(400)
			return
		}
	}
	list := []object{}
	for _, t := range slices.Backward(a.tenants) {
		if t.id < before && len(list) < 10 {
			list = append(list, t.shown())
		}
	}
	c.ok(object{"tenants": list})
}

func (p *perfectPlayer) shown() object {
	return object{"id": p.id, "display_name": p.name, "is_disqualified": p.disqualified}
}

func (k *perfectCompetition) shown() object {
	return object{"id": k.id, "title": k.title, "is_finished": k.finished}
}

func (a *perfectApp) players(c *perfectCall) {
	list := []object{}
	for _, p := range slices.Backward(c.tenant.players) {
		list = append(list, p.shown())
	}
	c.ok(object{"players": list})
}

func (a *perfectApp) addPlayers(c *perfectCall) {
	c.r.ParseForm()
	list := []object{}
	for _, name := range c.r.Form["display_name[]"] {
		p := &perfectPlayer{id: a.id(), name: name}
		c.tenant.add(p)
		list = append(list, p.shown())
	}
	c.ok(object{"players": list})
}

func (a *perfectApp) disqualify(c *perfectCall) {
	p := c.tenant.byID[c.r.PathValue("id")]
	if p == nil {
		c.refuse(404)
		return
	}
	p.disqualified = true
	c.ok(object{"player": p.shown()})
}

func (a *perfectApp) addCompetition(c *perfectCall) {
	k := &perfectCompetition{id: a.id(), title: c.r.FormValue("title"), scores: map[string]perfectScore{}, visitors: map[string]bool{}}
	c.tenant.competitions = append(c.tenant.competitions, k)
	c.ok(object{"competition": k.shown()})
}

func (a *perfectApp) finish(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	k.finished = true
	sendPerfect(c.w, 200, object{"status": true})
}

func (a *perfectApp) upload(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	file, _, err := c.r.FormFile("scores")
	if err != nil || k.finished {
		c.refuse(400)
		return
	}
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || !slices.Equal(rows[0], []string{"player_id", "score"}) {
		c.refuse(400)
		return
	}
	scores := map[string]perfectScore{}
	for i, row := range rows[1:] {
		score, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil || c.tenant.byID[row[0]] == nil {
			c.refuse(400)
			return
		}
		scores[row[0]] = perfectScore{score, i}
	}
	k.scores = scores
	c.ok(object{"rows": len(rows) - 1})
}

func (a *perfectApp) billing(c *perfectCall) {
	list := []object{}
	for _, k := range slices.Backward(c.tenant.competitions) {
		list = append(list, k.report())
	}
	c.ok(object{"reports": list})
}

func (a *perfectApp) competitions(c *perfectCall) {
	list := []object{}
	for _, k := range slices.Backward(c.tenant.competitions) {
		list = append(list, k.shown())
	}
	c.ok(object{"competitions": list})
}

func (a *perfectApp) detail(c *perfectCall) {
	p := c.tenant.byID[c.r.PathValue("id")]
	if p == nil {
		c.refuse(404)
		return
	}
	scores := []object{}
	for _, k := range c.tenant.competitions {
		if s, ok := k.scores[p.id]; ok {
			scores = append(scores, object{"competition_title": k.title, "score": s.score})
		}
	}
	c.ok(object{"player": p.shown(), "scores": scores})
}

func (a *perfectApp) ranking(c *perfectCall) {
	k := c.tenant.competition(c.r.PathValue("id"))
	if k == nil {
		c.refuse(404)
		return
	}
	if !k.finished || a.billsLate {
		k.visitors[c.player.id] = true
	} else if a.keepsLast {
		delete(k.visitors, c.player.id)
	}
	after, _ := strconv.Atoi(c.r.FormValue("rank_after"))
	ids := make([]string, 0, len(k.scores))
	for id := range k.scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int {
		return cmp.Or(cmp.Compare(k.scores[y].score, k.scores[x].score), cmp.Compare(k.scores[x].row, k.scores[y].row))
	})
	ranks := []object{}
	for i, id := range ids {
		if i >= after && len(ranks) < 100 {
			ranks = append(ranks, object{"rank": i + 1, "score": k.scores[id].score, "player_id": id, "player_display_name": c.tenant.byID[id].name})
		}
	}
	c.ok(object{"competition": k.shown(), "ranks": ranks})
}

func (a *perfectApp) me(c *perfectCall) {
	answer := object{"tenant": object{"name": c.tenant.name, "display_name": c.tenant.display}, "me": nil, "role": c.role, "logged_in": c.role != "none"}
	if c.player != nil {
		answer["me"] = c.player.shown()
	}
	c.ok(answer)
}

// perfectContest returns the benchmarker for a perfect app.
func perfectContest(t *testing.T, clock float64) (*contest, *perfectApp) {
	t.Helper()
	key, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	data := new(Dataset)
	if err := SmallSize.draw(t.Context(), data, nil, nil); err != nil {
		t.Fatal(err)
	}
	ct, err := newContest(arena.Options{Clock: clock}, data, key, perfectPublic)
	if err != nil {
		t.Fatal(err)
	}
	return ct, &perfectApp{key: &key.PublicKey}
}

// perfectRun runs the benchmarker against a perfect app for some time. Only before
// handles requests of the load before the app does; it returns true for those that
// it has answered.
func perfectRun(t *testing.T, clock float64, load time.Duration, before func(w http.ResponseWriter, r *http.Request) bool) *iikanji.Run {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ct, app := perfectContest(t, clock)
	var loading atomic.Bool
	routes := app.routes()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !loading.Load() || !before(w, r) {
			routes.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	run, err := bench.Run(t.Context(), ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: load,
		OnPhase: func(p scenario.Phase, begins bool) { loading.Store(p == scenario.Load && begins) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	server.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after the run, %d before it", runtime.NumGoroutine(), goroutines)
		}
	}
	return run
}

// gauge returns a gauge of a run.
func gauge(t *testing.T, run *iikanji.Run, name string) float64 {
	t.Helper()
	for _, g := range run.Gauges {
		if g.Name == name {
			return g.Value
		}
	}
	t.Fatalf("no gauge %q", name)
	return 0
}

func TestPerfectApp(t *testing.T) {
	run := perfectRun(t, 10, 2*time.Second, nil)
	for _, p := range run.Points {
		if p.Count == 0 {
			t.Errorf("no %s", p.Event)
		}
	}
	for _, name := range []string{"competition rounds", "walks over the billing", "players at the end"} {
		if gauge(t, run, name) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if tenants, walks := gauge(t, run, "tenants at the end"), gauge(t, run, "walks over the billing"); tenants < initialTenants+walks {
		t.Errorf("%g tenants after %g walks", tenants, walks)
	}
	t.Logf("%s, score %.0f: %v", run.Outcome, run.Score, run.Reasons)
}

// TestGrowthRefused: a target may refuse growth with 429 and Retry-After, without
// penalty.
func TestGrowthRefused(t *testing.T) {
	var n atomic.Int64
	run := perfectRun(t, 10, time.Second, func(w http.ResponseWriter, r *http.Request) bool {
		if grows := r.URL.Path == "/api/admin/tenants/add" || r.URL.Path == "/api/organizer/competitions/add"; !grows || n.Add(1)%2 == 0 {
			return false
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	})
	if refused := gauge(t, run, "growth refused with 429"); refused == 0 || run.Deducted != 0 {
		t.Errorf("growth was refused %g times, which cost %g", refused, run.Deducted)
	}
	if gauge(t, run, "competition rounds") == 0 {
		t.Error("no round after a refusal")
	}
}

// TestPlayersLeave: players leave when rankings are slow.
func TestPlayersLeave(t *testing.T) {
	run := perfectRun(t, maxClock, 5*time.Second, func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/ranking") {
			scenario.Sleep(r.Context(), tooSlow+50*time.Millisecond)
		}
		return false
	})
	if gauge(t, run, "players who left") == 0 {
		t.Error("no player left")
	}
}

// TestVisits: of the visits of a player, the first one decides whether the player
// is billed as a visitor.
func TestVisits(t *testing.T) {
	for name, spoil := range map[string]func(app *perfectApp){
		"visits after the end are billed": func(app *perfectApp) { app.billsLate = true },
		"only the last visit is kept":     func(app *perfectApp) { app.keepsLast = true },
	} {
		ct, app := perfectContest(t, 10)
		spoil(app)
		server := httptest.NewServer(app.routes())
		run, err := bench.Run(t.Context(), checksOnly{ct}, bench.Options{URL: server.URL, Seed: 1})
		server.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(run.Faults) != 1 || run.Faults[0].Check != "billing-report" {
			t.Errorf("%s: %s %+v, want one fault of check billing-report", name, run.Outcome, run.Faults)
		}
	}
}
