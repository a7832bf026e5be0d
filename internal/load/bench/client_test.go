package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// TestAllocs: a GET on a kept connection with a compared body, the usual case,
// allocates nothing.
func TestAllocs(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 64)
	answer := ok(string(body), "Content-Type: text/plain", "Date: Sat, 21 Nov 2026 04:37:12 GMT", `ETag: "x"`)
	url, _ := rawServer(t, func(c *rawConn) {
		buf := make([]byte, 4096) // the server shares the process: it must not allocate either
		out := []byte(answer)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{Gzip: true})
	b.SetCookie("session", "0123456789abcdef")
	header := []scenario.Field{{Name: "Accept", Value: "*/*"}}
	req := scenario.Request{Path: "/file?x=1", Header: header}
	n := testing.AllocsPerRun(2000, func() {
		res, err := b.Do(ctx, &req)
		if err != nil || scenario.WantStatus(res, 200) != nil || !bytes.Equal(res.Body, body) {
			t.Fatalf("%v", err)
		}
		res.Release()
	})
	if n != 0 && !raceOn { // the race detector makes sync.Pool forget
		t.Errorf("%v allocations per request, want 0", n)
	}
}

// TestAllocsPacked: a POST with a body and an answer in gzip chunks allocates nothing.
func TestAllocsPacked(t *testing.T) {
	packed := gzipped(strings.Repeat("packed ", 100))
	answer := "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"5\r\n" + packed[:5] + "\r\n" + hex(len(packed)-5) + "\r\n" + packed[5:] + "\r\n0\r\n\r\n"
	url, _ := rawServer(t, func(c *rawConn) {
		buf, out := make([]byte, 4096), []byte(answer)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{Gzip: true})
	req := scenario.Request{Method: "POST", Path: "/x", ContentType: "application/json", Body: []byte(`{"a":1}`)}
	n := testing.AllocsPerRun(500, func() {
		res, err := b.Do(ctx, &req)
		if err != nil || len(res.Body) != 700 {
			t.Fatalf("%v", err)
		}
		res.Release()
	})
	if n != 0 && !raceOn {
		t.Errorf("%v allocations per request, want 0", n)
	}
}

// TestAllocsRenewed: a GET answered by a 304, in a browser with cookies, allocates nothing.
func TestAllocsRenewed(t *testing.T) {
	url, _ := rawServer(t, func(c *rawConn) {
		buf, full := make([]byte, 4096), []byte(ok("cached body", `ETag: "x"`, "Cache-Control: no-cache"))
		same := []byte("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nDate: Sat, 21 Nov 2026 04:37:12 GMT\r\n\r\n")
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			out := full
			if bytes.Contains(buf[:n], []byte("If-None-Match: \"x\"\r\n")) {
				out = same
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{Cache: true, Gzip: true})
	b.SetCookie("session", "0123456789abcdef")
	req := scenario.Request{Path: "/x"}
	want(t, ctx, b, "/x", "cached body")
	n := testing.AllocsPerRun(500, func() {
		res, err := b.Do(ctx, &req)
		if err != nil || !res.NotModified || string(res.Body) != "cached body" {
			t.Fatalf("%v", err)
		}
		res.Release()
	})
	if n != 0 && !raceOn {
		t.Errorf("%v allocations per request, want 0", n)
	}
}

func hex(n int) string { const d = "0123456789abcdef"; return string([]byte{d[n>>4&15], d[n&15]}) }

// TestWhatIsSent checks requests at the server.
func TestWhatIsSent(t *testing.T) {
	var seen *http.Request
	var body []byte
	url := web(t, func(w http.ResponseWriter, r *http.Request) { seen = r; body, _ = io.ReadAll(r.Body) })
	b, ctx := browse(t, url, scenario.ClientOptions{UserAgent: "browser/1", Gzip: true})
	b.SetCookie("a", "1")
	b.SetCookie("b", "2")
	send := func(r *scenario.Request) *http.Request {
		t.Helper()
		res, err := b.Do(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		res.Release()
		return seen
	}
	r := send(&scenario.Request{Path: "/p/q?x=%20", Header: []scenario.Field{{Name: "Authorization", Value: "Bearer t"}}})
	if r.Method != "GET" || r.RequestURI != "/p/q?x=%20" || "http://"+r.Host != url || r.UserAgent() != "browser/1" ||
		r.Header.Get("Accept-Encoding") != "gzip" || r.Header.Get("Authorization") != "Bearer t" || r.ContentLength != 0 ||
		r.Header.Get("Cookie") != "a=1; b=2" {
		t.Errorf("GET came as %+v", r)
	}
	r = send(&scenario.Request{Method: "POST", Path: "/", ContentType: "text/plain", Body: []byte("hello")})
	if r.Method != "POST" || r.Header.Get("Content-Type") != "text/plain" || r.ContentLength != 5 || string(body) != "hello" {
		t.Errorf("POST came as %+v with %q", r, body)
	}
	if r = send(&scenario.Request{Method: "POST", Path: "/"}); r.Header.Get("Content-Length") != "0" {
		t.Errorf("POST without body came as %+v", r)
	}
	tenant, ctx := browse(t, url, scenario.ClientOptions{Host: "tenant.example:81"})
	want(t, ctx, tenant, "/", "")
	if seen.Host != "tenant.example:81" {
		t.Errorf("host %q, want the client's", seen.Host)
	}
	broken, ctx := browse(t, url, scenario.ClientOptions{Host: "tenant.example\r\nX-Mine: 1"})
	wantFault(t, ctx, broken, &scenario.Request{Path: "/"}, iikanji.FaultProtocol)
	b, ctx = browse(t, url, scenario.ClientOptions{})
	large := bytes.Repeat([]byte("large "), 1<<20)
	if send(&scenario.Request{Method: "PUT", Path: "/", Body: large}); !bytes.Equal(body, large) {
		t.Errorf("PUT came with %d of %d bytes", len(body), len(large))
	}
}

// TestReuse: sequential requests share one connection, and the client copes with
// what a target may do to it between requests.
func TestReuse(t *testing.T) {
	dropped := make(chan chan struct{}, 1)
	url, accepted := rawServer(t, func(c *rawConn) {
		for {
			req, more := c.next()
			if !more {
				return
			}
			switch req.URL.Path {
			case "/close":
				c.say(ok("bye", "Connection: close"))
				return
			case "/old":
				c.say("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold")
				return
			case "/end":
				c.say("HTTP/1.1 200 OK\r\n\r\nto the end")
				return
			case "/drop": // like a keep-alive timeout
				dropped <- c.over
				c.say(ok("x"))
				return
			case "/early":
				c.say("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok("final"))
			case "/head":
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
			default:
				c.say(ok(itoa(c.n)))
			}
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{})
	for range 3 {
		want(t, ctx, b, "/", "1")
	}
	want(t, ctx, b, "/early", "final")
	res, err := b.Do(ctx, &scenario.Request{Method: "HEAD", Path: "/head"})
	if err != nil || res.Get("content-length") != "1000" || len(res.Body) != 0 {
		t.Fatalf("HEAD: %v %+v", err, res)
	}
	res.Release()
	want(t, ctx, b, "/", "1")
	want(t, ctx, b, "/close", "bye")
	want(t, ctx, b, "/", "2")
	want(t, ctx, b, "/old", "old")
	want(t, ctx, b, "/", "3")
	want(t, ctx, b, "/end", "to the end")
	want(t, ctx, b, "/", "4")
	drop := func() { // returns when the end of the connection is on its way, which is loopback
		t.Helper()
		want(t, ctx, b, "/drop", "x") // the browser cannot know
		<-<-dropped
	}
	drop()
	want(t, ctx, b, "/", "5")
	drop()
	res, err = b.Do(ctx, &scenario.Request{Method: "POST", Path: "/"}) // seen before anything is sent
	if err != nil || string(res.Body) != "6" {
		t.Fatalf("POST on a connection that was closed meanwhile: %v", err)
	}
	res.Release()
	if n := accepted.Load(); n != 6 {
		t.Errorf("%d connections, want 6", n)
	}
}

// TestRetry: a request that fails on a used connection before the first byte of
// an answer is retried once if it is idempotent.
func TestRetry(t *testing.T) {
	var mu sync.Mutex
	counts := make(map[string]int)
	url, _ := rawServer(t, func(c *rawConn) {
		for {
			req, more := c.next()
			if !more {
				return
			}
			mu.Lock()
			counts[req.URL.Path]++
			n := counts[req.URL.Path]
			mu.Unlock()
			switch req.URL.Path {
			case "/once":
				if n == 1 {
					return
				}
			case "/never":
				return
			case "/some":
				c.say("HTTP/1.1 2")
				return
			}
			c.say(ok("fine"))
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{})
	want(t, ctx, b, "/", "fine")
	want(t, ctx, b, "/once", "fine")
	wantFault(t, ctx, b, &scenario.Request{Path: "/never"}, iikanji.FaultClosed)
	wantFault(t, ctx, b, &scenario.Request{Path: "/never"}, iikanji.FaultClosed) // on a new connection: no retry
	want(t, ctx, b, "/", "fine")
	wantFault(t, ctx, b, &scenario.Request{Path: "/some"}, iikanji.FaultClosed)
	want(t, ctx, b, "/", "fine")
	wantFault(t, ctx, b, &scenario.Request{Method: "POST", Path: "/never"}, iikanji.FaultClosed)
	mu.Lock()
	defer mu.Unlock()
	if counts["/once"] != 2 || counts["/never"] != 2+1+1 || counts["/some"] != 1 {
		t.Errorf("tries: %v", counts)
	}
}

// TestMaxConns: the limit of connections holds, and every request gets its turn.
func TestMaxConns(t *testing.T) {
	var now, most atomic.Int64
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), now.Add(1)))
		time.Sleep(2 * time.Millisecond)
		now.Add(-1)
	})
	b, ctx := browse(t, url, scenario.ClientOptions{MaxConns: 3})
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { want(t, ctx, b, "/", "") })
	}
	wg.Wait()
	if most.Load() != 3 || b.s.dials.tried.Load() != 3 {
		t.Errorf("at most %d requests at once over %d connections, want 3 and 3", most.Load(), b.s.dials.tried.Load())
	}
}

// TestWaitEnds: the end of the context and Close cut a request that waits for a
// connection, and its turn goes to the next one.
func TestWaitEnds(t *testing.T) {
	release := make(chan struct{})
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-release
		}
	})
	b, ctx := browse(t, url, scenario.ClientOptions{MaxConns: 1, Timeout: patience})
	held := make(chan error, 1)
	go func() {
		res, err := b.Do(ctx, &scenario.Request{Path: "/hold"})
		res.Release()
		held <- err
	}()
	for b.s.dials.tried.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	wantFault(t, short, b, &scenario.Request{Path: "/"}, iikanji.FaultCut)
	close(release)
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	want(t, ctx, b, "/", "")
	b.Close()
	b.Close()
	wantFault(t, ctx, b, &scenario.Request{Path: "/"}, iikanji.FaultCut)
}

// TestTimeouts: the request's own, the client's, and a deadline of the scenario. Requests that
// are answered must not time out, for which a busy machine may need a longer timeout.
func TestTimeouts(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "hang" {
			<-r.Context().Done() // until the browser gives up
		}
		if d, err := time.ParseDuration(r.URL.RawQuery); err == nil {
			time.Sleep(d)
		}
	})
	slower(t, 2*time.Second, func(own time.Duration) error {
		b, ctx := browse(t, url, scenario.ClientOptions{Timeout: own})
		took := func(ctx context.Context, r *scenario.Request, from time.Duration) {
			t.Helper()
			began := time.Now()
			wantFault(t, ctx, b, r, iikanji.FaultTimeout)
			if d := time.Since(began); d < from || d > patience {
				t.Errorf("%+v timed out after %v", r, d)
			}
		}
		if err := answer(ctx, b, "/?50ms"); err != nil {
			return err
		}
		took(ctx, &scenario.Request{Path: "/?hang"}, own)
		if err := answer(ctx, b, "/"); err != nil {
			return err
		}
		took(ctx, &scenario.Request{Path: "/?hang", Timeout: 20 * time.Millisecond}, 20*time.Millisecond)
		short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
		took(short, &scenario.Request{Path: "/?hang"}, 25*time.Millisecond)
		// Many in a row, for longer than the timeout: alarms of earlier requests must not
		// hit later ones.
		for began := time.Now(); time.Since(began) < own+own/4; {
			if err := answer(ctx, b, "/?8ms"); err != nil {
				return err
			}
		}
		return nil
	})
	brief, ctx := browse(t, url, scenario.ClientOptions{Timeout: 100 * time.Millisecond})
	res, err := brief.Do(ctx, &scenario.Request{Path: "/?200ms", Timeout: patience})
	if err != nil {
		t.Fatalf("a longer timeout of the request's own: %v", err)
	}
	res.Release()
}

// TestDue: latency counts from the due time.
func TestDue(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) {})
	b, ctx := browse(t, url, scenario.ClientOptions{})
	res, err := b.Do(ctx, &scenario.Request{Path: "/", Due: time.Now().Add(-3 * time.Second)})
	if err != nil || res.Took < 3*time.Second || res.Took > patience {
		t.Fatalf("%v, took %v", err, res.Took)
	}
	res.Release()
}

// TestRedirect: redirects are not followed.
func TestRedirect(t *testing.T) {
	url := web(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	b, ctx := browse(t, url, scenario.ClientOptions{})
	res, err := b.Do(ctx, &scenario.Request{Path: "/"})
	if err != nil || res.Status != 302 || res.Get("location") != "/elsewhere" {
		t.Fatalf("%v %+v", err, res)
	}
	res.Release()
	res.Release() // twice does no harm
}

// TestEarlyAnswer: a target may refuse a large body before it has read it.
func TestEarlyAnswer(t *testing.T) {
	url, _ := rawServer(t, func(c *rawConn) {
		_, _ = c.r.ReadString('\n')
		c.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		_, _ = io.CopyN(io.Discard, c.r, 1<<20)
		_, _ = c.r.WriteTo(io.Discard)
	})
	b, ctx := browse(t, url, scenario.ClientOptions{})
	res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/", Body: make([]byte, 8<<20)})
	if err != nil || res.Status != 413 {
		t.Fatalf("%v %+v", err, res)
	}
	res.Release()
}

// TestTLS runs a browser over TLS, with and without the certificate being known.
func TestTLS(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(500 * time.Millisecond)
		}
		_, _ = io.Copy(w, io.MultiReader(strings.NewReader(r.Proto+" "), r.Body))
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // drops the message about the failed handshake
	srv.StartTLS()
	defer srv.Close()
	b, ctx := browse(t, srv.URL, scenario.ClientOptions{InsecureTLS: true, MaxConns: 1})
	for range 3 {
		want(t, ctx, b, "/", "HTTP/1.1 ")
	}
	res, err := b.Do(ctx, &scenario.Request{Method: "POST", Path: "/", Body: bytes.Repeat([]byte("x"), 1<<20)})
	if err != nil || len(res.Body) != 1<<20+9 {
		t.Fatalf("%v", err)
	}
	res.Release()
	if n := b.s.dials.tried.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
	wantFault(t, ctx, b, &scenario.Request{Path: "/slow", Timeout: 100 * time.Millisecond}, iikanji.FaultTimeout)
	want(t, ctx, b, "/", "HTTP/1.1 ")
	strict, ctx := browse(t, srv.URL, scenario.ClientOptions{})
	f := wantFault(t, ctx, strict, &scenario.Request{Path: "/"}, iikanji.FaultDial)
	var unknown *tls.CertificateVerificationError
	if !errors.As(f, &unknown) {
		t.Errorf("fault %v", f)
	}
}
