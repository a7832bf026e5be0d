package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/h2"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A goSite is a server of net/http over HTTP/2.
type goSite struct {
	url string
	ca  *x509.CertPool
}

// goServer runs a handler over HTTP/2, with TLS or without.
func goServer(t testing.TB, secure bool, h http.HandlerFunc) *goSite {
	t.Helper()
	s := &goSite{}
	srv := httptest.NewUnstartedServer(h)
	if secure {
		srv.EnableHTTP2 = true
		srv.StartTLS()
		s.ca = x509.NewCertPool()
		s.ca.AddCert(srv.Certificate())
	} else {
		srv.Config.Protocols = new(http.Protocols)
		srv.Config.Protocols.SetUnencryptedHTTP2(true)
		srv.Start()
	}
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// both runs a test over TLS and without.
func both(t *testing.T, f func(t *testing.T, secure bool)) {
	t.Run("TLS", func(t *testing.T) { f(t, true) })
	t.Run("plain", func(t *testing.T) { f(t, false) })
}

// echo answers what tests of the client ask for.
func echo(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; path {
	case "/empty":
		w.WriteHeader(http.StatusNoContent)
	case "/early":
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, "final")
	case "/large":
		n, _ := strconv.Atoi(r.URL.RawQuery)
		piece := bytes.Repeat([]byte("0123456789abcdef"), 1024)
		for ; n > 0; n -= len(piece) {
			w.Write(piece[:min(n, len(piece))])
		}
	case "/length":
		n, _ := io.Copy(io.Discard, r.Body)
		io.WriteString(w, strconv.FormatInt(n, 10))
	case "/trailers":
		w.Header().Set("Trailer", "x-sum")
		io.WriteString(w, "body")
		w.Header().Set("x-sum", "17")
		w.Header().Set(http.TrailerPrefix+"x-late", "yes")
	case "/cookie":
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		io.WriteString(w, r.Header.Get("Cookie"))
	case "/tagged":
		w.Header().Set("ETag", `"x"`)
		if r.Header.Get("If-None-Match") == `"x"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, "tagged")
	case "/packed":
		w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
		io.WriteString(w, gzipped("packed"))
	case "/refuse":
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	default:
		io.WriteString(w, r.Proto+" "+r.Method+" "+r.Host+" "+r.RequestURI+" "+r.Header.Get("X-Own")+" "+r.UserAgent())
	}
}

// TestH2Go fetches from Go's server what HTTP/2 has.
func TestH2Go(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		site := goServer(t, secure, echo)
		b, ctx := browseH2(t, site.url, scenario.ClientOptions{CA: site.ca, Gzip: true, Cache: true, UserAgent: "browser/1", MaxBody: 40 << 20})
		b.SetCookie("a", "1")
		_, host, _ := strings.Cut(site.url, "://")
		do := func(r *scenario.Request) *scenario.Response {
			t.Helper()
			res, err := b.Do(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Cached && res.Protocol != scenario.HTTP2 {
				t.Errorf("%s came over %v", r.Path, res.Protocol)
			}
			return res
		}
		for range 3 {
			res := do(&scenario.Request{Method: "PUT", Path: "/p?q=1", Header: []scenario.Field{{Name: "X-Own", Value: "own"}}})
			if got := string(res.Body); got != "HTTP/2.0 PUT "+host+" /p?q=1 own browser/1" {
				t.Errorf("%q", got)
			}
			res.Release()
		}
		want(t, ctx, b, "/", "HTTP/2.0 GET "+host+" /  browser/1")
		want(t, ctx, b, "/early", "final")
		want(t, ctx, b, "/empty", "")
		want(t, ctx, b, "/packed", "packed")
		want(t, ctx, b, "/cookie", "a=1")
		want(t, ctx, b, "/cookie", "a=1; b=2")
		want(t, ctx, b, "/tagged", "tagged")
		res := do(&scenario.Request{Path: "/tagged"})
		if !res.NotModified || string(res.Body) != "tagged" {
			t.Errorf("the second answer is %+v", res)
		}
		res.Release()
		res = do(&scenario.Request{Method: "HEAD", Path: "/tagged"})
		if len(res.Body) != 0 || res.Get("etag") != `"x"` {
			t.Errorf("HEAD: %+v", res)
		}
		res.Release()
		res = do(&scenario.Request{Path: "/trailers"})
		sum, _ := res.Trailer("x-sum")
		late, ok := res.Trailer("x-late")
		if string(res.Body) != "body" || string(sum) != "17" || string(late) != "yes" || !ok {
			t.Errorf("trailers %q %q, body %q", sum, late, res.Body)
		}
		res.Release()
		if n := b.s.dials.tried.Load(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
	})
}

// TestH2Large sends and receives bodies that are larger than all windows, several at
// once.
func TestH2Large(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		site := goServer(t, secure, echo)
		b, ctx := browseH2(t, site.url, scenario.ClientOptions{CA: site.ca, MaxBody: 40 << 20})
		const size = 20<<20 + 123
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if i%2 == 0 {
					res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/length", Body: make([]byte, size)})
					if err != nil || string(res.Body) != strconv.Itoa(size) {
						t.Errorf("up: %v %+v", err, res)
					}
					res.Release()
					return
				}
				res, err := b.Do(ctx, &scenario.Request{Path: "/large?" + strconv.Itoa(size)})
				if err != nil || len(res.Body) != size || res.Wire < size || string(res.Body[size-4:]) != "789a" {
					t.Errorf("down: %v %d bytes", err, len(res.Body))
				}
				res.Release()
			})
		}
		wg.Wait()
		res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/refuse", Body: make([]byte, size)})
		if err != nil || res.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("an answer before the body was read: %v", err)
		}
		res.Release()
		want(t, ctx, b, "/length", "0")
	})
}

// TestH2Many sends many requests at once on one connection.
func TestH2Many(t *testing.T) {
	both(t, func(t *testing.T, secure bool) {
		site := goServer(t, secure, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
		b, ctx := browseH2(t, site.url, scenario.ClientOptions{CA: site.ca})
		var wg sync.WaitGroup
		for i := range 400 { // more than the target's limit of streams
			wg.Go(func() {
				for j := range 10 {
					path := "/" + strconv.Itoa(100*i+j)
					want(t, ctx, b, path, path)
				}
			})
		}
		wg.Wait()
		if n := b.s.dials.tried.Load(); n != 1 {
			t.Errorf("%d connections, want 1", n)
		}
	})
}

// TestH2Negotiated: the target chooses the version, and one handshake finds it out
// for requests that begin at once, and for later browsers.
func TestH2Negotiated(t *testing.T) {
	for _, two := range []bool{true, false} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
		srv.EnableHTTP2 = two
		srv.StartTLS()
		defer srv.Close()
		proto, p := "HTTP/1.1", scenario.HTTP1
		if two {
			proto, p = "HTTP/2.0", scenario.HTTP2
		}
		b, ctx := browse(t, srv.URL, scenario.ClientOptions{InsecureTLS: true})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { want(t, ctx, b, "/", proto) })
		}
		wg.Wait()
		if b.speaks() != p {
			t.Errorf("the browser speaks %v, want %v", b.speaks(), p)
		}
		next := b.s.NewClient(scenario.ClientOptions{InsecureTLS: true}).(*client)
		if next.speaks() != p {
			t.Errorf("the next browser speaks %v before its first request, want %v", next.speaks(), p)
		}
		want(t, ctx, next, "/", proto)
		old := b.s.NewClient(scenario.ClientOptions{InsecureTLS: true, Protocol: scenario.HTTP1})
		want(t, ctx, old, "/", "HTTP/1.1")
		only := b.s.NewClient(scenario.ClientOptions{InsecureTLS: true, Protocol: scenario.HTTP2})
		if two {
			want(t, ctx, only, "/", proto)
		} else {
			wantFault(t, ctx, only, &scenario.Request{Path: "/"}, iikanji.FaultDial)
		}
	}
}

// TestTLSResumption: a browser's second connection resumes its session over TLS 1.3,
// another browser's does not; and a target of TLS 1.2 can be reached.
func TestTLSResumption(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS13, tls.VersionTLS12} {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/close" {
				w.Header().Set("Connection", "close") // GOAWAY over HTTP/2
			}
			io.WriteString(w, strconv.FormatBool(r.TLS.DidResume)+" "+tls.VersionName(r.TLS.Version))
		}))
		srv.EnableHTTP2 = true
		srv.TLS = &tls.Config{MinVersion: version, MaxVersion: version}
		srv.StartTLS()
		defer srv.Close()
		b, ctx := browse(t, srv.URL, scenario.ClientOptions{InsecureTLS: true})
		name := " " + tls.VersionName(version)
		want(t, ctx, b, "/close", "false"+name)
		want(t, ctx, b, "/close", "true"+name)
		other := b.s.NewClient(scenario.ClientOptions{InsecureTLS: true})
		want(t, ctx, other, "/", "false"+name)
	}
}

// TestCA: the run's own authority, a client's, and none of them.
func TestCA(t *testing.T) {
	site := goServer(t, true, echo)
	s, err := newSession(&script{}, Options{URL: site.url, CA: site.ca})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	p := newPhase(context.Background(), numLoad, scenario.Load)
	defer p.cancel()
	s.enterPhase(p)
	want(t, p.ctx, s.NewClient(scenario.ClientOptions{}), "/empty", "")
	b := s.NewClient(scenario.ClientOptions{CA: x509.NewCertPool()})
	wantFault(t, p.ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultDial)
}

// TestH2Settings: the target changes its settings while requests are in flight.
func TestH2Settings(t *testing.T) {
	url, _ := h2Server(t, func(p *h2peer) {
		id, _, _ := p.next()
		p.answer(id, "settled")
		id, _, _ = p.next()
		// No window at all, then a small one by SETTINGS, then a smaller one, which
		// makes the stream's negative, then the rest by WINDOW_UPDATE.
		set := func(settings ...h2.Setting) {
			n := p.sets + 1
			p.settings(settings...)
			p.until(func() bool { return p.sets == n })
		}
		set(h2.Setting{ID: h2.HeaderTableSize, Value: 0}, h2.Setting{ID: h2.InitialWindowSize, Value: 100})
		p.until(func() bool { return len(p.bytes[id]) == 100 })
		set(h2.Setting{ID: h2.InitialWindowSize, Value: 10})
		set(h2.Setting{ID: h2.InitialWindowSize, Value: 50})
		if n := len(p.bytes[id]); n != 100 {
			t.Errorf("%d bytes with a negative window, want 100", n)
		}
		p.window(id, 51)
		p.until(func() bool { return len(p.bytes[id]) == 101 })
		p.window(id, 1<<20)
		p.window(0, 1<<20)
		p.until(func() bool { return len(p.bytes[id]) == 300_000 })
		p.answer(id, "thanks")
		if id, path, _ := p.next(); path != "/again" {
			t.Errorf("the next request is %q", path)
		} else {
			p.answer(id, "again")
		}
		p.hold()
	}, h2.Setting{ID: h2.InitialWindowSize, Value: 0}, h2.Setting{ID: h2.MaxFrameSize, Value: 20000})
	b, ctx := browseH2(t, url, scenario.ClientOptions{UserAgent: "browser"})
	want(t, ctx, b, "/", "settled")
	res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/", Body: make([]byte, 300_000)})
	if err != nil || string(res.Body) != "thanks" {
		t.Fatalf("%v %+v", err, res)
	}
	res.Release()
	want(t, ctx, b, "/again", "again")
}

// TestH2StreamLimit: the target's limit of streams holds, also when it changes, and
// each request gets its turn.
func TestH2StreamLimit(t *testing.T) {
	var most atomic.Int64
	url, _ := h2Server(t, func(p *h2peer) {
		var open []uint32
		for {
			id, _, ok := p.next()
			if !ok {
				return
			}
			open = append(open, id)
			most.Store(max(most.Load(), int64(len(open))))
			if len(open) == 3 || id > 2*90 {
				for _, id := range open {
					p.answer(id, "x")
				}
				open = nil
			}
		}
	}, h2.Setting{ID: h2.MaxConcurrentStreams, Value: 3})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	var wg sync.WaitGroup
	for range 3 { // until the SETTINGS have arrived
		wg.Go(func() { want(t, ctx, b, "/", "x") })
	}
	wg.Wait()
	for range 96 {
		wg.Go(func() { want(t, ctx, b, "/", "x") })
	}
	wg.Wait()
	if most.Load() != 3 {
		t.Errorf("at most %d streams at once, want 3", most.Load())
	}
}

// TestH2GoAway: requests in flight are answered, those that were not processed are
// sent again on another connection, also a POST, and are counted.
func TestH2GoAway(t *testing.T) {
	url, accepted := h2Server(t, func(p *h2peer) {
		var ids []uint32
		for len(ids) < 3 && p.n == 1 {
			id, _, ok := p.next()
			if !ok {
				return
			}
			ids = append(ids, id)
		}
		if p.n == 1 {
			p.goAway(ids[0], h2.NoError)
			p.answer(ids[0], "1")
			p.hold()
			return
		}
		for id, _, ok := p.next(); ok; id, _, ok = p.next() {
			p.answer(id, itoa(p.n))
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	var got [3]atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/", Body: []byte("x")})
			if err != nil {
				t.Error(err)
				return
			}
			n, _ := strconv.Atoi(string(res.Body))
			got[n].Add(1)
			res.Release()
		})
	}
	wg.Wait()
	if got[1].Load() != 1 || got[2].Load() != 2 || accepted.Load() != 2 || b.s.repeated.Load() != 2 {
		t.Errorf("answers %d and %d over %d connections, %d repeated; want 1, 2, 2, 2", got[1].Load(), got[2].Load(), accepted.Load(), b.s.repeated.Load())
	}
}

// TestH2Retry: what is sent again after a fault, and what is not.
func TestH2Retry(t *testing.T) {
	var mu sync.Mutex
	counts := map[string]int{}
	url, _ := h2Server(t, func(p *h2peer) {
		for {
			id, path, ok := p.next()
			if !ok {
				return
			}
			mu.Lock()
			counts[path]++
			n := counts[path]
			mu.Unlock()
			switch {
			case path == "/refused" && n == 1:
				p.resetStream(id, h2.RefusedStream)
				continue
			case path == "/closed" && n == 1, path == "/post":
				return
			case path == "/reset":
				p.resetStream(id, h2.InternalError)
				continue
			}
			p.answer(id, "fine")
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "fine")
	want(t, ctx, b, "/refused", "fine")
	want(t, ctx, b, "/closed", "fine")
	wantFault(t, ctx, b, &scenario.Request{Method: "POST", Path: "/post"}, iikanji.FaultClosed)
	want(t, ctx, b, "/", "fine")
	wantFault(t, ctx, b, &scenario.Request{Path: "/reset"}, iikanji.FaultClosed)
	mu.Lock()
	defer mu.Unlock()
	if counts["/refused"] != 2 || counts["/closed"] != 2 || counts["/post"] != 1 || counts["/reset"] != 1 {
		t.Errorf("tries: %v", counts)
	}
}

// TestH2Ping: the browser answers PING, also while it asks for nothing.
func TestH2Ping(t *testing.T) {
	answered := make(chan bool, 1)
	url, _ := h2Server(t, func(p *h2peer) {
		id, _, _ := p.next()
		p.answer(id, "x")
		p.raw(h2.Ping, 0, 0, "12345678")
		answered <- p.until(func() bool { return p.pings == 1 })
		p.hold()
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "x")
	if !<-answered {
		t.Error("the connection ended without an answer to PING")
	}
}

// TestH2LargeHeader sends a header that needs CONTINUATION, and receives one.
func TestH2LargeHeader(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 2000)
	url, _ := h2Server(t, func(p *h2peer) {
		for r, ok := p.request(); ok; r, ok = p.request() {
			block := encodeFields(":status: 200", "x-large: "+r.fields["x-large"])
			p.raw(h2.Headers, h2.FlagPadded|h2.FlagPriority, r.id, "\x07"+"\x00\x00\x00\x00\x10"+block[:9000]+strings.Repeat("\x00", 7))
			p.raw(h2.Continuation, 0, r.id, block[9000:20000])
			p.raw(h2.Continuation, h2.FlagEndHeaders, r.id, block[20000:])
			p.raw(h2.Data, h2.FlagPadded|h2.FlagEndStream, r.id, "\x64body"+strings.Repeat("\x00", 100))
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	for range 2 {
		res, err := b.Do(ctx, &scenario.Request{Path: "/", Header: []scenario.Field{{Name: "X-Large", Value: large}}})
		if err != nil || res.Get("x-large") != large || string(res.Body) != "body" {
			t.Fatalf("%v", err)
		}
		res.Release()
	}
}

// TestH2HeaderLimit: a request that is larger than the target accepts is not sent.
func TestH2HeaderLimit(t *testing.T) {
	url, _ := h2Server(t, func(p *h2peer) {
		for id, _, ok := p.next(); ok; id, _, ok = p.next() {
			p.answer(id, "x")
		}
	}, h2.Setting{ID: h2.MaxHeaderListSize, Value: 200})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "x")
	wantFault(t, ctx, b, &scenario.Request{Path: "/", Header: []scenario.Field{{Name: "a", Value: strings.Repeat("b", 200)}}}, iikanji.FaultProtocol)
	wantFault(t, ctx, b, &scenario.Request{Path: "/", Header: []scenario.Field{{Name: "Upgrade", Value: "x"}}}, iikanji.FaultProtocol)
	want(t, ctx, b, "/", "x")
}

// hangBeside sends a request that times out, and others beside it. The error is that its
// connection was given up, as one is on which nothing arrives for half of the timeout.
func hangBeside(t *testing.T, timeout time.Duration) error {
	url, accepted := h2Server(t, func(p *h2peer) {
		for id, path, ok := p.next(); ok; id, path, ok = p.next() {
			if path != "/hang" {
				p.answer(id, "x")
			}
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	over := make(chan error, 1)
	go func() {
		_, err := b.Do(ctx, &scenario.Request{Path: "/hang", Timeout: timeout})
		over <- err
	}()
	for busy := true; busy; {
		select {
		case err := <-over:
			if busy = false; scenario.KindOf(err) != iikanji.FaultTimeout {
				t.Errorf("%v, want a timeout", err)
			}
		default:
			want(t, ctx, b, "/", "x")
		}
	}
	want(t, ctx, b, "/", "x")
	if n := accepted.Load(); n != 1 {
		return fmt.Errorf("%d connections, want 1", n)
	}
	return nil
}

// TestH2Timeouts: a request that times out does not disturb the others, and a
// connection on which nothing arrives any more is given up.
func TestH2Timeouts(t *testing.T) {
	slower(t, 300*time.Millisecond, func(d time.Duration) error { return hangBeside(t, d) })
	url, accepted := h2Server(t, func(p *h2peer) {
		for {
			id, path, ok := p.next()
			switch {
			case !ok:
				return
			case path == "/dead":
				time.Sleep(2 * time.Second)
				p.hold()
				return
			case path != "/hang":
				p.answer(id, "x")
			}
		}
	})
	b, ctx := browseH2(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "x")
	wantFault(t, ctx, b, &scenario.Request{Path: "/dead", Timeout: 200 * time.Millisecond}, iikanji.FaultTimeout)
	want(t, ctx, b, "/", "x")
	if n := accepted.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	wantFault(t, short, b, &scenario.Request{Path: "/hang"}, iikanji.FaultTimeout)
	quick, cancel := context.WithCancel(ctx)
	time.AfterFunc(30*time.Millisecond, cancel)
	wantFault(t, quick, b, &scenario.Request{Path: "/hang"}, iikanji.FaultCut)
	want(t, ctx, b, "/", "x")
	b.Close()
	wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultCut)
}
