package isucondition

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// A perfectApp implements the contest's API in memory. It stores every post, shows
// it at once, and is fast, so the benchmarker must find no fault.
type perfectApp struct {
	data *Data
	key  any

	mu    sync.RWMutex
	jia   string
	self  string
	users map[string]bool
	isus  []*perfectISU
	byID  map[string]*perfectISU
}

type perfectISU struct {
	id                     int
	uuid, name, char, user string
	icon                   []byte
	past                   []testCondition // ascending
}

func newPerfectApp(t *testing.T) *perfectApp {
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	return &perfectApp{data: perfectData(), key: &key.PublicKey}
}

// perfectData is initial data of the contest's shape, but the images of the pool
// are not real.
func perfectData() *Data {
	pool := make([]Image, 8)
	for i := range pool {
		pool[i] = newImage(bytes.Repeat([]byte{byte(i)}, 500))
	}
	return &Data{Users: generateUsers(pool), Pool: pool, NoImage: newImage([]byte("none")), Assets: []Asset{
		newAsset("/", []byte(perfectPage), false), newAsset("/assets/a.js", []byte("a"), false)}}
}

const perfectPage = `<!DOCTYPE html><script src="/assets/a.js"></script>`

// initialize restores the initial state.
func (a *perfectApp) initialize() {
	a.users, a.isus, a.byID = map[string]bool{}, nil, map[string]*perfectISU{}
	for _, u := range a.data.Users {
		a.users[u.ID] = true
		for _, i := range u.ISUs {
			p := &perfectISU{id: i.ID, uuid: i.UUID, name: i.Name, char: i.Character, user: u.ID}
			for _, img := range append(a.data.Pool, a.data.NoImage) {
				if img.MD5 == i.Image {
					p.icon = img.Bytes
				}
			}
			for _, c := range i.Conditions {
				p.past = append(p.past, testCondition{p.uuid, p.name, c.Timestamp, c.IsSitting, c.Flags.Condition(), c.Level().String(), c.Message})
			}
			a.byID[p.uuid] = p
			a.isus = append(a.isus, p)
		}
	}
	slices.SortFunc(a.isus, func(x, y *perfectISU) int { return x.id - y.id })
}

func (a *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, r *http.Request) {
		var said struct {
			JIA string `json:"jia_service_url"`
		}
		json.NewDecoder(r.Body).Decode(&said)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.jia, a.self = said.JIA, "http://"+r.Host
		a.initialize()
		sendJSON(w, 200, map[string]string{"language": "test"})
	})
	mux.HandleFunc("POST /api/auth", a.auth)
	mux.HandleFunc("POST /api/condition/{uuid}", a.post)
	mux.HandleFunc("GET /api/trend", a.trend)
	mux.HandleFunc("POST /api/isu", a.mine(a.register))
	mux.HandleFunc("GET /api/isu", a.mine(a.list))
	mux.HandleFunc("GET /api/isu/{uuid}", a.mine(a.own(func(w http.ResponseWriter, _ *http.Request, p *perfectISU) { sendJSON(w, 200, p.shown()) })))
	mux.HandleFunc("GET /api/isu/{uuid}/icon", a.mine(a.own(a.icon)))
	mux.HandleFunc("GET /api/isu/{uuid}/graph", a.mine(a.graph))
	mux.HandleFunc("GET /api/condition/{uuid}", a.mine(a.conditions))
	mux.HandleFunc("GET /api/user/me", a.mine(func(w http.ResponseWriter, _ *http.Request, user string) {
		sendJSON(w, 200, map[string]string{"jia_user_id": user})
	}))
	mux.HandleFunc("POST /api/signout", a.mine(func(w http.ResponseWriter, _ *http.Request, _ string) {
		http.SetCookie(w, &http.Cookie{Name: "u", Path: "/", MaxAge: -1})
	}))
	mux.HandleFunc("GET /assets/a.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		io.WriteString(w, "a")
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, perfectPage)
	})
	return mux
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func sendText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func (p *perfectISU) shown() testISU { return testISU{int64(p.id), p.uuid, p.name, p.char} }

func (a *perfectApp) auth(w http.ResponseWriter, r *http.Request) {
	token, err := jwt.Parse(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "),
		func(*jwt.Token) (any, error) { return a.key, nil }, jwt.WithValidMethods([]string{"ES256"}))
	if err != nil {
		sendText(w, 403, textForbidden)
		return
	}
	user, ok := token.Claims.(jwt.MapClaims)["jia_user_id"].(string)
	if !ok {
		sendText(w, 400, textBadClaims)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users == nil {
		a.users = map[string]bool{}
	}
	a.users[user] = true
	http.SetCookie(w, &http.Cookie{Name: "u", Value: user, Path: "/"})
}

// mine refuses requests without a session.
func (a *perfectApp) mine(do func(w http.ResponseWriter, r *http.Request, user string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("u")
		a.mu.RLock()
		known := err == nil && a.users[c.Value]
		a.mu.RUnlock()
		if !known {
			sendText(w, 401, textSignedOut)
			return
		}
		do(w, r, c.Value)
	}
}

// own finds the user's ISU and locks it.
func (a *perfectApp) own(do func(w http.ResponseWriter, r *http.Request, p *perfectISU)) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, user string) {
		a.mu.RLock()
		defer a.mu.RUnlock()
		p := a.byID[r.PathValue("uuid")]
		if p == nil || p.user != user {
			sendText(w, 404, textNoISU)
			return
		}
		do(w, r, p)
	}
}

func (a *perfectApp) icon(w http.ResponseWriter, r *http.Request, p *perfectISU) {
	tag := fmt.Sprintf(`"%s %s"`, p.user, p.uuid)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(304)
		return
	}
	w.Write(p.icon)
}

func (a *perfectApp) list(w http.ResponseWriter, _ *http.Request, user string) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := []testListed{}
	for _, p := range slices.Backward(a.isus) {
		if p.user != user {
			continue
		}
		l := testListed{testISU: p.shown()}
		if n := len(p.past); n > 0 {
			l.Latest = &p.past[n-1]
		}
		list = append(list, l)
	}
	sendJSON(w, 200, list)
}

func (a *perfectApp) register(w http.ResponseWriter, r *http.Request, user string) {
	icon, _, err := r.FormFile("image")
	image := a.data.NoImage.Bytes
	if err == nil {
		image, _ = io.ReadAll(icon)
	} else if err != http.ErrMissingFile {
		sendText(w, 400, textBadIcon)
		return
	}
	p := &perfectISU{uuid: r.FormValue("jia_isu_uuid"), name: r.FormValue("isu_name"), user: user, icon: image}
	a.mu.RLock()
	there := a.byID[p.uuid] != nil
	a.mu.RUnlock()
	if there {
		sendText(w, 409, textDuplicate)
		return
	}
	res, err := http.Post(a.jia+"/api/activate", "application/json", strings.NewReader(request(a.self, p.uuid)))
	if err != nil {
		w.WriteHeader(500)
		return
	}
	defer res.Body.Close()
	if res.StatusCode != 202 {
		sendText(w, res.StatusCode, textJIA)
		return
	}
	var said struct{ Character string }
	json.NewDecoder(res.Body).Decode(&said)
	p.char = said.Character
	a.mu.Lock()
	defer a.mu.Unlock()
	p.id = len(a.isus) + 1
	a.byID[p.uuid] = p
	a.isus = append(a.isus, p)
	sendJSON(w, 201, p.shown())
}

func (a *perfectApp) post(w http.ResponseWriter, r *http.Request) {
	var posted []struct {
		Sitting bool   `json:"is_sitting"`
		Cond    string `json:"condition"`
		Message string `json:"message"`
		TS      int64  `json:"timestamp"`
	}
	err := json.NewDecoder(r.Body).Decode(&posted)
	bad := err != nil || len(posted) == 0
	for _, k := range posted {
		_, ok := ParseFlags(k.Cond)
		bad = bad || !ok
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.byID[r.PathValue("uuid")]
	switch {
	case bad:
		sendText(w, 400, textBadRequest)
	case p == nil:
		sendText(w, 404, textNoISU)
	default:
		for _, k := range posted {
			f, _ := ParseFlags(k.Cond)
			// On a busy machine a post may overtake the one before it.
			i, _ := slices.BinarySearchFunc(p.past, k.TS, func(x testCondition, ts int64) int { return int(x.TS - ts) })
			p.past = slices.Insert(p.past, i, testCondition{p.uuid, p.name, k.TS, k.Sitting, k.Cond, f.Level().String(), k.Message})
		}
		w.WriteHeader(202)
	}
}

// between returns an ISU's conditions in [start, end).
func (p *perfectISU) between(start, end int64) []testCondition {
	at := func(ts int64) int {
		i, _ := slices.BinarySearchFunc(p.past, ts, func(k testCondition, ts int64) int { return int(k.TS - ts) })
		return i
	}
	lo := at(start)
	return p.past[lo:max(lo, at(end))]
}

func (a *perfectApp) conditions(w http.ResponseWriter, r *http.Request, user string) {
	q := r.URL.Query()
	end, err := strconv.ParseInt(q.Get("end_time"), 10, 64)
	start := int64(0)
	switch {
	case err != nil:
		sendText(w, 400, textBadEnd)
		return
	case q.Get("condition_level") == "":
		sendText(w, 400, textNoLevel)
		return
	case q.Has("start_time"):
		if start, err = strconv.ParseInt(q.Get("start_time"), 10, 64); err != nil {
			sendText(w, 400, textBadStart)
			return
		}
	}
	a.own(func(w http.ResponseWriter, _ *http.Request, p *perfectISU) {
		page := []testCondition{}
		for _, k := range slices.Backward(p.between(start, end)) {
			if len(page) < pageLimit && strings.Contains(q.Get("condition_level"), k.Level) {
				page = append(page, k)
			}
		}
		sendJSON(w, 200, page)
	})(w, r, user)
}

func (a *perfectApp) graph(w http.ResponseWriter, r *http.Request, user string) {
	if !r.URL.Query().Has("datetime") {
		sendText(w, 400, textNoDatetime)
		return
	}
	day, err := strconv.ParseInt(r.URL.Query().Get("datetime"), 10, 64)
	if err != nil {
		sendText(w, 400, textBadDatetime)
		return
	}
	a.own(func(w http.ResponseWriter, _ *http.Request, p *perfectISU) {
		c := &chair{}
		for _, k := range p.between(day, day+daySeconds) {
			f, _ := ParseFlags(k.Cond)
			c.past.add(k.TS, stateOf(k.Sitting, f))
		}
		sendJSON(w, 200, graphOf(c, day))
	})(w, r, user)
}

func (a *perfectApp) trend(w http.ResponseWriter, _ *http.Request) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	all := make([]testTrend, Characters)
	for i := range all {
		all[i] = testTrend{Labels[i], []testTrendISU{}, []testTrendISU{}, []testTrendISU{}}
	}
	for _, p := range a.isus {
		if len(p.past) == 0 {
			continue
		}
		k, t := p.past[len(p.past)-1], &all[CharacterOf(p.char)]
		list := map[string]*[]testTrendISU{"info": &t.Info, "warning": &t.Warning, "critical": &t.Critical}[k.Level]
		*list = append(*list, testTrendISU{int64(p.id), k.TS})
	}
	for _, t := range all {
		for _, list := range [][]testTrendISU{t.Info, t.Warning, t.Critical} {
			slices.SortFunc(list, func(x, y testTrendISU) int { return int(y.TS - x.TS) })
		}
	}
	sendJSON(w, 200, all)
}

// TestPerfectApp runs the whole benchmarker against a perfectApp, with virtual
// time twice as fast as in the contest, so that days are completed within seconds.
func TestPerfectApp(t *testing.T) {
	app := newPerfectApp(t)
	server := httptest.NewServer(app.routes())
	defer server.Close()
	key, err := SigningKey("")
	if err != nil {
		t.Fatal(err)
	}
	ct := &contest{options: arena.Options{Clock: 60000}, data: app.data, key: key, firstUsers: firstUsers}
	run, err := bench.Run(context.Background(), ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	points := map[string]int64{}
	var graphs, days int64
	for i, p := range run.Points {
		points[p.Event] = p.Count
		if i >= int(eventToday) {
			graphs += p.Count
		} else if i >= int(eventDay) {
			days += p.Count
		}
	}
	// The number of graphs and their bands depend on the load of this machine.
	if points["50 info conditions read"] == 0 || graphs == 0 || days == 0 {
		t.Errorf("a perfect app got too little: %v", points)
	}
	gauges := map[string]float64{}
	for _, g := range run.Gauges {
		gauges[g.Name] = g.Value
	}
	if read, offered := gauges["conditions read"], gauges["conditions offered"]; read > offered || read == 0 {
		t.Errorf("%v conditions read of %v offered", read, offered)
	}
	t.Logf("score %.0f, %v, %v users at the end", run.Score, points, gauges["users at the end"])
}
