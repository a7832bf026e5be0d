package accesslog

import (
	"bytes"
	"slices"
)

// maxKeys is how many keys of a query a route has at most.
const maxKeys = 16

// splitKeys adds the keys of the query, which begins at p[i:], as segment n.
func (r *router) splitKeys(rec *record, p []byte, i, n int) int {
	if !r.withKeys {
		return n
	}
	q := rec.query
	if i < len(p) && p[i] == '?' {
		q = p[i+1:]
	}
	if keys := r.queryKeys(q); len(keys) > 0 {
		r.segs[n] = r.segment(queryKeys, keys)
		n++
	}
	return n
}

// queryKeys converts "b=1&a=2&b=3" into "a&b": the sorted keys, each once.
func (r *router) queryKeys(q []byte) []byte {
	var keys [maxKeys][]byte
	n := 0
	if i := bytes.IndexByte(q, '#'); i >= 0 {
		q = q[:i]
	}
	for len(q) > 0 && n < maxKeys {
		part := q
		if i := bytes.IndexByte(q, '&'); i >= 0 {
			part, q = q[:i], q[i+1:]
		} else {
			q = nil
		}
		if i := bytes.IndexByte(part, '='); i >= 0 {
			part = part[:i]
		}
		if len(part) == 0 {
			continue
		}
		if s := shapeOf(part, maskOf(part)); s.kind != literal {
			part = []byte(kindNames[s.kind]) // ?1699999999, to bypass caches
		}
		k, found := slices.BinarySearchFunc(keys[:n], part, bytes.Compare)
		if !found {
			copy(keys[k+1:n+1], keys[k:n])
			keys[k] = part
			n++
		}
	}
	r.keys = r.keys[:0]
	for i, k := range keys[:n] {
		if i > 0 {
			r.keys = append(r.keys, '&')
		}
		r.keys = append(r.keys, k...)
	}
	return r.keys
}
