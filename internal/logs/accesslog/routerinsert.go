package accesslog

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/iikanji/iikanji/internal/logs/tally"
)

// routeHash is the hash by which routes overflow. It is the same in every
// worker and every run.
func routeHash(segs []segment, m method) uint64 {
	h := uint64(m)
	for i := range segs {
		h = tally.Mix(h, tally.Hash(segs[i].shape.text, uint64(segs[i].shape.kind)))
	}
	return h | 1
}

// insert creates the row of the request that split read, unless it overflows.
func (r *router) insert(n int, rec *record) *row {
	// The caller stopped at the first unknown segment; marks may cover later
	// segments.
	at := uint32(0)
	for i := range n {
		s := &r.segs[i]
		next := r.child(at, s.hash)
		next = r.placeholder(at, next, s, rec)
		if n = r.cut(i, n); next == 0 || i == n-1 {
			break
		}
		at = next
	}
	h := routeHash(r.segs[:n], rec.method)
	if r.ceiling != 0 && h > r.ceiling {
		return r.overflow
	}
	w := r.add(r.segs[:n], rec.method)
	w.hash = h
	if r.free++; r.limit > 0 && r.free >= 2*r.limit {
		r.shrink()
		if h > r.ceiling {
			return r.overflow
		}
		return r.add(r.segs[:n], rec.method)
	}
	return w
}

// add returns the row of a route and creates its nodes and the row if needed.
func (r *router) add(segs []segment, m method) *row {
	at := uint32(0)
	for i := range segs {
		at = r.step(at, segs[i])
	}
	for k := r.nodes[at].row; k >= 0; k = r.rows[k].next {
		if r.rows[k].method == m {
			return r.rows[k]
		}
	}
	w := newRow()
	w.method, w.node, w.next = m, at, r.nodes[at].row
	r.nodes[at].row = int32(len(r.rows))
	r.rows = append(r.rows, w)
	return w
}

// step returns the child of a node and creates it if needed.
func (r *router) step(at uint32, s segment) uint32 {
	if next := r.child(at, s.hash); next != 0 {
		return next
	}
	next := uint32(len(r.nodes))
	r.nodes = append(r.nodes, node{parent: at, kind: s.shape.kind, text: bytes.Clone(s.shape.text), row: -1})
	if r.used++; r.used*2 > len(r.edges) {
		old := r.edges
		r.edges = make([]edge, 2*len(old))
		for _, e := range old {
			if e.key != 0 {
				r.put(e)
			}
		}
	}
	r.put(edge{edgeKey(at, s.hash), next})
	return next
}

func (r *router) put(e edge) {
	mask := uint64(len(r.edges) - 1)
	i := e.key >> 20 & mask
	for r.edges[i].key != 0 {
		i = (i + 1) & mask
	}
	r.edges[i] = e
}

// route returns the segments from the root to a node.
func (r *router) route(at uint32) (segs []segment) {
	for ; at != 0; at = r.nodes[at].parent {
		n := &r.nodes[at]
		segs = append(segs, segment{shape: shape{n.kind, n.text}})
	}
	slices.Reverse(segs)
	for i := range segs {
		segs[i].hash = r.hashOf(segs[i].shape)
	}
	return segs
}

// noteUser marks the segment of a row's path that is the name of the request's
// user.
func (r *router) noteUser(w *row, user []byte) {
	if len(user) < 2 || w == r.overflow || w == r.nothing {
		return
	}
	for id := w.node; id != 0; id = r.nodes[id].parent {
		if n := &r.nodes[id]; n.kind == literal && string(n.text) == string(user) && !r.users[id] {
			if r.users == nil {
				r.users = map[uint32]bool{}
			}
			r.users[id] = true
		}
	}
}

// shrink keeps the rows that were learned before and, of the others, as many as
// the limit allows, those of smallest hash. It drops the nodes of overflowed
// rows.
func (r *router) shrink() {
	var free []*row
	for _, w := range r.rows {
		if !w.kept {
			free = append(free, w)
		}
	}
	slices.SortFunc(free, func(a, b *row) int { return cmp.Compare(a.hash, b.hash) })
	r.ceiling = free[r.limit].hash - 1
	old := *r
	*r = *newRouter(old.seed, old.withKeys, old.patterns)
	r.segs, r.keys, r.limit, r.ceiling, r.overflow, r.nothing, r.deadMarks = old.segs, old.keys, old.limit, old.ceiling, old.overflow, old.nothing, old.deadMarks
	r.nodes[0].marks, r.nodes[0].joins, r.nodes[0].rules = old.nodes[0].marks, old.nodes[0].joins, old.nodes[0].rules
	for id := range old.nodes { // parents come before their children
		if n := &old.nodes[id]; n.known {
			r.adopt(&old, uint32(id))
		}
	}
	for _, w := range old.rows {
		if !w.kept && w.hash > r.ceiling {
			r.overflow.merge(w)
			continue
		}
		at := r.adopt(&old, w.node)
		w.node, w.next = at, r.nodes[at].row
		r.nodes[at].row = int32(len(r.rows))
		r.rows = append(r.rows, w)
		if !w.kept {
			r.free++
		}
	}
}

// adopt copies a node of the old trie with its ancestors and marks.
func (r *router) adopt(old *router, id uint32) uint32 {
	at := uint32(0)
	var line []uint32
	for ; id != 0; id = old.nodes[id].parent {
		line = append(line, id)
	}
	for _, id := range slices.Backward(line) {
		n := &old.nodes[id]
		s := shape{n.kind, n.text}
		at = r.step(at, segment{s, r.hashOf(s)})
		r.nodes[at].marks, r.nodes[at].joins, r.nodes[at].rules, r.nodes[at].known = n.marks, n.joins, n.rules, n.known
	}
	return at
}
