package bench

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

const (
	defaultMaxConns = 6
	defaultMaxBody  = 16 << 20
	defaultTimeout  = 10 * time.Second // where neither Info nor ClientOptions set one
	// longIdle is the idle time after which a connection is tested before use.
	// Fresher connections are used untested for requests that can be repeated.
	longIdle = int64(time.Second)
)

// A client is one browser: cookies, a cache and up to max connections.
type client struct {
	s       *session
	id      uint32
	shard   *shard
	addr    string      // host:port to dial
	tls     *tls.Config // guarded by mu after the first request
	fixed   string      // lines of every request
	fields  clientFields
	timeout time.Duration
	maxBody int
	gzip    bool
	home    bool // its base URL is the run's own
	jar     jar
	cache   *cache // nil when it is off
	baseErr error  // why BaseURL cannot be used

	protocol atomic.Uint32 // scenario.Protocol

	mu      sync.Mutex
	max     int
	open    int     // connections, and slots of those being dialled
	idle    []*conn // the most recently used last
	waiting []chan *conn
	conns   map[*conn]struct{}
	closed  bool
	h2      []*h2conn     // connections of HTTP/2 that take streams
	maxH2   int           // of them
	dialing chan struct{} // closed when a dial for several requests is over, nil for none
}

var _ scenario.Client = (*client)(nil)

func newClient(s *session, o scenario.ClientOptions, id uint32) *client {
	c := &client{
		s: s, id: id, shard: &s.shards[int(id)%len(s.shards)],
		timeout: firstOf(o.Timeout, s.info.Timeout, defaultTimeout),
		maxBody: firstOf(o.MaxBody, defaultMaxBody),
		max:     firstOf(o.MaxConns, defaultMaxConns),
		maxH2:   firstOf(o.MaxConns, 1),
		gzip:    o.Gzip,
		home:    o.BaseURL == "" || o.BaseURL == s.url,
		conns:   make(map[*conn]struct{}),
	}
	u, err := parseURL(firstOf(o.BaseURL, s.url))
	if err != nil {
		c.baseErr = err
		return c
	}
	named, err := parseURL(u.Scheme + "://" + firstOf(o.Host, u.Host))
	if err != nil {
		c.baseErr = err
		return c
	}
	c.addr, c.jar.host = hostPort(u), named.Hostname()
	p := o.Protocol
	if u.Scheme == "https" {
		if known, ok := s.spoken.Load(c.addr); ok && p == scenario.Negotiated {
			p = known.(scenario.Protocol)
		}
		c.tls = &tls.Config{ServerName: named.Hostname(), InsecureSkipVerify: o.InsecureTLS || s.o.InsecureTLS,
			RootCAs: firstOf(o.CA, s.o.CA), NextProtos: offers(p), ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	} else if p == scenario.Negotiated {
		p = scenario.HTTP1
	}
	c.protocol.Store(uint32(p))
	c.fields = clientFields{host: named.Host, agent: o.UserAgent}
	if o.Gzip {
		c.fields.encoding = "gzip"
	}
	c.fixed = fixedLines(named.Host, o.UserAgent, o.Gzip)
	if o.Cache {
		c.cache = &cache{bodies: s.bodies, limit: cacheBytes}
	}
	return c
}

// firstOf returns the first value that is not zero.
func firstOf[T comparable](values ...T) (zero T) {
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return u.Host + ":443"
	}
	return u.Host + ":80"
}

// A call is one Do under way.
type call struct {
	ctx     context.Context
	r       *scenario.Request
	method  string
	res     *response
	entry   *entry // cache entry to revalidate
	caching bool   // the request may use the cache
	asked   int64  // clock time of the cache lookup, from which age counts
	limit   time.Duration
	x       exchange
}

// Do implements scenario.Client.
func (c *client) Do(ctx context.Context, r *scenario.Request) (*scenario.Response, error) {
	k := call{ctx: ctx, r: r, method: firstOf(r.Method, http.MethodGet), limit: firstOf(r.Timeout, c.timeout)}
	k.x = exchange{step: r.Step, client: c.id, quiet: r.Quiet}
	if err := c.accept(&k); err != nil {
		return nil, c.fail(&k, err)
	}
	k.res = c.s.pool.get()
	if c.cache != nil && c.lookUp(&k) {
		return c.fromCache(&k), nil
	}
	if err := c.perform(&k); err != nil {
		return nil, c.fail(&k, err)
	}
	if err := c.interpret(&k); err != nil {
		return nil, c.fail(&k, err)
	}
	return c.deliver(&k), nil
}

// accept checks that the request can be sent.
func (c *client) accept(k *call) error {
	if int(k.r.Step) < 0 || int(k.r.Step) >= len(c.shard.steps) {
		panic("BUG: the request's step is not in the scenario's Info")
	}
	if c.baseErr != nil {
		return protocol("%v", c.baseErr)
	}
	return checkRequest(k.r, k.method)
}

// interpret turns the received bytes into an answer: cookies, content coding,
// and the cached body in place of a 304.
func (c *client) interpret(k *call) error {
	res := k.res
	res.fill()
	if res.reply.cookies {
		c.takeCookies(k)
	}
	if c.gzip {
		if err := res.decode(c.maxBody); err != nil {
			return err
		}
	}
	if c.cache != nil {
		c.remember(k)
	}
	return nil
}

// deliver counts the answer and hands it out.
func (c *client) deliver(k *call) *scenario.Response {
	res := k.res
	res.Step, res.Method, res.Path = k.r.Step, k.method, k.r.Path
	res.Took = time.Duration(k.x.end - k.x.due)
	res.Done = res.done
	res.Protocol = c.speaks()
	if k.x.cached {
		res.Protocol = scenario.Negotiated
	}
	k.x.notMod = res.NotModified
	k.x.received = res.reply.wire
	k.x.status = res.reply.status
	c.shard.record(&k.x, c.s.phaseNumber())
	return &res.Response
}

// fail counts a transport fault and adds its step, request and answer.
func (c *client) fail(k *call, err error) error {
	f, ok := err.(*scenario.Fault)
	if !ok {
		f = &scenario.Fault{Kind: iikanji.FaultProtocol, Message: err.Error(), Cause: err}
	}
	f.Step, f.Counted = k.r.Step, true
	f.Example = &iikanji.Example{Request: k.method + " " + k.r.Path}
	if f.Kind == iikanji.FaultTimeout && f.Message == "" {
		f.Message = "no whole answer within " + k.limit.String()
	}
	if res := k.res; res != nil {
		if res.reply.stage > inFields {
			res.fill()
			f.Example.Status, f.Example.Body = res.Status, scenario.Excerpt(res.Body)
		}
		k.x.status, k.x.received = f.Example.Status, res.reply.wire
		c.s.pool.put(res)
	}
	if k.x.end == 0 {
		k.x.end = c.s.clock.now()
		k.x.start = firstOf(k.x.start, k.x.end)
		k.x.due = firstOf(k.x.due, k.x.start)
	}
	k.x.fault = f.Kind
	c.shard.record(&k.x, c.s.phaseNumber())
	return f
}

// Cookie implements scenario.Client.
func (c *client) Cookie(name string) (string, bool) { return c.jar.get(name) }

// SetCookie implements scenario.Client.
func (c *client) SetCookie(name, value string) {
	k := cookie{name: name, value: value, path: "/"}
	if value == "" {
		k.expires = time.Unix(1, 0)
	}
	c.jar.put(k, time.Now())
}

func (c *client) takeCookies(k *call) {
	now := time.Now()
	for _, f := range k.res.Fields {
		if string(f.Name) != "set-cookie" {
			continue
		}
		if k, ok := c.jar.parseSetCookie(string(f.Value), k.r.Path, now); ok {
			c.jar.put(k, now)
		}
	}
}

// Forget implements scenario.Client.
func (c *client) Forget() {
	c.jar.clear()
	if c.cache != nil {
		c.cache.clear()
	}
}
