package accesslog

import "math"

// joins has, for each kind of segment at one position, the placeholder that it
// joins there; literal (0) for none. The entry of literal is that of names.
type joins [nKinds]kind

func (j *joins) count() (n int) {
	for _, to := range j {
		if to != literal {
			n++
		}
	}
	return n
}

// general lists which placeholders may be strays of which, the most specific first.
var general = []struct{ stray, of kind }{
	{number, hexes}, {ulid, token}, {number, token}, {hexes, token},
	{number, anything}, {hexes, anything}, {ulid, anything}, {token, anything}, {date, anything},
}

// foldStrays joins placeholders and literals that are rare forms of a sibling.
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
			if len(into.text) == 0 {
				b.joins[g.stray] = g.of
			}
			b.absorb(stray, into, sides)
		}
	}
}

func (b *branch) hasPlaceholder() bool {
	for _, c := range b.children {
		if c.shape.kind != literal {
			return true
		}
	}
	return false
}

// strayOf finds a child of one kind that belongs to a sibling of the other
// kind with the same ending: it joined before, it has few requests in relation,
// or both are random texts at a position that holds values.
func (b *branch) strayOf(stray, of kind) (*branch, shape) {
	for _, c := range b.sorted() {
		into := shape{of, c.shape.text}
		sibling := b.children[into.key()]
		if c.shape.kind != stray || sibling == nil {
			continue
		}
		few, _ := c.weigh()
		many, _ := sibling.weigh()
		joined := len(c.shape.text) == 0 && b.joins[stray] == of
		values := b.joins[literal] == of && of == anything && (stray == token || stray == hexes || stray == ulid || c.behavesAs(sibling))
		if joined || values || float64(few) < strayShare*float64(many) {
			return c, into
		}
	}
	return nil, shape{}
}

// behavesAs reports whether two placeholders at a position may be one: their requests
// divide alike among the routes below, and so do their times.
func (b *branch) behavesAs(o *branch) bool {
	none := map[string]int{}
	if cosine(b.shares(none), o.shares(none)) < 0.85 {
		return false
	}
	for _, rows := range b.rows {
		rel := relative{rows.method, nKinds, ""}
		x, y := b.momentsOf(rel, timeMoments), o.momentsOf(rel, timeMoments)
		if x.n >= minGroup && y.n >= minGroup && math.Abs(x.mean()-y.mean()) > 0.4 {
			return false
		}
	}
	return true
}

// foldRandomNames joins literals to a random sibling: a random text without a
// digit, or with few changes of class, is a literal by its shape.
func (b *branch) foldRandomNames(sides int) {
	for _, x := range []struct {
		of kind
		m  mark
	}{{hexes, markHex}, {token, markToken}} {
		of, m := x.of, x.m
		sibling := b.children[shape{of, nil}.key()]
		if sibling == nil {
			continue
		}
		many, _ := sibling.weigh()
		for _, c := range b.sorted() {
			if c.shape.kind != literal || c.own {
				continue
			}
			few, _ := c.weigh()
			if !couldBe(of, c.shape.text) && !(of == token && few <= max(2, many/500) && hasMixedCase(c.shape.text)) {
				continue
			}
			if few <= many {
				b.marks |= m
				b.absorb(c, shape{of, nil}, sides)
			}
		}
	}
}

// hasMixedCase reports whether a text of at least eight characters has capitals behind small
// letters, or capitals only: beside many random texts, a rare one may look like words by chance.
func hasMixedCase(text []byte) bool {
	lower, upper := false, 0
	for _, c := range text {
		k := classOf[c]
		if k&cUpper != 0 {
			upper++
		}
		if lower && k&cUpper != 0 {
			return len(text) >= 8
		}
		lower = lower || k&cLower != 0
	}
	return len(text) >= 8 && upper == len(text)
}

// couldBe reports whether a literal could be one of the random texts at its
// position.
func couldBe(of kind, text []byte) bool {
	mask := maskOf(text)
	if of == hexes {
		return len(text) >= 7 && (mask&^(cDigit|cHexLow) == 0 || mask&^(cDigit|cHexUp) == 0)
	}
	return looksRandom(text) && !isReserved(text)
}
