package cause

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// rates returns uneven load: about mean requests per second, for n + 1 seconds.
func rates(r *rand.Rand, mean float64, n int) []float64 {
	out := make([]float64, n+1)
	for t := range out {
		out[t] = math.Round(mean * (0.5 + r.Float64()))
	}
	return out
}

// bestRoute is the route that sends nearly all executions, by seconds; nil for
// none.
func bestRoute(y []float64, routes []counted) *Sender {
	for _, f := range sendersOf(clock{n: len(y), step: time.Second}, routes, []counted{{counts: y}})[0] {
		if f.Share >= FitShare {
			return &f
		}
	}
	return nil
}

// TestBestRoute plants which route sends a statement, and expects it to be named, with
// the number per request, or no route to be named where the observation cannot tell.
func TestBestRoute(t *testing.T) {
	const n = 20
	r := rand.New(rand.NewPCG(3, 4))
	right, silent := 0, 0
	for range 200 {
		a, b, c := rates(r, 12, n), rates(r, 30, n), rates(r, 80, n)
		routes := []counted{{key: "GET /a", counts: a}, {key: "GET /b", counts: b}, {key: "GET /c", counts: c}}
		y := make([]float64, n)
		for i := range y { // a third of the lines of its requests are of the next second
			y[i] = math.Round(20*(0.67*a[i]+0.33*a[i+1])) + float64(r.IntN(7))
		}
		switch f := bestRoute(y, routes); {
		case f == nil:
			silent++
		case f.Route != "GET /a":
			t.Errorf("%s is named, GET /a sends it", f.Route)
		case math.Abs(f.Each-20) > 2 || f.Share < FitShare || f.Err > 2:
			t.Errorf("%+v, want 20 for each request", *f)
		default:
			right++
		}
		copyOf := append([]counted{{key: "GET /same", counts: a}}, routes...)
		if f := bestRoute(y, copyOf); f != nil {
			t.Errorf("two routes that go along, and %s is named", f.Route)
		}
		for i := range y {
			y[i] = a[i] + b[i] + c[i]
		}
		if f := bestRoute(y, routes); f != nil && f.Route == "GET /a" {
			t.Errorf("all routes send it, and %+v is named", *f)
		}
	}
	if right < 180 {
		t.Errorf("named %d times of 200, nothing said %d times", right, silent)
	}
}

// TestBestRouteSaysNothing checks that no route is named with too little data.
func TestBestRouteSaysNothing(t *testing.T) {
	steady := []float64{5, 5, 5, 5, 5, 5, 5, 5, 5}
	other := []float64{9, 9, 9, 9, 9, 9, 9, 9, 9}
	uneven := []float64{1, 9, 3, 7, 2, 8, 1, 9, 3}
	once := []float64{40, 0, 0, 0, 0, 0, 0, 0, 0}
	for name, c := range map[string]struct {
		y      []float64
		routes []counted
	}{
		"steady load":     {[]float64{15, 15, 15, 15, 15, 15, 15, 15}, []counted{{key: "a", counts: steady}, {key: "b", counts: other}}},
		"only one route":  {uneven[:8], []counted{{key: "a", counts: uneven}}},
		"one burst":       {once[:8], []counted{{key: "a", counts: once}, {key: "b", counts: uneven}}},
		"two bursts":      {[]float64{72, 220, 3, 0, 4, 2, 0, 1}, []counted{{key: "a", counts: []float64{9, 28, 0, 0, 0, 0, 0, 0, 0}}, {key: "b", counts: uneven}}},
		"few requests":    {[]float64{20, 0, 20, 10, 0, 30, 10, 10}, []counted{{key: "a", counts: []float64{2, 0, 2, 1, 0, 3, 1, 1, 0}}, {key: "b", counts: uneven}}},
		"two in each 1.5": {[]float64{1.5, 13.5, 4.5, 10.5, 3, 12, 1.5, 13.5}, []counted{{key: "a", counts: uneven}, {key: "b", counts: steady}}},
	} {
		if f := bestRoute(c.y, c.routes); f != nil {
			t.Errorf("%s: %+v", name, *f)
		}
	}
	if f := bestRoute([]float64{3, 27, 9, 21, 6, 24, 3, 27}, []counted{{key: "a", counts: uneven}, {key: "b", counts: steady}}); f == nil || f.Route != "a" || math.Abs(f.Each-3) > 1e-9 {
		t.Errorf("three in each: %+v", f)
	}
}

// TestRoutesBySource: readers that follow each news item at once send a statement once each. By time
// it may be the item's, fifty times; the source says that it is not.
func TestRoutesBySource(t *testing.T) {
	const n = 40
	r := rand.New(rand.NewPCG(5, 6))
	var post, read, hand, other, count, list [n + 1]float64
	for i := range n + 1 {
		post[i] = float64(r.IntN(4))
		read[i], hand[i], other[i] = 50*post[i], float64(r.IntN(30)), float64(10+r.IntN(20))
		count[i], list[i] = read[i]+hand[i], other[i]
	}
	routes := []counted{{key: "POST /news", counts: post[:]}, {key: "GET /news/:id", counts: read[:]}, {key: "POST /files", counts: hand[:]}, {key: "GET /list", counts: other[:]}}
	digests := []counted{{key: "count", counts: count[:n]}, {key: "list", counts: list[:n]}, {key: "posted", counts: post[:n]}}
	v := &View{}
	for route, function := range map[string]string{"POST /news": "store", "GET /news/:id": "show", "POST /files": "keep", "GET /list": "list"} {
		v.Input.Facts = append(v.Input.Facts, asFact(t, string(fact.TopicHandler), route, fact.Handler{Func: function, Reaches: []string{function}}))
	}
	sends := func(digest string, functions ...string) {
		for _, f := range functions {
			v.Input.Facts = append(v.Input.Facts, asFact(t, string(fact.TopicSends), f, fact.SentStatement{Func: f, Digest: digest}))
		}
	}
	c := clock{n: n, step: time.Second}
	found := func() [][]Sender {
		out := sendersOf(c, routes, digests)
		v.bySource(c, routes, digests, out)
		return out
	}
	before := sendersOf(c, routes, digests)
	if got := found(); !reflect.DeepEqual(got, before) { // nothing is known of the source
		t.Errorf("%+v, want %+v", got, before)
	}
	sends("count", "show", "keep")
	sends("posted", "store")
	sends("list", "list", "background") // also of no handler: the time decides
	got := found()
	for _, s := range got[0] {
		if s.Route == "POST /news" || s.Route == "GET /list" || math.Abs(s.Each-1) > 0.2 {
			t.Errorf("count: %+v", s)
		}
	}
	if len(got[0]) == 0 {
		t.Errorf("nothing sends count; by time: %+v", before[0])
	}
	if !reflect.DeepEqual(got[1], before[1]) {
		t.Errorf("list: %+v, want %+v", got[1], before[1])
	}
	row := iikanji.Row{Query: &iikanji.SQLRow{Fingerprint: "insert into news"}}
	from := Digest{Row: row, Route: &Sender{Route: "POST /news", Each: 1, margin: 9}, Totals: index.Query{Count: 40}}
	for route, takes := range map[string]bool{"": true, "POST /news": true, "GET /news/:id": false} {
		d := Digest{Row: row, Totals: index.Query{Count: 40}}
		if route != "" {
			d.within = []string{route}
		}
		if d.takeRoute(from) != takes {
			t.Errorf("sent by %q: takes POST /news: %v", route, !takes)
		}
	}
	if len(got[2]) != 1 || got[2][0].Route != "POST /news" || math.Abs(got[2][0].Each-1) > 0.1 {
		t.Errorf("posted: %+v", got[2])
	}
}

// asFact is a fact about the source of the app.
func asFact(t *testing.T, topic, key string, value any) iikanji.Fact {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return iikanji.Fact{Target: "app", Topic: topic, Key: key, Value: string(b)}
}

// TestPage checks that a route whose answers have one size counts as a constant page.
func TestPage(t *testing.T) {
	row := func(method string, n int64, bytes, most iikanji.Bytes, unchanged int64) iikanji.Row {
		return iikanji.Row{Count: n, Web: &iikanji.WebRow{Method: method, Bytes: bytes, MaxBytes: most, Status: [6]int64{3: unchanged}}}
	}
	for _, c := range []struct {
		row  iikanji.Row
		want bool
	}{
		{row("GET", 82, 41811, 543, 5), true},
		{row("GET", 82, 41810, 543, 5), false},
		{row("POST", 82, 41811, 543, 5), false},
		{row("GET", 5, 2715, 543, 0), false},
		{row("GET", 82, 0, 0, 0), false},
		{iikanji.Row{Count: 82}, false},
	} {
		if got := page(c.row); got != c.want {
			t.Errorf("%+v: %v", c.row.Web, got)
		}
	}
}
