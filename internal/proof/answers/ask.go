package answers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An Answer is what a build answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // the first maxBody bytes
	Size   int64
	Sum    [sha256.Size]byte // of the whole body
	Err    error             // there was no whole answer
}

// maxBody is how much of a body is kept to find what differs.
const maxBody = 128 << 10

// An Asker sends requests to an app.
type Asker struct {
	// Address is the host and port, or the path of a unix socket.
	Address string
	// Workers is how many requests are under way at once.
	Workers int
	// Timeout is for one request.
	Timeout time.Duration
	// Host is the value of the Host header of requests that have none recorded; "" for
	// the address.
	Host string
}

// Ask sends requests in their order and returns their answers. It stops after limit:
// later requests have no answer. A route that has taken its part of the time is left
// out from then on, so that a slow one does not use up the time of all. The error is
// only that of ctx.
func (a Asker) Ask(ctx context.Context, requests []Request, limit time.Duration) ([]*Answer, error) {
	client, done := a.client()
	defer done()
	out := make([]*Answer, len(requests))
	end := time.Now().Add(limit)
	var next atomic.Int64
	taken := &meter{most: limit * time.Duration(max(1, a.Workers)) / routePart, took: map[string]time.Duration{}}
	var workers sync.WaitGroup
	for range max(1, a.Workers) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(requests) || ctx.Err() != nil || time.Now().After(end) {
					return
				}
				if taken.over(requests[i].Route) {
					continue
				}
				began := time.Now()
				answer := a.ask(ctx, client, requests[i])
				taken.add(requests[i].Route, time.Since(began))
				out[i] = &answer
			}
		})
	}
	workers.Wait()
	return out, ctx.Err()
}

// routePart is the part of the time that one route may take: a quarter.
const routePart = 4

// A meter sums up the time of routes.
type meter struct {
	most time.Duration
	mu   sync.Mutex
	took map[string]time.Duration
}

func (m *meter) over(route string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.took[route] > m.most
}

func (m *meter) add(route string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took[route] += d
}

// client is an HTTP client that follows no redirect and keeps no cookie.
func (a Asker) client() (client *http.Client, done func()) {
	t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: max(1, a.Workers)}
	if strings.HasPrefix(a.Address, "/") {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", a.Address)
		}
	}
	return &http.Client{Transport: t, Timeout: a.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t.CloseIdleConnections
}

// unsent are headers of recorded requests that are left out: an answer is compared
// as a whole and uncompressed.
var unsent = map[string]bool{"Host": true, "Accept-Encoding": true, "Connection": true, "Content-Length": true, "If-None-Match": true,
	"If-Modified-Since": true, "Range": true}

func (a Asker) ask(ctx context.Context, client *http.Client, r Request) (out Answer) {
	base := "http://" + a.Address
	if strings.HasPrefix(a.Address, "/") {
		base = "http://app"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+r.Path, nil)
	if err != nil {
		return Answer{Err: err}
	}
	req.Host = a.Host
	for _, f := range r.Header {
		if strings.EqualFold(f[0], "Host") { // the virtual host that the recorded client asked for
			req.Host = f[1]
		}
		if !unsent[http.CanonicalHeaderKey(f[0])] {
			req.Header.Add(f[0], f[1])
		}
	}
	res, err := client.Do(req)
	if err != nil {
		return Answer{Err: err}
	}
	defer res.Body.Close()
	out = Answer{Status: res.StatusCode, Header: res.Header}
	hash := sha256.New()
	kept := &prefix{limit: maxBody}
	out.Size, err = io.Copy(io.MultiWriter(hash, kept), res.Body)
	if err != nil && !errors.Is(err, io.EOF) {
		out.Err = fmt.Errorf("reading the answer: %w", err)
	}
	out.Body = kept.body
	hash.Sum(out.Sum[:0])
	return out
}

// A prefix keeps the first bytes of what is written.
type prefix struct {
	limit int
	body  []byte
}

func (p *prefix) Write(b []byte) (int, error) {
	if room := p.limit - len(p.body); room > 0 {
		p.body = append(p.body, b[:min(room, len(b))]...)
	}
	return len(b), nil
}
