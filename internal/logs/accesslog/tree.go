package accesslog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A tree holds the routes of all workers while the learner decides which
// literals are values. It may hold the rows of several sides (two logs that
// are compared), so that both get the same routes.
type tree struct {
	root  *branch
	sides int
}

// A branch is one segment.
type branch struct {
	shape    shape
	children map[string]*branch // by key of their shapes
	rows     []methodRows
	marks    mark
	joins    joins
	known    bool // present when the routers were taught
	own      bool // a literal that stays although its position holds values
	user     bool // the name of the user of a request
}

// methodRows are the rows of one method, one for each side; some may be nil.
type methodRows struct {
	method method
	sides  []*row
}

func newTree(sides int) *tree { return &tree{root: new(branch), sides: sides} }

// add adds a row to a route.
func (t *tree) add(segs []segment, m method, side int, w *row) *branch {
	b := t.root
	for i := range segs {
		b = b.step(segs[i].shape)
	}
	b.take(t.sides, m, side, w)
	return b
}

// take adds a row to the rows of a branch.
func (b *branch) take(sides int, m method, side int, w *row) {
	i := slices.IndexFunc(b.rows, func(r methodRows) bool { return r.method == m })
	if i < 0 {
		i = len(b.rows)
		b.rows = append(b.rows, methodRows{m, make([]*row, sides)})
	}
	at := &b.rows[i].sides[side]
	if *at == nil {
		*at = w
		return
	}
	(*at).merge(w)
	(*at).kept = (*at).kept || w.kept
}

func (s shape) key() string { return string(rune(s.kind)) + string(s.text) }

// step returns the child of a shape and creates it if needed.
func (b *branch) step(s shape) *branch {
	k := s.key()
	c := b.children[k]
	if c == nil {
		c = &branch{shape: shape{s.kind, bytes.Clone(s.text)}}
		b.put(c)
	}
	return c
}

func (b *branch) put(c *branch) {
	if b.children == nil {
		b.children = map[string]*branch{}
	}
	b.children[c.shape.key()] = c
}

// sorted returns the children in order of shape.
func (b *branch) sorted() []*branch {
	return slices.SortedFunc(maps.Values(b.children), func(x, y *branch) int {
		return cmp.Or(cmp.Compare(x.shape.kind, y.shape.kind), bytes.Compare(x.shape.text, y.shape.text))
	})
}

// addRouter adds all rows of a router.
func (t *tree) addRouter(r *router, side int) {
	for _, w := range r.rows {
		t.add(r.route(w.node), w.method, side, w)
	}
	for id := range r.users {
		b := t.root
		for _, s := range r.route(id) {
			b = b.step(s.shape)
		}
		b.user = true
	}
}

// weigh returns the number of requests below a branch and whether all of them
// were answered 4xx.
func (b *branch) weigh() (count int64, dead bool) {
	dead = true
	for _, r := range b.rows {
		for _, w := range r.sides {
			if w != nil {
				count += w.count
				dead = dead && w.dead()
			}
		}
	}
	for _, c := range b.children {
		n, d := c.weigh()
		count += n
		dead = dead && d
	}
	return count, dead
}

// absorb merges a child of b into the child of another shape.
func (b *branch) absorb(c *branch, into shape, sides int) {
	delete(b.children, c.shape.key())
	b.step(into).merge(c, sides)
}

// merge adds another branch with everything below it.
func (b *branch) merge(o *branch, sides int) {
	for _, r := range o.rows {
		for side, w := range r.sides {
			if w != nil {
				b.take(sides, r.method, side, w)
			}
		}
	}
	b.marks |= o.marks
	for k, to := range o.joins {
		b.joins[k] = max(b.joins[k], to)
	}
	b.known = b.known || o.known
	b.user = b.user || o.user
	for k, c := range o.children {
		if mine := b.children[k]; mine != nil {
			mine.merge(c, sides)
		} else {
			b.put(c)
		}
	}
}

// walk yields the branches that have rows, in order, with their routes; segs is
// valid until yield returns.
func (t *tree) walk(yield func(segs []shape, b *branch)) {
	var segs []shape
	var visit func(b *branch)
	visit = func(b *branch) {
		if len(b.rows) > 0 {
			slices.SortFunc(b.rows, func(x, y methodRows) int { return cmp.Compare(x.method, y.method) })
			yield(segs, b)
		}
		for _, c := range b.sorted() {
			segs = append(segs, c.shape)
			visit(c)
			segs = segs[:len(segs)-1]
		}
	}
	visit(t.root)
}

// template is the text of a route.
func template(segs []shape) string {
	var b strings.Builder
	for i, s := range segs {
		switch {
		case s.kind == noSlash || s.kind == otherVerb:
			continue
		case s.kind == colon || s.kind == paren || i > 0 && (segs[i-1].kind == colon || segs[i-1].kind == paren):
			writePart(&b, segs, i)
			continue
		case s.kind == queryKeys:
			b.WriteByte('?')
		case s.kind == pattern:
		case i == 0 || segs[i-1].kind != noSlash:
			b.WriteByte('/')
		}
		b.WriteString(kindNames[s.kind])
		b.Write(s.text)
	}
	return b.String()
}

// methodName is the method of a route as text.
func methodName(m method, segs []shape) string {
	if len(segs) > 0 && segs[0].kind == otherVerb {
		return string(segs[0].text)
	}
	return m.String()
}

// routeKey is the key of the row of a route.
func routeKey(m method, segs []shape) string {
	return methodName(m, segs) + " " + strings.ToValidUTF8(template(segs), "\uFFFD")
}

// all yields every row.
func (t *tree) all(yield func(w *row)) {
	t.walk(func(_ []shape, b *branch) {
		for _, r := range b.rows {
			for _, w := range r.sides {
				if w != nil {
					yield(w)
				}
			}
		}
	})
}

// prune removes the rows that out selects and the branches that become empty.
func (b *branch) prune(out func(*row) bool, spill func(*row)) (empty bool) {
	b.rows = slices.DeleteFunc(b.rows, func(r methodRows) bool {
		none := true
		for side, w := range r.sides {
			if w != nil && out(w) {
				spill(w)
				r.sides[side] = nil
			} else if w != nil {
				none = false
			}
		}
		return none
	})
	for k, c := range b.children {
		if c.prune(out, spill) && !c.known {
			delete(b.children, k)
		}
	}
	return len(b.rows) == 0 && len(b.children) == 0
}
