package bench

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A visit is one GET and its expected answer.
type visit struct {
	how    string // "sent", "cached" or "304"
	body   string
	header []scenario.Field
}

func check(t *testing.T, url string, visits ...visit) {
	t.Helper()
	b, ctx := browse(t, url, scenario.ClientOptions{Cache: true, Gzip: true, UserAgent: "u"})
	for i, v := range visits {
		res, err := b.Do(ctx, &scenario.Request{Path: "/x?y", Header: v.header})
		if err != nil {
			t.Fatal(err)
		}
		how := "sent"
		switch {
		case res.Cached && res.NotModified:
			how = "both"
		case res.Cached:
			how = "cached"
		case res.NotModified:
			how = "304"
		}
		if how != v.how || string(res.Body) != v.body || res.Status != 200 {
			t.Errorf("visit %d: %s, status %d, body %q; want %s, %q", i+1, how, res.Status, res.Body, v.how, v.body)
		}
		res.Release()
	}
}

// TestCacheRules: the target numbers its answers, so the body identifies each.
func TestCacheRules(t *testing.T) {
	serve := func(fields ...string) string {
		var n atomic.Int64
		return web(t, func(w http.ResponseWriter, r *http.Request) {
			for _, f := range fields {
				name, value, _ := strings.Cut(f, ": ")
				w.Header().Add(name, value)
			}
			if tag := w.Header().Get("Etag"); tag != "" && r.Header.Get("If-None-Match") == tag ||
				w.Header().Get("Last-Modified") != "" && r.Header.Get("If-Modified-Since") == w.Header().Get("Last-Modified") {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = w.Write([]byte(strconv.FormatInt(n.Add(1), 10)))
		})
	}
	sent := func(n int) visit { return visit{"sent", strconv.Itoa(n), nil} }
	cached, renewed := visit{"cached", "1", nil}, visit{"304", "1", nil}
	auth := func(n int) visit {
		return visit{"sent", strconv.Itoa(n), []scenario.Field{{Name: "Authorization", Value: "x"}}}
	}
	const lastModified = "Last-Modified: Sat, 21 Nov 2026 04:37:12 GMT"

	check(t, serve(), sent(1), sent(2))
	check(t, serve("Cache-Control: max-age=60"), sent(1), cached, cached)
	check(t, serve(`Cache-Control: public, max-age="60", must-revalidate`), sent(1), cached)
	check(t, serve("Cache-Control: max-age=0"), sent(1), sent(2))
	check(t, serve("Cache-Control: s-maxage=60"), sent(1), sent(2))
	check(t, serve("Cache-Control: max-age=60", "Age: 61"), sent(1), sent(2))
	check(t, serve("Cache-Control: max-age=60, no-store"), sent(1), sent(2))
	check(t, serve("Cache-Control: no-store", `Etag: "a"`), sent(1), sent(2))
	check(t, serve("Cache-Control: no-cache, max-age=60", `Etag: "a"`), sent(1), renewed, renewed)
	check(t, serve("Cache-Control: private, max-age=60"), sent(1), cached)
	check(t, serve("Expires: "+time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), sent(1), cached)
	check(t, serve("Expires: 0"), sent(1), sent(2))
	check(t, serve("Expires: "+time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), "Cache-Control: max-age=0"), sent(1), sent(2))
	check(t, serve(`Etag: "a"`), sent(1), renewed, renewed)
	check(t, serve(lastModified), sent(1), renewed)
	check(t, serve(lastModified, `Etag: W/"a"`), sent(1), renewed)
	check(t, serve("Vary: *", "Cache-Control: max-age=60"), sent(1), sent(2))
	check(t, serve("Vary: Accept-Encoding, User-Agent, Cookie", "Cache-Control: max-age=60"), sent(1), cached)
	check(t, serve("Cache-Control: max-age=60"), auth(1), auth(2), sent(3), auth(4), visit{"cached", "3", nil})

	lang := func(l, how string, n int) visit {
		return visit{how, strconv.Itoa(n), []scenario.Field{{Name: "Accept-Language", Value: l}}}
	}
	check(t, serve("Vary: Accept-Language", "Cache-Control: max-age=60"),
		lang("de", "sent", 1), lang("de", "cached", 1), lang("ja", "sent", 2), lang("ja", "cached", 2), lang("de", "sent", 3))
}

// TestCacheRenewed: a 304 updates fields; a new body replaces the old one; an
// unsafe request and Forget drop the entry.
func TestCacheRenewed(t *testing.T) {
	var version, hits atomic.Int64
	version.Store(1)
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		if r.Method == "POST" {
			return
		}
		tag := `"v` + strconv.FormatInt(version.Load(), 10) + `"`
		w.Header().Set("Etag", tag)
		w.Header().Set("X-Hit", strconv.FormatInt(hits.Load(), 10))
		if hits.Load() == 3 {
			w.Header().Set("Cache-Control", "max-age=60")
		}
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(304)
			return
		}
		_, _ = w.Write([]byte("body " + tag))
	})
	b, ctx := browse(t, url, scenario.ClientOptions{Cache: true})
	get := func(body, hit string, cached, notMod bool) {
		t.Helper()
		res, err := b.Do(ctx, &scenario.Request{Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		defer res.Release()
		if string(res.Body) != body || res.Get("x-hit") != hit || res.Cached != cached || res.NotModified != notMod {
			t.Errorf("body %q hit %s cached %v 304 %v", res.Body, res.Get("x-hit"), res.Cached, res.NotModified)
		}
		if res.Get("content-length") != strconv.Itoa(len(body)) {
			t.Errorf("content-length %q", res.Get("content-length"))
		}
	}
	get(`body "v1"`, "1", false, false)
	version.Store(2)
	get(`body "v2"`, "2", false, false)
	get(`body "v2"`, "3", false, true) // fresh after this answer
	get(`body "v2"`, "3", true, false)
	res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	res.Release()
	get(`body "v2"`, "5", false, false)
	get(`body "v2"`, "6", false, true)
	b.Forget()
	get(`body "v2"`, "7", false, false)
	res, err = b.Do(ctx, &scenario.Request{Path: "/", NoStore: true})
	if err != nil || res.NotModified {
		t.Errorf("NoStore: %v", err)
	}
	res.Release()
	// A 304 without a condition of the cache is an answer without a body.
	res, err = b.Do(ctx, &scenario.Request{Path: "/", Header: []scenario.Field{{Name: "If-None-Match", Value: `"v2"`}}})
	if err != nil || res.Status != 304 || res.NotModified || len(res.Body) != 0 {
		t.Errorf("own condition: %v %+v", err, res)
	}
	res.Release()
}

// TestCacheShares: browsers share equal cached bodies. A body stays while one
// browser holds it and is freed after the last.
func TestCacheShares(t *testing.T) {
	s := newBodies()
	a, b := s.of([]byte("the same body")), s.of([]byte("the same body"))
	if a != b || string(a.data) != "the same body" {
		t.Fatal("not shared")
	}
	c := &cache{bodies: s}
	if s.of([]byte("another")) == a || c.size != 0 {
		t.Fatal("another body is the same")
	}
	a, b = nil, nil
	for end := time.Now().Add(patience); time.Now().Before(end); {
		runtime.GC()
		s.mu.Lock()
		n := len(s.known)
		s.mu.Unlock()
		if n == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d bodies are still known", len(s.known))
}

// TestCacheBounded: a full cache evicts the oldest entries.
func TestCacheBounded(t *testing.T) {
	c := &cache{bodies: newBodies(), limit: 4000}
	body := make([]byte, 1000)
	for i := range 6 {
		res := &response{}
		res.Status, res.Body = 200, body
		body[0] = byte(i)
		res.Fields = []scenario.HeaderField{{Name: []byte("cache-control"), Value: []byte("max-age=60")}}
		c.put(&scenario.Request{Path: "/" + itoa(i)}, res, &jar{}, &clientFields{}, 0)
	}
	if len(c.byPath) != 4 || len(c.order) != 4 || c.byPath["/5"] == nil || c.byPath["/1"] != nil || c.size != 4000 {
		t.Errorf("%d entries, %v, %d bytes", len(c.byPath), c.order, c.size)
	}
}
