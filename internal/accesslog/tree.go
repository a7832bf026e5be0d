package accesslog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A tree is the routes of all workers together, where it is decided which
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
	known    bool // was there when the routers were told
	own      bool // a name that stays although its position holds values
}

// methodRows are the rows of one method, one per side; some may be nil.
type methodRows struct {
	method method
	sides  []*row
}

func newTree(sides int) *tree { return &tree{root: new(branch), sides: sides} }

// add takes over a row.
func (t *tree) add(segs []segment, m method, side int, w *row) *branch {
	b := t.root
	for i := range segs {
		b = b.step(segs[i].shape)
	}
	b.take(t.sides, m, side, w)
	return b
}

// take adds a row to those of a branch.
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

// step returns the child of a shape, making it where there is none.
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

// sorted lists the children in order of shape.
func (b *branch) sorted() []*branch {
	return slices.SortedFunc(maps.Values(b.children), func(x, y *branch) int {
		return cmp.Or(cmp.Compare(x.shape.kind, y.shape.kind), bytes.Compare(x.shape.text, y.shape.text))
	})
}

// addRouter takes over all rows of a router, and what it learned before.
func (t *tree) addRouter(r *router, side int) {
	for _, w := range r.rows {
		t.add(r.route(w.node), w.method, side, w)
	}
}

// weigh is the number of requests below a branch, and whether all of them were
// answered 4xx.
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

// Thresholds of learning. They are about positions of a path: how many
// different literals may stand at one before they are taken for values.
const (
	// maxNames: a position with more names than this holds values; no site
	// has so many routes that differ in one word.
	maxNames = 100
	// someNames: one with more than this does, if most were seen once or twice.
	someNames = 40
	// maxDead: names under which nothing was ever found are taken together.
	maxDead = 20
	// maxFiles: static files of one kind in one folder are taken together.
	maxFiles = 8
	// A name among values stays where it has at least this share of its
	// position's requests and so many times the median's ("/users/me").
	ownShare, ownTimes = 0.05, 20
	// A placeholder that has less than this share of a more general sibling
	// joins it: a random hex id may happen to be all digits.
	strayShare = 0.05
)

// learn decides for every position of the tree, from the root down, so that
// what is merged above is seen together below.
func (t *tree) learn() { t.root.learn(t.sides) }

func (b *branch) learn(sides int) {
	if b.shape.kind == queryKeys || b.shape.kind == pattern {
		return
	}
	b.foldFiles(sides)
	b.foldNames(sides)
	b.foldStrays(sides)
	for _, c := range b.sorted() {
		c.learn(sides)
	}
}

// absorb merges a child of b into the child of another shape.
func (b *branch) absorb(c *branch, into shape, sides int) {
	delete(b.children, c.shape.key())
	b.step(into).merge(c, sides)
}

// merge adds all of another branch.
func (b *branch) merge(o *branch, sides int) {
	for _, r := range o.rows {
		for side, w := range r.sides {
			if w != nil {
				b.take(sides, r.method, side, w)
			}
		}
	}
	b.marks |= o.marks
	b.known = b.known || o.known
	for k, c := range o.children {
		if mine := b.children[k]; mine != nil {
			mine.merge(c, sides)
		} else {
			b.put(c)
		}
	}
}

// foldFiles takes static files together by their endings.
func (b *branch) foldFiles(sides int) {
	byExt := map[string][]*branch{}
	for _, c := range b.sorted() {
		if c.shape.kind != literal {
			continue
		}
		if _, ext, ok := ending(c.shape.text); ok && isStatic(ext) {
			byExt[string(ext)] = append(byExt[string(ext)], c)
		}
	}
	for ext, files := range byExt {
		into := shape{file, []byte("." + ext)}
		if some := b.children[into.key()] != nil && b.marks&markFiles != 0; len(files) <= maxFiles && !some {
			continue
		}
		b.marks |= markFiles
		for _, c := range files {
			b.absorb(c, into, sides)
		}
	}
}

// A name is a literal child while its parent is looked at.
type name struct {
	b     *branch
	count int64
}

// foldNames takes names together that are values.
func (b *branch) foldNames(sides int) {
	var live, dead []name
	for _, c := range b.sorted() {
		if c.shape.kind != literal || len(c.shape.text) == 0 || c.own {
			continue
		}
		if _, ext, ok := ending(c.shape.text); ok && isStatic(ext) {
			continue
		}
		count, none := c.weigh()
		if none {
			dead = append(dead, name{c, count})
		} else {
			live = append(live, name{c, count})
		}
	}
	if b.marks&markValues != 0 || areValues(live) {
		first := b.marks&markValues == 0
		b.marks |= markValues
		own, values := live[:0], live
		if first {
			own, values = splitOwn(live)
		}
		for _, v := range own {
			v.b.own = true
		}
		for _, v := range values {
			b.absorb(v.b, shape{anything, nil}, sides)
		}
	}
	if len(dead) > maxDead || b.marks&(markValues|markDead) != 0 {
		b.marks |= markDead
		for _, v := range dead {
			b.absorb(v.b, shape{anything, nil}, sides)
		}
	}
}

// areValues says whether so many names at one position are values.
func areValues(names []name) bool {
	if len(names) > maxNames {
		return true
	}
	rare := 0
	for _, v := range names {
		if v.count <= 2 {
			rare++
		}
	}
	return len(names) > someNames && rare*2 > len(names)
}

// splitOwn tells the names that are routes of their own from the values.
func splitOwn(names []name) (own, values []name) {
	slices.SortFunc(names, func(a, b name) int {
		return cmp.Or(cmp.Compare(b.count, a.count), bytes.Compare(a.b.shape.text, b.b.shape.text))
	})
	var total int64
	for _, v := range names {
		total += v.count
	}
	n := 0
	if len(names) > 0 {
		median := names[len(names)/2].count
		for n < len(names) && float64(names[n].count) >= ownShare*float64(total) && names[n].count >= ownTimes*median {
			n++
		}
	}
	return names[:n], names[n:]
}

// general lists which placeholders may be strays of which, most special first.
var general = []struct{ stray, of kind }{
	{number, hexes}, {ulid, token}, {number, token}, {hexes, token},
	{number, anything}, {hexes, anything}, {ulid, anything}, {token, anything}, {date, anything},
}

// foldStrays lets placeholders that are a rare form of a sibling join it.
func (b *branch) foldStrays(sides int) {
	if !b.hasPlaceholder() {
		return
	}
	for _, g := range general {
		for {
			stray, into := b.strayOf(g.stray, g.of)
			if stray == nil {
				break
			}
			b.absorb(stray, into, sides)
		}
	}
	b.foldStrayNames(sides)
}

func (b *branch) hasPlaceholder() bool {
	for _, c := range b.children {
		if c.shape.kind != literal {
			return true
		}
	}
	return false
}

// strayOf finds a child of one kind that has little of what a sibling of the
// other kind, with the same ending, has.
func (b *branch) strayOf(stray, of kind) (*branch, shape) {
	for _, c := range b.sorted() {
		into := shape{of, c.shape.text}
		sibling := b.children[into.key()]
		if c.shape.kind != stray || sibling == nil {
			continue
		}
		few, _ := c.weigh()
		many, _ := sibling.weigh()
		if float64(few) < strayShare*float64(many) {
			return c, into
		}
	}
	return nil, shape{}
}

// foldStrayNames: a random token may happen to have no digit, and looks like a
// name then.
func (b *branch) foldStrayNames(sides int) {
	for _, of := range []kind{hexes, token} {
		sibling := b.children[shape{of, nil}.key()]
		if sibling == nil {
			continue
		}
		many, _ := sibling.weigh()
		var strays []*branch
		for _, c := range b.sorted() {
			if c.shape.kind != literal || len(c.shape.text) < 7 || !couldBe(of, c.shape.text) {
				continue
			}
			if few, _ := c.weigh(); float64(few) < strayShare*float64(many) {
				strays = append(strays, c)
			}
		}
		for _, c := range strays {
			b.absorb(c, shape{of, nil}, sides)
		}
	}
}

// couldBe says whether a name could be one of the tokens of its position.
func couldBe(of kind, text []byte) bool {
	mask := maskOf(text)
	if of == hexes {
		return mask&^(cDigit|cHexLow) == 0 || mask&^(cDigit|cHexUp) == 0
	}
	return mask&(cOther|cDot) == 0 && mask&cLower != 0 && mask&cUpper != 0 && dense(text, 30)
}

// walk yields the branches that have rows, in order, with their routes; segs
// is good until yield returns.
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

// template is a route as people read it.
func template(segs []shape) string {
	var b strings.Builder
	for i, s := range segs {
		switch {
		case s.kind == noSlash:
			continue
		case s.kind == queryKeys:
			b.WriteByte('?')
		case s.kind == pattern || s.kind == special:
		case i == 0 || segs[i-1].kind != noSlash:
			b.WriteByte('/')
		}
		b.WriteString(kindNames[s.kind])
		b.Write(s.text)
	}
	return b.String()
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

// prune takes out the rows that out names, and the branches that are left with
// nothing.
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
