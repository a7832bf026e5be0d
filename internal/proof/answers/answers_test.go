package answers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// said is an answer with a body.
func said(status int, body string, header ...string) *Answer {
	a := &Answer{Status: status, Body: []byte(body), Size: int64(len(body)), Sum: sha256.Sum256([]byte(body)), Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		a.Header.Add(header[i], header[i+1])
	}
	return a
}

// TestDifference: what two answers of one build differ in is not compared, and
// everything else is.
func TestDifference(t *testing.T) {
	page := func(token, name string) *Answer {
		return said(200, `<input name="csrf" value="`+token+`"><p>`+name+`</p>`)
	}
	for _, c := range []struct {
		name                    string
		first, second, next     *Answer
		anyOrder                bool
		want                    string // "" for the same
		other, otherSecond, got *Answer
		wantOther               string
	}{
		{name: "equal", first: said(200, "a"), second: said(200, "a"), next: said(200, "a")},
		{name: "status", first: said(200, "a"), second: said(200, "a"), next: said(500, "a"), want: "the status is 500"},
		{name: "body", first: said(200, "a b"), second: said(200, "a b"), next: said(200, "a c"), want: `"c" instead of "b"`},
		{name: "shorter", first: said(200, "a b"), second: said(200, "a b"), next: said(200, "a"), want: "bytes instead of"},
		{name: "header", first: said(200, "", "X-A", "1"), second: said(200, "", "X-A", "1"), next: said(200, ""), want: "the header X-A"},
		{name: "header that changes", first: said(200, "", "X-A", "1"), second: said(200, "", "X-A", "2"), next: said(200, "", "X-A", "3")},
		{name: "date", first: said(200, "", "Date", "1"), second: said(200, "", "Date", "1"), next: said(200, "", "Date", "2")},
		{name: "token", first: page("x1", "ann"), second: page("x2", "ann"), next: page("x3", "ann")},
		{name: "beside a token", first: page("x1", "ann"), second: page("x2", "ann"), next: page("x3", "bob"), want: `"bob" instead of "ann"`},
		{name: "value that changes", first: said(200, `{"at":1,"n":2}`), second: said(200, `{"at":2,"n":2}`), next: said(200, `{"n":2,"at":3}`)},
		{name: "value beside it", first: said(200, `{"at":1,"n":2}`), second: said(200, `{"at":2,"n":2}`), next: said(200, `{"at":3,"n":4}`), want: "differs at .n"},
		{name: "missing key", first: said(200, `{"a":1,"n":null}`), second: said(200, `{"a":1,"n":null}`), next: said(200, `{"a":1}`), want: "differs at .n"},
		{name: "list", first: said(200, `[{"a":1},{"a":2}]`), second: said(200, `[{"a":1},{"a":2}]`), next: said(200, `[{"a":1}]`), want: "its root"},
		{name: "order", first: said(200, `[1,2]`), second: said(200, `[1,2]`), next: said(200, `[2,1]`), want: "differs at []"},
		{name: "any order", first: said(200, `{"l":[{"a":1},{"a":2}]}`), second: said(200, `{"l":[{"a":1},{"a":2}]}`), next: said(200, `{"l":[{"a":2},{"a":1}]}`), anyOrder: true},
		{name: "any order, other element", first: said(200, `[1,2,2]`), second: said(200, `[1,2,2]`), next: said(200, `[1,1,2]`), anyOrder: true, want: "differs at []"},
		{name: "large number", first: said(200, `9007199254740993`), second: said(200, `9007199254740993`), next: said(200, `9007199254740992`), want: "its root"},
		{name: "no answer", first: said(200, ""), second: said(200, ""), next: &Answer{Err: errors.New("refused")}, want: "there is no answer"},
		{name: "the old build failed", first: &Answer{Err: errors.New("timeout")}, second: said(200, "a"), next: said(200, "b")},
		// What one request of a route shows counts for the others.
		{name: "route", first: said(200, `{"at":1}`), second: said(200, `{"at":2}`), next: said(200, `{"at":3}`),
			other: said(200, `{"at":5,"b":1}`), otherSecond: said(200, `{"at":5,"b":1}`), got: said(200, `{"at":6,"b":2}`), wantOther: "differs at .b"},
	} {
		requests := []Request{{Route: "r"}, {Route: "r"}}
		first, second := []*Answer{c.first, c.other}, []*Answer{c.second, c.otherSecond}
		n := Learn(requests, first, second, c.anyOrder)
		if got := n.Difference(0, c.next); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := n.Difference(1, c.got); (got == "") != (c.wantOther == "") || !strings.Contains(got, c.wantOther) {
			t.Errorf("%s: the other request: %q, want %q", c.name, got, c.wantOther)
		}
	}
}

// TestChoose: requests of all routes take turns, each once, and none that acts.
func TestChoose(t *testing.T) {
	var recorded []Request
	for i := range 50 {
		recorded = append(recorded, Request{Route: "a", Path: fmt.Sprintf("/a/%d", i%30)})
	}
	recorded = append(recorded, Request{Path: "/b/7"}, Request{Path: "/b/8?x=1"}, Request{Route: "c", Path: "/logout"})
	got := Choose(recorded, 1, 10)
	count := map[string]int{}
	for _, r := range got {
		count[r.Route]++
	}
	if len(got) != 10 || count["a"] != 8 || count["/b/:"] != 2 || got[0].Route == got[1].Route {
		t.Errorf("%v", got)
	}
	if all := Choose(recorded, 1, 1000); len(all) != 32 {
		t.Errorf("%d of 32 different requests", len(all))
	}
	if again := Choose(recorded, 1, 10); !slices.EqualFunc(got, again, func(a, b Request) bool { return a.key() == b.key() }) {
		t.Error("another choice with the same seed")
	}
}

// TestNeighbours: borders of parameters.
func TestNeighbours(t *testing.T) {
	r := Request{Route: "GET /g", Path: "/g?at=1700003600&levels=a,b&n=20", Header: [][2]string{{"Cookie", "s=1"}}}
	got := map[string]bool{}
	for _, n := range nearby(r) {
		if !n.Border || n.Route != r.Route || len(n.Header) != 1 {
			t.Errorf("%+v", n)
		}
		got[n.Path] = true
	}
	for _, want := range []string{
		"/g?levels=a,b&n=20", "/g?at=1700002800&levels=a,b&n=20", "/g?at=1700002799&levels=a,b&n=20", "/g?at=1699920000&levels=a,b&n=20",
		"/g?at=1700003601&levels=a,b&n=20", "/g?at=1700003600&levels=a&n=20", "/g?at=1700003600&levels=&n=20", "/g?at=1700003600&levels=a,b&n=21", "/g?at=1700003600&levels=a,b&n=0",
	} {
		if !got[want] {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	if n := Neighbours([]Request{r}, 1, 100); len(n) != mostNear {
		t.Errorf("%d neighbours of one request", len(n))
	}
	if n := Neighbours([]Request{{Path: "/plain"}}, 1, 100); len(n) != 0 {
		t.Errorf("%v", n)
	}
}

// TestAsk: a real server is asked as the recorded clients were, and an answer that
// changes by itself is told from one that another build changes.
func TestAsk(t *testing.T) {
	var count atomic.Int64
	var broken atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("s"); err != nil || c.Value != "1" || r.Header.Get("Accept-Encoding") != "" || r.Host != "site" {
			http.Error(w, fmt.Sprint(r.Header, r.Host), http.StatusForbidden)
			return
		}
		n := 10
		if broken.Load() && r.URL.Query().Get("page") == "2" {
			n = 9
		}
		fmt.Fprintf(w, `{"count":%d,"token":"%x","items":%d,"page":%q}`, count.Add(1), rand.Uint64(), n, r.URL.Query().Get("page"))
	}))
	defer srv.Close()
	var requests []Request
	for page := range 5 {
		requests = append(requests, Request{Route: "list", Path: fmt.Sprintf("/list?page=%d", page), Header: [][2]string{{"Cookie", "s=1"}, {"Accept-Encoding", "gzip"}}})
	}
	a := Asker{Address: strings.TrimPrefix(srv.URL, "http://"), Workers: 2, Timeout: time.Minute, Host: "site"}
	ask := func() []*Answer {
		got, err := a.Ask(t.Context(), requests, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	n := Learn(requests, ask(), ask(), false)
	differ := func() (out []int) {
		for i, got := range ask() {
			if n.Difference(i, got) != "" {
				out = append(out, i)
			}
		}
		return out
	}
	if got := differ(); len(got) > 0 {
		t.Errorf("the same build differs at %v: %s", got, n.Difference(got[0], ask()[got[0]]))
	}
	broken.Store(true)
	if got := differ(); !slices.Equal(got, []int{2}) {
		t.Errorf("another build differs at %v, want [2]", got)
	}
	if got, err := a.Ask(t.Context(), requests, -time.Second); err != nil || slices.ContainsFunc(got, func(a *Answer) bool { return a != nil }) {
		t.Errorf("after the time: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Ask(ctx, requests, time.Second); err == nil {
		t.Error("asked after the end of the context")
	}
	x, y := Excerpts(n.first[2], ask()[2])
	if !strings.Contains(x, "200, ") || !strings.Contains(y, `"count"`) || strings.ContainsAny(x+y, "\n\x1b") {
		t.Errorf("%s\n%s", x, y)
	}
}

// FuzzDifference: an answer is always the same as itself, whatever it holds.
func FuzzDifference(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`), []byte(`{"a":[2,{"b":"x"}]}`), true)
	f.Add([]byte("<p>a</p>"), []byte("<p>b c</p>"), false)
	f.Add([]byte{0xff, 0}, []byte(""), false)
	f.Fuzz(func(t *testing.T, a, b []byte, anyOrder bool) {
		x, y := said(200, string(a)), said(200, string(b))
		r := []Request{{Route: "r"}}
		n := Learn(r, []*Answer{x}, []*Answer{y}, anyOrder)
		if got := n.Difference(0, x); got != "" {
			t.Errorf("differs from itself: %s", got)
		}
		if got := n.Difference(0, y); got != "" {
			t.Errorf("what was learned differs: %s", got)
		}
	})
}
