package bench

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// patience is the limit of every wait that must end: only a dead machine misses it.
const patience = time.Minute

// slower calls f with a duration, and with longer ones as long as it returns an error: what a
// busy machine does not do in a short time it does in a longer one. A defect shows in each.
func slower(t *testing.T, first time.Duration, f func(d time.Duration) error) {
	t.Helper()
	var err error
	for d := first; d <= patience; d *= 4 {
		if err = f(d); err == nil {
			return
		}
		t.Logf("with %v: %v", d, err)
	}
	t.Error(err)
}

// testInfo has a timeout that no answer of a test's server needs, and a load in which a busy
// machine answers at least some requests. Tests of timeouts set their own.
var testInfo = scenario.Info{Name: "test", Steps: []string{"get", "post"}, Timeout: patience, Load: time.Second,
	Table: scenario.Table{Events: []scenario.EventRule{{Name: "got", Points: 2, Per: 10}}, PerError: 1}}

const got scenario.Event = 0

// A script is a scenario made of functions.
type script struct {
	info                    scenario.Info
	prepare, load, validate func(ctx context.Context, s scenario.Session) error
}

func (s *script) Info() scenario.Info {
	if s.info.Name == "" {
		return testInfo
	}
	return s.info
}

func run(f func(context.Context, scenario.Session) error, ctx context.Context, s scenario.Session) error {
	if f == nil {
		return nil
	}
	return f(ctx, s)
}

func (s *script) Prepare(ctx context.Context, se scenario.Session) error {
	return run(s.prepare, ctx, se)
}
func (s *script) Load(ctx context.Context, se scenario.Session) error { return run(s.load, ctx, se) }
func (s *script) Validate(ctx context.Context, se scenario.Session) error {
	return run(s.validate, ctx, se)
}

// session1 returns a session in its load phase, for tests of the client alone.
func session1(t testing.TB, url string) (*session, context.Context) {
	t.Helper()
	s, err := newSession(&script{}, Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	p := newPhase(context.Background(), numLoad, scenario.Load)
	t.Cleanup(p.cancel)
	s.enterPhase(p)
	return s, p.ctx
}

// browse returns a browser in a new session.
func browse(t testing.TB, url string, o scenario.ClientOptions) (*client, context.Context) {
	t.Helper()
	s, ctx := session1(t, url)
	return s.NewClient(o).(*client), ctx
}

func web(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// A rawConn is one connection of a rawServer, whose handler is called once per
// connection, reads requests with next and writes bytes with say.
type rawConn struct {
	net.Conn
	r *bufio.Reader
	n int // of the connection, from 1
	// over is closed when the server has closed the connection.
	over chan struct{}
}

// next reads one request with its body. It returns false at the end.
func (c *rawConn) next() (*http.Request, bool) {
	req, err := http.ReadRequest(c.r)
	if err != nil {
		return nil, false
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, false
	}
	return req, true
}

func (c *rawConn) say(s string) { _, _ = io.WriteString(c, s) } // the peer may have closed: some tests need that

func rawServer(t testing.TB, handle func(c *rawConn)) (url string, accepted *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted = new(atomic.Int64)
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := int(accepted.Add(1))
			go func() {
				conn := &rawConn{c, bufio.NewReader(c), n, make(chan struct{})}
				defer close(conn.over)
				defer c.Close()
				handle(conn)
			}()
		}
	}()
	return "http://" + l.Addr().String(), accepted
}

// ok returns a complete answer with a body.
func ok(body string, fields ...string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\n")
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	b.WriteString("Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body)
	return b.String()
}

func itoa(n int) string { return strconv.Itoa(n) }

// answer fetches a path. The error is a fault.
func answer(ctx context.Context, c scenario.Client, path string) error {
	res, err := c.Do(ctx, &scenario.Request{Path: path})
	res.Release()
	return err
}

// want fetches a path and expects a body.
func want(t testing.TB, ctx context.Context, c scenario.Client, path, body string) {
	t.Helper()
	res, err := c.Do(ctx, &scenario.Request{Path: path})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer res.Release()
	if string(res.Body) != body {
		t.Fatalf("%s: body %.100q, want %.100q", path, res.Body, body)
	}
}

// wantFault sends a request and expects a fault of a kind.
func wantFault(t testing.TB, ctx context.Context, c scenario.Client, r *scenario.Request, kind iikanji.FaultKind) *scenario.Fault {
	t.Helper()
	res, err := c.Do(ctx, r)
	if err == nil {
		t.Fatalf("%s: status %d, %d bytes, want a fault of kind %v", r.Path, res.Status, len(res.Body), kind)
	}
	f, is := err.(*scenario.Fault)
	if !is || f.Kind != kind {
		t.Fatalf("%s: %v (%T), want a fault of kind %v", r.Path, err, err, kind)
	}
	if f.Example == nil || f.Message == "" || !f.Counted {
		t.Fatalf("%s: incomplete fault %+v", r.Path, f)
	}
	return f
}
