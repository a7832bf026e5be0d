package accesslog

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// Routes assigns requests to the learned routes of a profile. It is not safe
// for concurrent use.
type Routes struct {
	router *router
	keys   map[*row]string
	texts  map[*row][]byte
}

// RoutesOf returns the routes of a profile by route. Routes that the user gave
// are not among them.
func RoutesOf(p *iikanji.Profile) (*Routes, error) {
	t := newTree(1)
	for i := range p.Rows {
		segs, m, ok := parseKey(&p.Rows[i])
		if !ok {
			continue
		}
		w, err := fromRow(&p.Rows[i], nil)
		if err != nil {
			return nil, fmt.Errorf("reading the times of %s: %w", p.Rows[i].Key, err)
		}
		t.add(segs, m, 0, w)
	}
	t.root.remember(1)
	t.root.assume()
	t.root.know()
	r := &Routes{router: newRouter(0, false, nil), keys: map[*row]string{}, texts: map[*row][]byte{}}
	t.teach(r.router)
	for _, w := range r.router.rows {
		var segs []shape
		for _, s := range r.router.route(w.node) {
			segs = append(segs, s.shape)
		}
		r.keys[w] = routeKey(w.method, segs)
		r.texts[w] = []byte(r.keys[w])
	}
	return r, nil
}

// Find returns the key of the route of a request; a new key for a request that
// no route covers.
func (r *Routes) Find(method, uri string, status int) string {
	rec := record{uri: []byte(uri), status: status}
	rec.setMethod([]byte(method))
	w := r.router.find(&rec)
	if key, ok := r.keys[w]; ok {
		return key
	}
	return method + " (new) " + uri
}

// find returns the key of the route of a line.
func (r *Routes) find(rec *record) []byte {
	if len(rec.uri) == 0 {
		return []byte(nothingKey)
	}
	if text, ok := r.texts[r.router.find(rec)]; ok {
		return text
	}
	return []byte(otherKey)
}

// assume sets the joins that a finished profile implies: a kind of segment that
// has no route of its own at a position joined the values there.
func (b *branch) assume() {
	for _, g := range general {
		if b.children[shape{g.of, nil}.key()] != nil && b.children[shape{g.stray, nil}.key()] == nil {
			b.joins[g.stray] = g.of
		}
	}
	if b.joins[literal] != literal {
		b.marks |= markWords
	}
	for _, c := range b.children {
		switch {
		case c.shape.kind == literal && maskOf(c.shape.text)&cLower != 0 && maskOf(c.shape.text)&cUpper == 0:
			b.marks |= markCase
		case c.shape.kind == token && len(c.shape.text) == 0:
			b.marks |= markToken
		case c.shape.kind == hexes && len(c.shape.text) == 0:
			b.marks |= markHex
		case c.shape.kind == rest:
			b.marks |= markRest
		case c.shape.kind == file:
			b.marks |= markHashes | markTails
		}
		c.assume()
	}
}
