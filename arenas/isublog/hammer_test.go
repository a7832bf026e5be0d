package isublog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/machine/servertest"
)

// A fakeSession keeps what the load reports. Its other methods must not be called.
type fakeSession struct {
	scenario.Session
	url string

	mu       sync.Mutex
	recorded map[iikanji.FaultKind]int
	status   map[int]int
	reported []error
	points   int64
}

func newFakeSession(url string) *fakeSession {
	return &fakeSession{url: url, recorded: map[iikanji.FaultKind]int{}, status: map[int]int{}}
}

func (s *fakeSession) URL() string                   { return s.url }
func (s *fakeSession) Gauge(string, string, float64) {}
func (s *fakeSession) Add(_ scenario.Event, n int64) { s.mu.Lock(); defer s.mu.Unlock(); s.points += n }
func (s *fakeSession) Rand(name string) *rand.Rand {
	return rand.New(rand.NewPCG(1, uint64(len(name))))
}
func (s *fakeSession) Fail(err error)                       { s.Report(err) }
func (s *fakeSession) LoadTime() time.Duration              { return time.Minute }
func (s *fakeSession) Go(string, func(ctx context.Context)) { panic("BUG: not expected") }

func (s *fakeSession) Report(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported = append(s.reported, err)
}

func (s *fakeSession) Record(x *scenario.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorded[x.Fault]++
	s.status[x.Status]++
}

// hit runs the load on a target until it has recorded some exchanges.
func hit(t *testing.T, url string, enough int) (*hammer, *fakeSession) {
	t.Helper()
	s := newFakeSession(url)
	h, err := newHammer(s, newPlan(s, Articles+1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go h.run(ctx)
	for ctx.Err() == nil {
		s.mu.Lock()
		n := 0
		for _, k := range s.recorded {
			n += k
		}
		s.mu.Unlock()
		if n >= enough {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-h.over
	return h, s
}

// rawTarget answers each connection's first request with bytes. hold keeps the
// connection open until the client closes it.
func rawTarget(t *testing.T, answer string, hold bool) (url string, requests func() []*http.Request) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var seen []*http.Request
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			open.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				mu.Lock()
				seen = append(seen, req)
				mu.Unlock()
				io.WriteString(c, answer)
				if hold {
					io.Copy(io.Discard, r)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); open.Wait() })
	return "http://" + l.Addr().String(), func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// TestHammerRules checks when an answer ends: for a target that keeps connections
// and for one that closes them.
func TestHammerRules(t *testing.T) {
	const enough = 200
	for _, c := range []struct {
		name, answer string
		hold         bool
		want         iikanji.FaultKind // of all exchanges
		hangs        bool              // none ends
	}{
		{"length, kept", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", true, iikanji.FaultUnknown, false},
		{"length in capitals", "HTTP/1.0 302 Found\r\nCONTENT-LENGTH:4\r\n\r\nbody", true, iikanji.FaultUnknown, false},
		{"no length, closed", "HTTP/1.1 200 OK\r\n\r\nbody", false, iikanji.FaultUnknown, false},
		{"no length, kept", "HTTP/1.1 200 OK\r\n\r\nbody", true, iikanji.FaultUnknown, true},
		{"chunks, closed", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", false, iikanji.FaultUnknown, false},
		{"chunks, kept", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", true, iikanji.FaultUnknown, true},
		{"empty, closed", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, iikanji.FaultUnknown, false},
		{"empty, kept", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, iikanji.FaultUnknown, true},
		{"truncated, closed", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", false, iikanji.FaultClosed, false},
		{"truncated, kept", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", true, iikanji.FaultUnknown, true},
		{"no head", "HTTP/1.1 200 OK\r\nContent-", false, iikanji.FaultClosed, false},
		{"not found", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nbody", true, iikanji.FaultStatus, false},
		{"no HTTP", "SSH-2.0-OpenSSH_9\r\n\r\n", false, iikanji.FaultProtocol, false},
		{"endless head", "HTTP/1.1 200 OK\r\n" + strings.Repeat("x", maxHead), true, iikanji.FaultProtocol, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, requests := rawTarget(t, c.answer, c.hold)
			if c.hangs {
				s := newFakeSession(url)
				h, err := newHammer(s, newPlan(s, Articles+1))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() { // all connections wait by then
					defer cancel()
					for end := time.Now().Add(2 * time.Minute); len(requests()) < connections && time.Now().Before(end); {
						time.Sleep(time.Millisecond)
					}
					time.Sleep(300 * time.Millisecond)
				}()
				h.run(ctx)
				if s.recorded[iikanji.FaultCut] != connections || len(s.recorded) != 1 || len(s.reported) > 0 || s.points > 0 {
					t.Errorf("%v, %v: want all connections hung", s.recorded, s.reported)
				}
				if n := len(requests()); n > connections {
					t.Errorf("%d requests on %d connections", n, connections)
				}
				return
			}
			h, s := hit(t, url, enough)
			if n := s.recorded[c.want]; n < enough-connections || n+s.recorded[iikanji.FaultCut] != sum(s.recorded) {
				t.Errorf("recorded %v, want %s only: %v", s.recorded, c.want, s.reported[:min(1, len(s.reported))])
			}
			if failed := c.want != iikanji.FaultUnknown; failed != (h.verdict() != nil) || failed != (s.points == 0) || failed != (len(s.reported) > 0) {
				t.Errorf("verdict %v with %d points and %d faults", h.verdict(), s.points, len(s.reported))
			}
		})
	}
}

func sum(counts map[iikanji.FaultKind]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// TestHammerRequests checks what the load sends: its mix and its two headers.
func TestHammerRequests(t *testing.T) {
	url, requests := rawTarget(t, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", true)
	hit(t, url, 6000)
	all := requests()
	counts := map[string]int{}
	for _, r := range all {
		switch {
		case r.URL.Path == "/":
			counts["index"]++
		case r.URL.Path == articlePath(Articles+1):
			counts["main"]++
		case strings.HasPrefix(r.URL.Path, "/article/"):
			counts["other"]++
		default:
			counts["static"]++
		}
		if strings.Contains(strings.Join(r.Header["Connection"], ","), "keep-alive") {
			counts["keep-alive"]++
		} else if !r.Close {
			t.Fatalf("%v announces neither keep-alive nor close", r.Header)
		}
		if v := r.Header.Get("Accept-Encoding"); v == "gzip, deflate" {
			counts["encoding"]++
		} else if v != "" {
			t.Fatalf("Accept-Encoding %q", v)
		}
		if r.UserAgent() != agent || r.Proto != "HTTP/1.1" || r.Method != "GET" || r.Host != strings.TrimPrefix(url, "http://") {
			t.Fatalf("%s %s %s %q %q", r.Method, r.URL, r.Proto, r.UserAgent(), r.Host)
		}
	}
	for name, percent := range map[string]float64{"index": 100. / 11, "static": 600. / 11, "main": 150. / 11, "other": 250. / 11, "keep-alive": 3, "encoding": 69} {
		if got := 100 * float64(counts[name]) / float64(len(all)); got < percent-2.5 || got > percent+2.5 {
			t.Errorf("%s: %.1f %% of %d requests, want %.1f %%", name, got, len(all), percent)
		}
	}
}

// TestHammerRefused: a target that refuses connections is reported, not flooded.
func TestHammerRefused(t *testing.T) {
	s := newFakeSession("http://" + servertest.FreeAddress(t))
	h, err := newHammer(s, newPlan(s, Articles+1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	h.run(ctx)
	for end := time.Now().Add(time.Minute); s.recorded[iikanji.FaultDial] < connections && time.Now().Before(end); { // a busy machine
		again, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if h, err = newHammer(s, newPlan(s, Articles+1)); err != nil {
			t.Fatal(err)
		}
		h.run(again)
		cancel()
	}
	if n := s.recorded[iikanji.FaultDial]; n < connections || n > 20*connections || sum(s.recorded) != n {
		t.Errorf("recorded %v, want some failed connections", s.recorded)
	}
	if h.verdict() == nil {
		t.Error("the run passes without an answer")
	}
	for _, url := range []string{"https://127.0.0.1", "http://no host", "http://[::1"} {
		s.url = url
		if _, err := newHammer(s, newPlan(newFakeSession(""), Articles+1)); err == nil {
			t.Errorf("%s is taken for a target", url)
		}
	}
}

// TestVerdict checks the rule of one percent.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		answered, failed int64
		fails            bool
	}{{0, 0, false}, {990, 9, false}, {9900, 99, false}, {99, 1, true}, {9900, 100, true}, {0, 1, true}} {
		h := &hammer{}
		h.answered.Store(c.answered)
		h.failed.Store(c.failed)
		if err := h.verdict(); (err != nil) != c.fails {
			t.Errorf("%d answered, %d failed: %v", c.answered, c.failed, err)
		}
	}
}

// TestHammerIdle: a connection without bytes for longer than the limit is a timeout,
// and its slot goes on.
func TestHammerIdle(t *testing.T) {
	url, _ := rawTarget(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true)
	s := newFakeSession(url)
	h, err := newHammer(s, newPlan(s, Articles+1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h.idle = 100 * time.Millisecond
	go h.run(ctx)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		n := s.recorded[iikanji.FaultTimeout]
		s.mu.Unlock()
		if n >= connections {
			break
		}
	}
	cancel()
	<-h.over
	if n := s.recorded[iikanji.FaultTimeout]; n < connections || sum(s.recorded) != n+s.recorded[iikanji.FaultCut] || h.verdict() != nil {
		t.Errorf("recorded %v, verdict %v", s.recorded, h.verdict())
	}
	if len(s.reported) == 0 || !strings.Contains(fmt.Sprint(s.reported[0]), "timeout") {
		t.Errorf("reported %v", s.reported)
	}
}
