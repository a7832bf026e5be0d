package bench

import (
	"net/http"
	"strings"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// How a browser uses its cache around one request.

// lookUp finds the cache entry for a request. fresh means that the entry
// answers the request and the target is not contacted.
func (c *client) lookUp(k *call) (fresh bool) {
	k.caching = k.method == http.MethodGet && !k.r.NoStore && cacheable(k.r.Header)
	if !k.caching {
		return false
	}
	k.asked = c.s.clock.now()
	e := c.cache.find(k.r, &c.jar, &c.fields)
	if e == nil {
		return false
	}
	if k.asked < e.fresh {
		k.entry = e
		return true
	}
	if e.renewable() {
		k.entry = e
	}
	return false
}

// cacheable reports whether a request may use the cache. It may not with an
// Authorization, conditional, Range or Cache-Control field of its own.
func cacheable(header []scenario.Field) bool {
	for _, f := range header {
		for _, name := range []string{"authorization", "if-none-match", "if-modified-since", "range", "cache-control"} {
			if len(f.Name) == len(name) && strings.EqualFold(f.Name, name) {
				return false
			}
		}
	}
	return true
}

// fromCache answers a request from a fresh entry.
func (c *client) fromCache(k *call) *scenario.Response {
	k.x.cached = true
	now := c.s.clock.now()
	k.x.due, k.x.start, k.x.end = now, now, now
	res := k.res
	res.reply.reset(false, 0)
	res.reply.status = http.StatusOK
	res.Status, res.Cached = http.StatusOK, true
	res.Body, res.Fields = k.entry.body.data, k.entry.fields
	return c.deliver(k)
}

// remember updates the cache from an answer of the target. A 304 to the cache's
// own condition becomes a 200 with the cached body.
func (c *client) remember(k *call) {
	res := k.res
	switch {
	case res.Status == http.StatusNotModified && k.entry != nil:
		res.merge(k.entry)
		res.Status, res.NotModified = http.StatusOK, true
		if e := k.entry.renewed(res, k.asked); e != k.entry {
			c.cache.replace(k.r.Path, k.entry, e)
		}
	case res.Status == http.StatusOK && k.caching:
		c.cache.put(k.r, res, &c.jar, &c.fields, k.asked)
	case k.method != http.MethodGet && k.method != http.MethodHead && res.Status < 400:
		c.cache.forget(k.r.Path)
	}
}
