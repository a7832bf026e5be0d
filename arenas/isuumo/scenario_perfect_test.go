package isuumo

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/bench"
)

// A perfectApp implements the contest's API in memory, with plain loops over
// plain rows, and nothing of the model. It is fast and always fresh, so the
// benchmarker must find no fault.
type perfectApp struct {
	data *Dataset

	mu      sync.RWMutex
	chairs  []Chair
	estates []Estate
}

// perfectSize is small, so that even plain loops are fast.
var perfectSize = size{initial: 2000, verify: 20, files: 10, perFile: 50}

func newPerfectApp() *perfectApp { return &perfectApp{data: generate(perfectSize)} }

type shownChair struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Thumbnail   string `json:"thumbnail"`
	Price       int64  `json:"price"`
	Height      int64  `json:"height"`
	Width       int64  `json:"width"`
	Depth       int64  `json:"depth"`
	Color       string `json:"color"`
	Features    string `json:"features"`
	Kind        string `json:"kind"`
}

func showChair(c Chair) shownChair {
	return shownChair{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color, c.Features, c.Kind}
}

func foundChair(c *Chair) shownChair { return showChair(*c) }

type shownEstate struct {
	ID          int64   `json:"id"`
	Thumbnail   string  `json:"thumbnail"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	Address     string  `json:"address"`
	Rent        int64   `json:"rent"`
	DoorHeight  int64   `json:"doorHeight"`
	DoorWidth   int64   `json:"doorWidth"`
	Features    string  `json:"features"`
}

func showEstate(e Estate) shownEstate {
	return shownEstate{e.ID, e.Thumbnail, e.Name, e.Description, e.Latitude, e.Longitude, e.Address, e.Rent, e.DoorHeight, e.DoorWidth, e.Features}
}

func foundEstate(e *Estate) shownEstate { return showEstate(*e) }

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func (a *perfectApp) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /initialize", func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.chairs, a.estates = slices.Clone(a.data.Chairs), slices.Clone(a.data.Estates)
		sendJSON(w, 200, map[string]string{"language": "test"})
	})
	reading := func(do http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			a.mu.RLock()
			defer a.mu.RUnlock()
			do(w, r)
		}
	}
	mux.HandleFunc("GET /api/chair/search/condition", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, chairConditions()) })
	mux.HandleFunc("GET /api/estate/search/condition", func(w http.ResponseWriter, _ *http.Request) { sendJSON(w, 200, estateConditions()) })
	mux.HandleFunc("GET /api/chair/{id}", reading(a.chair))
	mux.HandleFunc("GET /api/estate/{id}", reading(a.estate))
	mux.HandleFunc("GET /api/chair/low_priced", reading(a.chairLow))
	mux.HandleFunc("GET /api/estate/low_priced", reading(a.estateLow))
	mux.HandleFunc("GET /api/chair/search", reading(a.chairSearch))
	mux.HandleFunc("GET /api/estate/search", reading(a.estateSearch))
	mux.HandleFunc("GET /api/recommended_estate/{id}", reading(a.recommended))
	mux.HandleFunc("POST /api/estate/nazotte", reading(a.nazotte))
	mux.HandleFunc("POST /api/estate/req_doc/{id}", reading(a.document))
	mux.HandleFunc("POST /api/chair/buy/{id}", a.buy)
	mux.HandleFunc("POST /api/chair", a.postChairs)
	mux.HandleFunc("POST /api/estate", a.postEstates)
	return mux
}

// byID answers with the row of the path's id.
func byID[T any](w http.ResponseWriter, r *http.Request, list []T, missing int, id func(*T) int64, do func(i int)) {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		w.WriteHeader(400)
		return
	}
	for i := range list {
		if id(&list[i]) == n {
			do(i)
			return
		}
	}
	w.WriteHeader(missing)
}

func (a *perfectApp) chair(w http.ResponseWriter, r *http.Request) {
	byID(w, r, a.chairs, 404, chairID, func(i int) {
		if a.chairs[i].Stock <= 0 {
			w.WriteHeader(404)
			return
		}
		sendJSON(w, 200, showChair(a.chairs[i]))
	})
}

func (a *perfectApp) estate(w http.ResponseWriter, r *http.Request) {
	byID(w, r, a.estates, 404, estateID, func(i int) { sendJSON(w, 200, showEstate(a.estates[i])) })
}

// kept lists the rows that a function keeps. Copies of all rows would be most of the work
// under the race detector.
func kept[T any](rows []T, keep func(row *T) bool) (list []*T) {
	for i := range rows {
		if keep(&rows[i]) {
			list = append(list, &rows[i])
		}
	}
	return list
}

func (a *perfectApp) chairLow(w http.ResponseWriter, _ *http.Request) {
	list := kept(a.chairs, func(c *Chair) bool { return c.Stock > 0 })
	slices.SortFunc(list, func(x, y *Chair) int { return cmp.Or(cmp.Compare(x.Price, y.Price), cmp.Compare(x.ID, y.ID)) })
	sendJSON(w, 200, map[string]any{"chairs": mapped(list[:min(20, len(list))], foundChair)})
}

func (a *perfectApp) estateLow(w http.ResponseWriter, _ *http.Request) {
	list := kept(a.estates, func(*Estate) bool { return true })
	slices.SortFunc(list, func(x, y *Estate) int { return cmp.Or(cmp.Compare(x.Rent, y.Rent), cmp.Compare(x.ID, y.ID)) })
	sendJSON(w, 200, map[string]any{"estates": mapped(list[:min(20, len(list))], foundEstate)})
}

// A wish decides whether a row has the conditions of a search.
type wish struct {
	r    *http.Request
	some bool // there is a condition
	bad  bool
}

func (q *wish) number(name string, c RangeCondition) func(v int64) bool {
	text := q.r.FormValue(name)
	if text == "" {
		return func(int64) bool { return true }
	}
	q.some = true
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(c.Ranges) {
		q.bad = true
		return func(int64) bool { return false }
	}
	return c.Ranges[i].Has
}

func (q *wish) label(name string) func(v string) bool {
	text := q.r.FormValue(name)
	q.some = q.some || text != ""
	return func(v string) bool { return text == "" || v == text }
}

func (q *wish) features() func(v string) bool {
	text := q.r.FormValue("features")
	q.some = q.some || text != ""
	return func(v string) bool {
		for label := range strings.SplitSeq(text, ",") {
			if !strings.Contains(v, label) {
				return false
			}
		}
		return true
	}
}

// searched sends a page of the rows of a search.
func searched[T, S any](w http.ResponseWriter, q *wish, list []T, field string, show func(T) S) {
	page, err1 := strconv.Atoi(q.r.FormValue("page"))
	size, err2 := strconv.Atoi(q.r.FormValue("perPage"))
	if q.bad || !q.some || err1 != nil || err2 != nil {
		w.WriteHeader(400)
		return
	}
	rows := list[min(page*size, len(list)):min((page+1)*size, len(list))]
	sendJSON(w, 200, map[string]any{"count": len(list), field: mapped(rows, show)})
}

func popularChairs(list []*Chair) {
	slices.SortFunc(list, func(x, y *Chair) int { return cmp.Or(cmp.Compare(y.Popularity, x.Popularity), cmp.Compare(x.ID, y.ID)) })
}

func popularEstates(list []*Estate) {
	slices.SortFunc(list, func(x, y *Estate) int {
		return cmp.Or(cmp.Compare(y.Popularity, x.Popularity), cmp.Compare(x.ID, y.ID))
	})
}

func (a *perfectApp) chairSearch(w http.ResponseWriter, r *http.Request) {
	q, c := &wish{r: r}, chairConditions()
	price, height, width, depth := q.number("priceRangeId", c.Price), q.number("heightRangeId", c.Height), q.number("widthRangeId", c.Width), q.number("depthRangeId", c.Depth)
	kind, color, features := q.label("kind"), q.label("color"), q.features()
	list := kept(a.chairs, func(c *Chair) bool {
		return c.Stock > 0 && price(c.Price) && height(c.Height) && width(c.Width) && depth(c.Depth) && kind(c.Kind) && color(c.Color) && features(c.Features)
	})
	popularChairs(list)
	searched(w, q, list, "chairs", foundChair)
}

func (a *perfectApp) estateSearch(w http.ResponseWriter, r *http.Request) {
	q, c := &wish{r: r}, estateConditions()
	rent, height, width, features := q.number("rentRangeId", c.Rent), q.number("doorHeightRangeId", c.DoorHeight), q.number("doorWidthRangeId", c.DoorWidth), q.features()
	list := kept(a.estates, func(e *Estate) bool {
		return rent(e.Rent) && height(e.DoorHeight) && width(e.DoorWidth) && features(e.Features)
	})
	popularEstates(list)
	searched(w, q, list, "estates", foundEstate)
}

// firstEstates sends the most popular of the estates that a function keeps.
func (a *perfectApp) firstEstates(w http.ResponseWriter, limit int, keep func(e *Estate) bool) {
	list := kept(a.estates, keep)
	popularEstates(list)
	list = list[:min(limit, len(list))]
	sendJSON(w, 200, map[string]any{"count": len(list), "estates": mapped(list, foundEstate)})
}

func (a *perfectApp) recommended(w http.ResponseWriter, r *http.Request) {
	byID(w, r, a.chairs, 400, chairID, func(i int) {
		c := &a.chairs[i]
		sides := []int64{c.Height, c.Width, c.Depth}
		a.firstEstates(w, 20, func(e *Estate) bool {
			for i, x := range sides {
				for j, y := range sides {
					if i != j && e.DoorWidth >= x && e.DoorHeight >= y {
						return true
					}
				}
			}
			return false
		})
	})
}

func (a *perfectApp) nazotte(w http.ResponseWriter, r *http.Request) {
	var line wireLine
	if json.NewDecoder(r.Body).Decode(&line) != nil || len(line.Coordinates) == 0 {
		w.WriteHeader(400)
		return
	}
	// The polygons are convex: a point inside is on the same side of all edges.
	a.firstEstates(w, 50, func(e *Estate) bool {
		left, right := false, false
		for i := range len(line.Coordinates) - 1 {
			p, q := line.Coordinates[i], line.Coordinates[i+1]
			side := (q.Latitude-p.Latitude)*(e.Longitude-p.Longitude) - (q.Longitude-p.Longitude)*(e.Latitude-p.Latitude)
			left, right = left || side > 0, right || side < 0
		}
		return left != right
	})
}

func emailed(w http.ResponseWriter, r *http.Request) bool {
	var body wireEmail
	ok := json.NewDecoder(r.Body).Decode(&body) == nil && body.Email != ""
	if !ok {
		w.WriteHeader(400)
	}
	return ok
}

func (a *perfectApp) document(w http.ResponseWriter, r *http.Request) {
	if emailed(w, r) {
		byID(w, r, a.estates, 404, estateID, func(int) { w.WriteHeader(200) })
	}
}

func (a *perfectApp) buy(w http.ResponseWriter, r *http.Request) {
	if !emailed(w, r) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	byID(w, r, a.chairs, 404, chairID, func(i int) {
		if a.chairs[i].Stock <= 0 {
			w.WriteHeader(404)
			return
		}
		a.chairs[i].Stock--
	})
}

// posted reads the rows of a form.
func posted[T any](w http.ResponseWriter, r *http.Request, field string, read func(r io.Reader) ([]T, error)) (list []T) {
	f, _, err := r.FormFile(field)
	if err == nil {
		list, err = read(f)
	}
	if err != nil {
		w.WriteHeader(400)
		return nil
	}
	w.WriteHeader(201)
	return list
}

func (a *perfectApp) postChairs(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chairs = append(a.chairs, posted(w, r, "chairs", readChairs)...)
}

func (a *perfectApp) postEstates(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.estates = append(a.estates, posted(w, r, "estates", readEstates)...)
}

// runPerfect runs the benchmarker against a handler, checks that it finds no
// fault and leaves no goroutine behind, and returns the gauges.
func runPerfect(t *testing.T, data *Dataset, handler http.Handler, fixed int, load time.Duration) (run *iikanji.Run, gauges map[string]float64) {
	t.Helper()
	before := runtime.NumGoroutine()
	server := httptest.NewServer(handler)
	ct := &contest{data: data, fixed: fixed}
	run, err := bench.Run(context.Background(), ct, bench.Options{URL: server.URL, Seed: rand.Uint64(), Load: load})
	server.Close()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range run.Faults {
		if f.Kind != iikanji.FaultTimeout { // timeouts happen on a busy machine
			t.Errorf("fault %s %s %s: %s %+v", f.Kind, f.Step, f.Check, f.Message, f.Example)
		}
	}
	for end := time.Now().Add(2 * time.Minute); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before the run and %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
	gauges = map[string]float64{}
	for _, g := range run.Gauges {
		gauges[g.Name] = g.Value
	}
	return run, gauges
}

// longer repeats a run with twice the load until it had enough: a busy machine does
// less in the same time.
func longer(t *testing.T, enough func(*iikanji.Run, map[string]float64) bool, run func(load time.Duration) (*iikanji.Run, map[string]float64)) (*iikanji.Run, map[string]float64) {
	t.Helper()
	r, gauges := run(3 * time.Second)
	for load := 6 * time.Second; !enough(r, gauges) && load < 2*time.Minute && !t.Failed(); load *= 2 {
		r, gauges = run(load)
	}
	return r, gauges
}

// positive reports whether each of some gauges is above 0.
func positive(gauges map[string]float64, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return gauges[name] == 0 })
}

// TestPerfectApp runs the whole benchmarker: until the score has raised the level, and
// at a fixed level at which each kind of worker takes part.
func TestPerfectApp(t *testing.T) {
	for _, c := range []struct {
		level  int
		wanted []string
	}{
		{noLevel, []string{"level at the end", "users at the end"}},
		{3, []string{"users at the end", "requests of bots", "rows posted"}},
	} {
		enough := func(run *iikanji.Run, gauges map[string]float64) bool {
			few := slices.ContainsFunc(run.Points, func(p iikanji.PointStat) bool { return p.Count < 2 })
			return positive(gauges, c.wanted...) && !few
		}
		run, gauges := longer(t, enough, func(load time.Duration) (*iikanji.Run, map[string]float64) {
			app := newPerfectApp()
			return runPerfect(t, app.data, app.routes(), c.level, load)
		})
		if !enough(run, gauges) {
			t.Errorf("level %d: want each of %q, and each point twice: %v, %+v", c.level, c.wanted, gauges, run.Points)
		}
		t.Logf("level %d: score %.0f, %v %v, %v", c.level, run.Score, run.Outcome, run.Reasons, gauges)
	}
}

// TestPatience runs the benchmarker at a fixed level against an app that answers
// 503 to every bot and to some users, and that takes longer for a polygon than
// users wait. None of this is a fault.
func TestPatience(t *testing.T) {
	var inner http.Handler
	var loaded, documents atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent := r.UserAgent()
		switch {
		case len(refused(agent)) > 0:
			w.WriteHeader(503)
			return
		case r.URL.Path == "/api/estate/nazotte" && agent != verifyAgent:
			loaded.Add(1)
			time.Sleep(patience + 200*time.Millisecond)
		case strings.HasPrefix(r.URL.Path, "/api/estate/req_doc/") && agent != verifyAgent && documents.Add(1)%5 == 0:
			w.WriteHeader(503)
			return
		}
		inner.ServeHTTP(w, r)
	})
	enough := func(_ *iikanji.Run, gauges map[string]float64) bool {
		return positive(gauges, "requests of bots answered with 503", "users who left a slow page", "requests of users answered with 503") && gauges["rows posted"] == 100
	}
	run, gauges := longer(t, enough, func(load time.Duration) (*iikanji.Run, map[string]float64) {
		app := newPerfectApp()
		inner = app.routes()
		return runPerfect(t, app.data, handler, 2, load)
	})
	if run.Deducted != 0 {
		t.Errorf("%g points deducted", run.Deducted)
	}
	// The end of the load cuts off two searches of each of the five bots at most.
	if bots, refused := gauges["requests of bots"], gauges["requests of bots answered with 503"]; refused == 0 || refused > bots || refused < bots-10 {
		t.Errorf("bots: %v", gauges)
	}
	if gauges["users who left a slow page"] == 0 || gauges["requests of users answered with 503"] == 0 || loaded.Load() == 0 {
		t.Errorf("users: %v", gauges)
	}
	if gauges["level at the end"] != 2 || gauges["users at the end"] != 9 || gauges["bots at the end"] != 5 || gauges["rows posted"] != 100 {
		t.Errorf("workers: %v", gauges)
	}
}
