package arenatest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji/internal/scenario"
)

// A Hook sees every exchange. It may change the request, call forward (or
// not: then it must set Status), and change the answer. It is called from many
// goroutines at once.
type Hook func(x *Exchange, forward func())

// An Exchange is one request with its answer.
type Exchange struct {
	Phase  scenario.Phase // of the run
	Method string
	Path   string // without the query
	Query  string
	Header http.Header // of the request
	Body   []byte      // of the request

	Status int // of the answer, and so on
	Answer http.Header
	Reply  []byte

	// Cut, where it is above 0, closes the connection after so many bytes of
	// the reply, whose Content-Length says more.
	Cut int

	proxy *Proxy
}

// Is says whether the request is of a method and a path in which * stands for
// one segment, as in "/api/isu/*/icon".
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

// Fetch asks the app something else with the header of this request.
func (x *Exchange) Fetch(path, query string) (status int, body []byte) {
	y := *x
	y.Method, y.Path, y.Query, y.Body = http.MethodGet, path, query, nil
	x.proxy.forward(&y)
	return y.Status, y.Reply
}

// A Proxy stands between benchmarker and target and does what its hook does.
type Proxy struct {
	target string
	phase  atomic.Value // scenario.Phase
	hook   atomic.Value // Hook
	server *http.Server
	addr   string
	client *http.Client
}

// NewProxy starts a proxy before a target, as in "http://127.0.0.1:8080".
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting a proxy: %w", err)
	}
	p := &Proxy{target: target, addr: l.Addr().String()}
	p.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.Spoil(nil)
	p.SetPhase("")
	p.server = &http.Server{Handler: p}
	go p.server.Serve(l) // ends with Close
	return p, nil
}

// URL is where the proxy answers.
func (p *Proxy) URL() string { return "http://" + p.addr }

// Spoil sets the hook; nil passes everything on.
func (p *Proxy) Spoil(h Hook) {
	if h == nil {
		h = func(_ *Exchange, forward func()) { forward() }
	}
	p.hook.Store(h)
}

// SetPhase tells the hooks which phase the run is in.
func (p *Proxy) SetPhase(phase scenario.Phase) { p.phase.Store(phase) }

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.server.Close()
	p.client.CloseIdleConnections()
}

// ServeHTTP is one exchange.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the benchmarker has gone
	}
	x := &Exchange{Phase: p.phase.Load().(scenario.Phase), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Header: r.Header.Clone(), Body: body, proxy: p}
	p.hook.Load().(Hook)(x, func() { p.forward(x) })
	for name, values := range x.Answer {
		if name != "Content-Length" && name != "Connection" && name != "Date" {
			w.Header()[name] = values
		}
	}
	if x.Answer.Get("Content-Type") == "" {
		w.Header()["Content-Type"] = nil // or net/http would guess one
	}
	if x.Status != http.StatusNotModified {
		w.Header().Set("Content-Length", strconv.Itoa(len(x.Reply)))
	}
	w.WriteHeader(x.Status)
	if x.Cut > 0 {
		w.Write(x.Reply[:min(x.Cut, len(x.Reply))])
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Write(x.Reply) // a benchmarker that has gone needs no answer
}

// forward sends an exchange's request to the target and fills its answer.
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
	r.Header = x.Header.Clone()
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
	x.Status, x.Answer, x.Reply = res.StatusCode, res.Header, reply
}
