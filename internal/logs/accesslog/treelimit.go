package accesslog

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// settle keeps the kept rows and, of the others, at most maxRoutes of smallest
// hash, none above the ceiling that the routers had.
func (t *tree) settle(ceiling uint64, spill func(*row)) {
	var free []uint64
	t.all(func(w *row) {
		if !w.kept {
			free = append(free, w.hash)
		}
	})
	slices.Sort(free)
	if free = slices.Compact(free); len(free) > maxRoutes {
		ceiling = min(ceiling, free[maxRoutes]-1)
	}
	if ceiling != math.MaxUint64 {
		t.root.prune(func(w *row) bool { return !w.kept && w.hash > ceiling }, spill)
	}
}

// keep marks the heaviest rows as kept and all branches as known; rows beyond
// maxRoutes overflow.
func (t *tree) keep(spill func(*row)) {
	var all []*row
	t.all(func(w *row) { all = append(all, w) })
	slices.SortFunc(all, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.hash, b.hash))
	})
	for _, w := range all[:min(len(all), maxRoutes)] {
		w.kept = true
	}
	t.root.prune(func(w *row) bool { return !w.kept }, spill)
	t.root.know()
}

// forget resets the rows and keeps the routes.
func (t *tree) forget() {
	t.all(func(w *row) {
		method, hash := w.method, w.hash
		*w = *newRow()
		w.method, w.hash, w.kept = method, hash, true
	})
}

func (b *branch) countMarks() int {
	n := bits.OnesCount16(uint16(b.marks)) + b.joins.count()
	for _, c := range b.children {
		n += c.countMarks()
	}
	return n
}

func (b *branch) know() {
	b.known = true
	for _, c := range b.children {
		c.know()
	}
}

// teach adds the routes, marks and joins of the tree to a new router.
func (t *tree) teach(r *router) {
	t.root.teach(r, 0)
}

func (b *branch) teach(r *router, at uint32) {
	n := &r.nodes[at]
	n.marks, n.joins, n.known = b.marks, b.joins, true
	n.rules = b.marks != 0 || b.joins.count() > 0
	r.deadMarks = r.deadMarks || b.marks&markDead != 0
	for _, rows := range b.rows {
		w := newRow()
		w.method, w.node, w.next, w.kept = rows.method, at, r.nodes[at].row, true
		r.nodes[at].row = int32(len(r.rows))
		r.rows = append(r.rows, w)
	}
	for _, c := range b.sorted() {
		s := shape{c.shape.kind, c.shape.text}
		c.teach(r, r.step(at, segment{s, r.hashOf(s)}))
	}
}
