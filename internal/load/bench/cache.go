package bench

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// cacheBytes limits the cache of one browser. A real disk cache is larger.
// Bodies that several browsers hold are shared (see bodies).
const cacheBytes = 64 << 20

// A cache is the private cache of one browser (RFC 9111): GET answers of
// status 200, fresh by max-age or Expires, otherwise revalidated with a
// conditional request. It applies no heuristic freshness from Last-Modified and
// never serves a stale answer, so must-revalidate needs no special case.
type cache struct {
	bodies *bodies
	limit  int // in bytes of bodies
	mu     sync.Mutex
	byPath map[string]*entry
	order  []string // in the order of storing, for eviction
	size   int
}

// An entry is one stored answer. It is immutable.
type entry struct {
	body     *blob
	fields   []scenario.HeaderField
	etag     string
	modified string
	fresh    int64 // clock time until which no request is sent
	vary     []scenario.Field
}

// find returns the stored answer that matches a request, or nil.
func (c *cache) find(r *scenario.Request, j *jar, fixed *clientFields) *entry {
	c.mu.Lock()
	e := c.byPath[r.Path]
	c.mu.Unlock()
	if e == nil {
		return nil
	}
	for _, v := range e.vary {
		if sentField(r, j, fixed, v.Name) != v.Value {
			return nil
		}
	}
	return e
}

// renewable reports whether a conditional request can revalidate the entry.
func (e *entry) renewable() bool { return e.etag != "" || e.modified != "" }

// put stores an answer. If the answer must not be stored, put only drops the old one.
func (c *cache) put(r *scenario.Request, res *response, j *jar, fixed *clientFields, asked int64) {
	e := c.entryOf(r, res, j, fixed, asked)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(r.Path)
	if e == nil || e.body.size() > c.limit {
		return
	}
	if c.byPath == nil {
		c.byPath = make(map[string]*entry)
	}
	path := strings.Clone(r.Path) // it may be a slice of a larger string
	c.byPath[path] = e
	c.order = append(c.order, path)
	c.size += e.body.size()
	for c.size > c.limit {
		c.drop(c.order[0])
	}
}

// drop removes a path. The caller holds the lock.
func (c *cache) drop(path string) {
	e := c.byPath[path]
	if e == nil {
		return
	}
	c.size -= e.body.size()
	delete(c.byPath, path)
	for i, p := range c.order {
		if p == path {
			c.order = append(c.order[:i], c.order[i+1:]...)
			break
		}
	}
}

// forget removes one path after an unsafe request to it succeeded (RFC 9111, 4.4).
func (c *cache) forget(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(path)
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPath, c.order, c.size = nil, nil, 0
}

// entryOf makes an entry from an answer. It returns nil when the answer must
// not be stored, or is neither fresh nor renewable.
func (c *cache) entryOf(r *scenario.Request, res *response, j *jar, fixed *clientFields, asked int64) *entry {
	e := &entry{etag: res.Get("etag"), modified: res.Get("last-modified")}
	life, store := lifetime(res.Fields)
	if !store || !e.renewable() && life <= 0 {
		return nil
	}
	e.fresh = asked + int64(life)
	for _, f := range res.Fields {
		if string(f.Name) != "vary" {
			continue
		}
		for name := range strings.SplitSeq(string(f.Value), ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if name == "*" {
				return nil
			}
			e.vary = append(e.vary, scenario.Field{Name: name, Value: sentField(r, j, fixed, name)})
		}
	}
	e.fields = cloneFields(res.Fields)
	e.body = c.bodies.of(res.Body)
	return e
}

// merge turns a 304 into the answer that the scenario gets: the stored body, and
// the stored fields updated by those of the 304 (RFC 9111, 3.2).
func (r *response) merge(e *entry) {
	r.merged = r.merged[:0]
	for _, f := range e.fields {
		if !hasField(r.Fields, f.Name) || aboutBody(f.Name) {
			r.merged = append(r.merged, f)
		}
	}
	for _, f := range r.Fields {
		if !aboutBody(f.Name) {
			r.merged = append(r.merged, f)
		}
	}
	r.Fields, r.Body = r.merged, e.body.data
}

// aboutBody reports whether a field describes the bytes of a body. A 304 has no body.
func aboutBody(name []byte) bool {
	return string(name) == "content-length" || string(name) == "content-encoding"
}

// renewed returns the entry after a 304 whose fields were merged. In the usual
// case no validator or lifetime changed, and it returns e without allocating.
func (e *entry) renewed(res *response, asked int64) *entry {
	life, _ := lifetime(res.Fields)
	if life <= 0 && e.fresh <= asked && e.sameTags(res.Fields) {
		return e
	}
	n := *e
	n.fields = cloneFields(res.Fields)
	n.etag, n.modified = res.Get("etag"), res.Get("last-modified")
	n.fresh = asked + int64(life)
	return &n
}

func (e *entry) sameTags(fields []scenario.HeaderField) bool {
	for _, f := range fields {
		if string(f.Name) == "etag" && string(f.Value) != e.etag || string(f.Name) == "last-modified" && string(f.Value) != e.modified {
			return false
		}
	}
	return true
}

// replace stores an entry made by renewed, unless another request has changed the path.
func (c *cache) replace(path string, old, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byPath[path] == old {
		c.byPath[path] = e
	}
}

// lifetime returns how long an answer stays fresh, counted from its request
// (RFC 9111, 4.2), and whether it may be stored. Max-age overrides Expires. A
// private cache ignores s-maxage.
func lifetime(fields []scenario.HeaderField) (life time.Duration, store bool) {
	maxAge, expires, age := time.Duration(-1), time.Duration(0), time.Duration(0)
	for _, f := range fields {
		switch string(f.Name) {
		case "cache-control":
			var ok bool
			if maxAge, ok = directives(f.Value, maxAge); !ok {
				return 0, false
			}
		case "expires":
			expires = untilExpires(string(f.Value), fields)
		case "age":
			if secs, err := strconv.ParseUint(string(f.Value), 10, 31); err == nil {
				age = time.Duration(secs) * time.Second
			}
		}
	}
	if maxAge >= 0 {
		expires = maxAge
	}
	return min(max(expires, -longestLife), longestLife) - age, true
}

// longestLife is a year. Longer lifetimes make no difference and could overflow.
const longestLife = 365 * 24 * time.Hour

// directives reads one Cache-Control line. ok is false for no-store. no-cache
// is treated as max-age=0.
func directives(value []byte, maxAge time.Duration) (_ time.Duration, ok bool) {
	for len(value) > 0 {
		var d []byte
		d, value, _ = bytes.Cut(value, []byte(","))
		key, val, _ := bytes.Cut(bytes.TrimSpace(d), []byte("="))
		switch {
		case bytes.EqualFold(key, []byte("no-store")):
			return 0, false
		case bytes.EqualFold(key, []byte("no-cache")):
			maxAge = 0
		case bytes.EqualFold(key, []byte("max-age")) && maxAge != 0:
			if secs, err := strconv.ParseUint(string(bytes.Trim(val, `"`)), 10, 31); err == nil {
				maxAge = time.Duration(secs) * time.Second
			}
		}
	}
	return maxAge, true
}

// untilExpires is Expires − Date, which does not depend on the target's clock.
// It is 0, which means expired, when Expires is not a date.
func untilExpires(value string, fields []scenario.HeaderField) time.Duration {
	expires, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	for _, f := range fields {
		if string(f.Name) == "date" {
			if date, err := http.ParseTime(string(f.Value)); err == nil {
				return expires.Sub(date)
			}
		}
	}
	return time.Until(expires)
}

func hasField(fields []scenario.HeaderField, name []byte) bool {
	for i := range fields {
		if bytes.Equal(fields[i].Name, name) {
			return true
		}
	}
	return false
}

// cloneFields copies fields into one new buffer.
func cloneFields(fields []scenario.HeaderField) []scenario.HeaderField {
	n := 0
	for _, f := range fields {
		n += len(f.Name) + len(f.Value)
	}
	buf := make([]byte, 0, n)
	keep := func(b []byte) []byte {
		buf = append(buf, b...)
		return buf[len(buf)-len(b) : len(buf) : len(buf)]
	}
	out := make([]scenario.HeaderField, len(fields))
	for i, f := range fields {
		out[i] = scenario.HeaderField{Name: keep(f.Name), Value: keep(f.Value)}
	}
	return out
}

// clientFields are the fields that every request of a browser carries.
type clientFields struct{ host, agent, encoding string }

// sentField returns the value of a request field as Vary compares it.
func sentField(r *scenario.Request, j *jar, fixed *clientFields, name string) string {
	switch name {
	case "cookie":
		return string(j.write(nil, r.Path))
	case "user-agent":
		return fixed.agent
	case "accept-encoding":
		return fixed.encoding
	case "host":
		return fixed.host
	}
	v := ""
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, name) {
			v += f.Value + ","
		}
	}
	return v
}
