package isublog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	connections = 10
	idleLimit   = 60 * time.Second
	// errorShare is the share of failed requests that fails the run.
	errorShare = 0.01
	// turn is the longest wait for events. Ends and limits of time are seen with
	// this delay.
	turn = 20 * time.Millisecond
	// hungAfter is the age of an answer from which a connection counts as hung: it
	// waits for a close that the target does not intend.
	hungAfter = 5 * time.Second
)

// A hammer is the load: it keeps a fixed number of connections busy. As the
// contest's program, it opens a connection for each request, announces keep-alive in
// some without reusing the connection, and does not decode chunks. An answer ends
// when Content-Length bytes of a body have arrived, or when the target closes. An
// empty body never fulfils the first rule.
//
// One goroutine serves all connections with non-blocking system calls. A request
// allocates nothing, so that the generator's garbage collector does not take turns
// with the target.
type hammer struct {
	s       scenario.Session
	list    []target
	picks   *rand.Rand
	heads   map[string]*[4][]byte // by path; see variant
	address syscall.Sockaddr
	family  int

	epoll  int
	slots  [connections]slot
	events [2 * connections]syscall.EpollEvent
	buffer [64 << 10]byte
	record scenario.Exchange // reused: recording keeps nothing of it
	now    time.Time

	answered, failed, hung atomic.Int64
	over                   chan struct{} // closed when run has returned
	idle                   time.Duration // idleLimit, but in tests
}

// newHammer prepares the load of a plan.
func newHammer(s scenario.Session, p *plan) (*hammer, error) {
	u, err := url.Parse(s.URL())
	if err != nil {
		return nil, fmt.Errorf("preparing the load: %w", err)
	}
	if u.Scheme != "http" {
		return nil, errors.New("preparing the load: the contest's load is plain HTTP, want a URL that begins with http://")
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("preparing the load: %w", err)
	}
	h := &hammer{s: s, list: p.targets(), picks: p.picks, idle: idleLimit, heads: map[string]*[4][]byte{}, over: make(chan struct{})}
	h.address, h.family = sockaddr(address)
	for _, t := range h.list {
		if h.heads[t.path] == nil {
			h.heads[t.path] = variants(t.path, u.Host)
		}
	}
	return h, nil
}

func sockaddr(a *net.TCPAddr) (syscall.Sockaddr, int) {
	if ip := a.IP.To4(); ip != nil {
		return &syscall.SockaddrInet4{Port: a.Port, Addr: [4]byte(ip)}, syscall.AF_INET
	}
	return &syscall.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP.To16())}, syscall.AF_INET6
}

// variant is the index of a request's head among the four of its path.
func (s shot) variant() int {
	v := 0
	if s.keepAlive {
		v |= 1
	}
	if s.encodingSent {
		v |= 2
	}
	return v
}

// variants returns the four requests of a path.
func variants(path, host string) *[4][]byte {
	var heads [4][]byte
	for _, s := range []shot{{0, false, false}, {0, true, false}, {0, false, true}, {0, true, true}} {
		var b strings.Builder
		fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nUser-Agent: %s\r\nHost: %s\r\n", path, agent, host)
		if s.keepAlive {
			b.WriteString("Connection: keep-alive\r\n")
		} else {
			b.WriteString("Connection: close\r\n")
		}
		if s.encodingSent {
			b.WriteString("Accept-Encoding: gzip, deflate\r\n")
		}
		b.WriteString("\r\n")
		heads[s.variant()] = []byte(b.String())
	}
	return &heads
}

// run is the actor of the load.
func (h *hammer) run(ctx context.Context) {
	defer close(h.over)
	var err error
	if h.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		h.s.Fail(fmt.Errorf("starting the load: %w", err))
		return
	}
	defer syscall.Close(h.epoll)
	h.now = time.Now()
	for i := range h.slots {
		h.slots[i].fd = -1
		h.start(i)
	}
	looked := h.now
	for ctx.Err() == nil {
		n, err := syscall.EpollWait(h.epoll, h.events[:], int(turn/time.Millisecond))
		if err != nil && err != syscall.EINTR {
			h.s.Fail(fmt.Errorf("waiting for answers: %w", err))
			break
		}
		h.now = time.Now()
		for _, e := range h.events[:max(n, 0)] {
			h.serve(int(e.Fd), e.Events)
		}
		if h.now.Sub(looked) >= turn {
			h.look()
			looked = h.now
		}
	}
	h.cut()
}

// look starts connections that waited and ends those that were idle for too long.
func (h *hammer) look() {
	for i := range h.slots {
		s := &h.slots[i]
		switch {
		case s.fd < 0:
			h.start(i)
		case h.now.Sub(s.active) >= h.idle:
			h.finish(i, iikanji.FaultTimeout, nil, "nothing for "+h.idle.String())
		}
	}
}

// cut ends what is in flight at the end of the load. It is not counted.
func (h *hammer) cut() {
	h.now = time.Now()
	for i := range h.slots {
		s := &h.slots[i]
		if s.fd < 0 {
			continue
		}
		if s.headed && h.now.Sub(s.active) >= hungAfter {
			h.hung.Add(1)
		}
		h.exchange(i, iikanji.FaultCut, nil)
		s.close()
	}
}

// verdict applies the rule of errors: one percent of the requests fails the run.
func (h *hammer) verdict() error {
	ok, bad := h.answered.Load(), h.failed.Load()
	if bad == 0 || float64(bad) < errorShare*float64(ok+bad) {
		return nil
	}
	return scenario.Wrong(nil, "load-errors", "%d of %d requests of the load failed, which is 1 %% or more", bad, ok+bad)
}

// gauges reports figures that explain the run.
func (h *hammer) gauges() {
	h.s.Gauge("connections that hang at the end", "", float64(h.hung.Load()))
	h.s.Gauge("failed requests of the load", "", float64(h.failed.Load()))
}
