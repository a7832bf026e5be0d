package arenatest

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// A Hook sees every exchange. It may change the request, call forward, and change
// the answer. A hook that does not call forward must set Status. A hook is called
// from many goroutines at once.
type Hook func(x *Exchange, forward func())

// An Exchange is one request and its answer.
type Exchange struct {
	Phase  scenario.Phase // of the run
	Host   string         // of the request
	Method string
	Path   string // without the query
	Query  string
	Header http.Header // of the request
	Body   []byte      // of the request

	Status int // of the answer, as are the fields below
	Answer http.Header
	Reply  []byte

	// Cut, if above 0, closes the connection after that many bytes of the reply, while
	// Content-Length gives the full size.
	Cut int
	// Close closes the connection after the answer, and the answer announces it. It
	// is set where the target does so.
	Close bool
	// Stall, if above 0, sends that many bytes of the reply only and keeps the
	// connection open until the client closes it.
	Stall int

	proxy *Proxy
}

// Is reports whether the request has a method and a path. In the pattern, *
// matches one segment, as in "/api/isu/*/icon".
func (x *Exchange) Is(method, pattern string) bool {
	return x.Method == method && matchPath(pattern, x.Path)
}

func matchPath(pattern, path string) bool {
	for pattern != "" && path != "" {
		if pattern[0] == '*' {
			n := 0
			for n < len(path) && path[n] != '/' {
				n++
			}
			if n == 0 {
				return false
			}
			pattern, path = pattern[1:], path[n:]
			continue
		}
		if pattern[0] != path[0] {
			return false
		}
		pattern, path = pattern[1:], path[1:]
	}
	return pattern == path
}

// Give sets a whole answer.
func (x *Exchange) Give(status int, contentType, body string) {
	x.Status, x.Reply = status, []byte(body)
	x.Answer = http.Header{}
	if contentType != "" {
		x.Answer.Set("Content-Type", contentType)
	}
}

// Fetch sends another GET to the app, with the header of this request.
func (x *Exchange) Fetch(path, query string) (status int, body []byte) {
	y := *x
	y.Method, y.Path, y.Query, y.Body = http.MethodGet, path, query, nil
	x.proxy.forward(&y)
	return y.Status, y.Reply
}

// Send sends a further request with a body to the app.
func (x *Exchange) Send(method, path, contentType string, body []byte) (status int) {
	y := Exchange{Method: method, Path: path, Header: http.Header{"Content-Type": {contentType}}, Body: body, proxy: x.proxy}
	x.proxy.forward(&y)
	return y.Status
}

// A Proxy sits between benchmarker and target and passes each exchange to its
// hook.
type Proxy struct {
	target string
	phase  atomic.Value // scenario.Phase
	hook   atomic.Value // Hook
	server *http.Server
	addr   string
	client *http.Client

	left atomic.Int64 // exchanges until done is called
	done atomic.Value // func()
	open atomic.Int64 // connections of clients
}

// NewProxy starts a proxy in front of a target such as "http://127.0.0.1:8080". In
// front of one over HTTPS it speaks HTTPS and HTTP/2 itself.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	p := &Proxy{target: target, addr: l.Addr().String()}
	p.client = &http.Client{
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // the stack's own certificate
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.Spoil(nil)
	p.SetPhase("")
	p.server = &http.Server{Handler: p, ConnState: func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			p.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			p.open.Add(-1)
		}
	}}
	if strings.HasPrefix(target, "https://") {
		p.server.TLSConfig = certificate()
		go p.server.ServeTLS(l, "", "") // ends with Close
		return p, nil
	}
	go p.server.Serve(l) // ends with Close
	return p, nil
}

// certificate returns the settings of a server over TLS and HTTP/2, with the
// certificate of package httptest.
func certificate() *tls.Config {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates}
}

// URL returns the address of the proxy.
func (p *Proxy) URL() string {
	if strings.HasPrefix(p.target, "https://") {
		return "https://" + p.addr
	}
	return "http://" + p.addr
}

// Spoil sets the hook. With nil, every exchange passes unchanged.
func (p *Proxy) Spoil(h Hook) {
	if h == nil {
		h = func(_ *Exchange, forward func()) { forward() }
	}
	p.hook.Store(h)
}

// SetPhase sets the phase of the run that hooks see in [Exchange].
func (p *Proxy) SetPhase(phase scenario.Phase) { p.phase.Store(phase) }

// CountDown calls do once, when n further exchanges have been answered.
func (p *Proxy) CountDown(n int64, do func()) {
	p.left.Store(0) // do of an earlier call is not called any more
	p.done.Store(do)
	p.left.Store(n)
}

// answered counts one exchange.
func (p *Proxy) answered() {
	if p.left.Add(-1) == 0 {
		p.done.Load().(func())()
	}
}

// knock is the header of a request that the proxy answers itself.
const knock = "X-Arenatest-Knock"

// Quiet waits until the connections of earlier clients are over, with their exchanges: a
// benchmarker that ends leaves requests behind, and the app must not answer them in the next
// run. Connections are accepted in their order, so that none of earlier clients is left when
// a further one has been answered.
func (p *Proxy) Quiet(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL(), nil)
	if err != nil {
		return err
	}
	r.Header.Set(knock, "1")
	r.Close = true
	res, err := p.client.Do(r)
	if err != nil {
		return fmt.Errorf("asking the proxy: %w", err)
	}
	res.Body.Close()
	for p.open.Load() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d connections to the proxy stay open: %w", p.open.Load(), ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.server.Close()
	p.client.CloseIdleConnections()
}

// ServeHTTP handles one exchange.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(knock) != "" {
		return
	}
	defer p.answered()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the benchmarker closed the connection
	}
	x := &Exchange{Phase: p.phase.Load().(scenario.Phase), Host: r.Host, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Header: r.Header.Clone(), Body: body, proxy: p}
	p.hook.Load().(Hook)(x, func() { p.forward(x) })
	for name, values := range x.Answer {
		if name != "Content-Length" && name != "Connection" && name != "Date" {
			w.Header()[name] = values
		}
	}
	if x.Answer.Get("Content-Type") == "" {
		w.Header()["Content-Type"] = nil // otherwise net/http would guess one
	}
	if x.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(x.Reply)))
	}
	if x.Close {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(x.Status)
	if x.Stall > 0 {
		stall(w, r, x.Reply[:min(x.Stall, len(x.Reply))])
	}
	if x.Cut > 0 {
		w.Write(x.Reply[:min(x.Cut, len(x.Reply))])
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Write(x.Reply) // an error means that the benchmarker closed the connection
}

// stall sends the beginning of a reply, waits until the client closes the
// connection, and closes it.
func stall(w http.ResponseWriter, r *http.Request, begin []byte) {
	w.Write(begin)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}

// forward sends an exchange's request to the target and stores the answer in the
// exchange.
func (p *Proxy) forward(x *Exchange) {
	url := p.target + x.Path
	if x.Query != "" {
		url += "?" + x.Query
	}
	r, err := http.NewRequest(x.Method, url, bytes.NewReader(x.Body))
	if err != nil {
		x.Give(http.StatusBadGateway, "text/plain", err.Error())
		return
	}
	r.Host, r.Header = x.Host, x.Header.Clone()
	r.Header.Del("Connection")
	res, err := p.client.Do(r)
	if err != nil {
		x.Give(http.StatusBadGateway, "text/plain", err.Error())
		return
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	if err != nil {
		x.Give(http.StatusBadGateway, "text/plain", err.Error())
		return
	}
	x.Status, x.Answer, x.Reply, x.Close = res.StatusCode, res.Header, reply, res.Close
}
