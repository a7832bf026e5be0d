package index

import (
	"cmp"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// Limits of advised indexes: wider entries cost more pages than they save.
const (
	mostParts = 6
	mostBytes = 3072 // of an entry: InnoDB refuses more
	mostArms  = 8    // of a disjunction: a union of more indexes costs more than a scan
	mostCover = 64   // bytes of columns that only cover
)

// candidates imagines the indexes that could serve a block. For each ref and
// each set of refs that may be read before it, the parts are: equalities; then
// either the required order, or the IN and range columns; then columns that
// only filter; then, as variants, all columns that are read (covering).
func (s *Schema) candidates(blk *Block) []*Index {
	c := &candidates{s: s, blk: blk, seen: map[string]bool{}}
	for r := range blk.Refs {
		if blk.Refs[r].Table == nil {
			continue
		}
		for _, b := range c.befores(r) {
			c.forRef(r, s.know(blk, r, b).m)
		}
		c.forOrs(r)
		c.forSpatial(r)
	}
	return c.out
}

type candidates struct {
	s    *Schema
	blk  *Block
	seen map[string]bool
	out  []*Index
}

// befores lists the sets of refs that may be bound: none, each partner alone,
// all partners.
func (c *candidates) befores(r int) []Bound {
	out, all := []Bound{0}, Bound(0)
	for _, p := range c.blk.Predicates {
		if p.Ref == r && p.Kind == PredJoin && p.With.Ref < 60 {
			one := Bound(0).With(p.With.Ref)
			all |= one
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	if !slices.Contains(out, all) {
		out = append(out, all)
	}
	return out
}

// A keyPart is one part of a candidate.
type keyPart struct {
	col  string
	desc bool
}

func (c *candidates) forRef(r int, m map[string]Limits) {
	eqs, ins, ranges := c.byKind(r, m)
	orders := c.orders(r, m)
	for i := range eqs {
		c.add(r, eqs[:i+1]) // a shorter prefix suffices if it is nearly unique
	}
	for _, o := range orders {
		c.add(r, join(eqs, o))
		c.add(r, o)
		c.add(r, join(eqs, o, ins, ranges))
	}
	c.add(r, join(eqs, ins))
	for _, in := range ins {
		c.add(r, join(eqs, []keyPart{in}))
	}
	for _, g := range ranges {
		c.add(r, join(eqs, []keyPart{g}))
		c.add(r, join(eqs, ins, []keyPart{g}))
		c.add(r, join(eqs, []keyPart{g}, ins, ranges)) // the other columns only filter
	}
	for _, l := range c.texts(r, m) {
		c.add(r, join(eqs, []keyPart{l}))
		c.add(r, []keyPart{l})
	}
	if len(eqs)+len(ins)+len(ranges) == 0 && len(orders) == 0 {
		c.addCovering(r, nil)
	}
}

// texts returns an index part for each long text that the statement restricts: the text's first
// characters, which can only be the last part of an index.
func (c *candidates) texts(r int, m map[string]Limits) []keyPart {
	var out []keyPart
	for _, col := range c.blk.Refs[r].Table.Columns {
		name := strings.ToLower(col.Name)
		if l, ok := m[name]; ok && col.Long() && (l.Eq || l.n > 0) {
			out = append(out, keyPart{col: name})
		}
	}
	return out
}

// byKind sorts the restricted columns by selectivity, and equal ones in the
// table's order, so that the advice is deterministic.
func (c *candidates) byKind(r int, m map[string]Limits) (eqs, ins, ranges []keyPart) {
	var cols []string
	for _, col := range c.blk.Refs[r].Table.Columns {
		name := strings.ToLower(col.Name)
		if _, ok := m[name]; ok && !col.Long() && !col.Spatial() {
			cols = append(cols, name)
		}
	}
	slices.SortStableFunc(cols, func(a, b string) int { return cmp.Compare(m[a].sel, m[b].sel) })
	for _, col := range cols {
		switch l := m[col]; {
		case l.Eq:
			eqs = append(eqs, keyPart{col: col})
		case l.n > 0:
			ins = append(ins, keyPart{col: col})
		default:
			ranges = append(ranges, keyPart{col: col})
		}
	}
	return eqs, ins, ranges
}

// orders are the sequences in which the rows of a ref may be required: ORDER BY
// in its directions and in ascending form, GROUP BY and DISTINCT, MIN and MAX.
func (c *candidates) orders(r int, m map[string]Limits) [][]keyPart {
	var out [][]keyPart
	var directed, plain []keyPart
	mixed := false
	for _, o := range c.blk.Order {
		if o.Ref != r {
			directed = nil
			break
		}
		if !m[o.Col].Eq {
			mixed = mixed || o.desc != c.blk.Order[0].desc
			directed, plain = append(directed, keyPart{o.Col, o.desc}), append(plain, keyPart{col: o.Col})
		}
	}
	if len(directed) > 0 {
		if c.s.Server.StoresDesc() {
			out = append(out, c.trim(r, directed))
		}
		if !mixed {
			out = append(out, c.trim(r, plain))
		}
	}
	for _, g := range [][]ColumnAt{c.blk.Group, c.distinct()} {
		if w := keyParts(g, r, m); len(w) > 0 {
			out = append(out, w)
			if extra := keyParts(c.blk.MinMax, r, m); len(extra) > 0 {
				out = append(out, join(w, extra[:1]))
			}
		}
	}
	if w := keyParts(c.blk.MinMax, r, m); len(w) > 0 {
		out = append(out, w[:1])
	}
	return out
}

func (c *candidates) distinct() []ColumnAt {
	if c.blk.Distinct && len(c.blk.Group) == 0 {
		return c.blk.Outputs
	}
	return nil
}

// trim removes the primary key from the end of an order: InnoDB appends it to
// each secondary index, ascending.
func (c *candidates) trim(r int, w []keyPart) []keyPart {
	pk := c.blk.Refs[r].Table.primary
	if n := len(w); len(pk) == 1 && n > 1 && w[n-1].col == pk[0] {
		if !w[n-1].desc {
			return w[:n-1]
		}
	}
	return w
}

func keyParts(cols []ColumnAt, r int, m map[string]Limits) []keyPart {
	var out []keyPart
	for _, c := range cols {
		if c.Ref != r {
			return nil
		}
		if !m[c.Col].Eq {
			out = append(out, keyPart{col: c.Col})
		}
	}
	return out
}

// join concatenates key parts, each column once.
func join(parts ...[]keyPart) []keyPart {
	var out []keyPart
	for _, p := range parts {
		for _, w := range p {
			if !slices.ContainsFunc(out, func(o keyPart) bool { return o.col == w.col }) {
				out = append(out, w)
			}
		}
	}
	return out
}

// forOrs imagines one index per arm of a disjunction, with and without the
// equalities outside of it.
func (c *candidates) forOrs(r int) {
	m := c.s.know(c.blk, r, 0).m
	outside, _, _ := c.byKind(r, m)
	for _, o := range c.blk.ors {
		if o.ref != r || len(o.arms) > mostArms {
			continue
		}
		for _, arm := range o.arms {
			eqs, ins, ranges := c.byKind(r, c.s.restrict(c.blk, arm, r, 0))
			c.add(r, join(eqs, ins, ranges))
			c.add(r, join(outside, eqs, ins, ranges))
		}
	}
}

func (c *candidates) forSpatial(r int) {
	for _, p := range c.blk.Predicates {
		if p.Ref == r && p.Kind == PredSpatial {
			t := c.blk.Refs[r].Table
			if col := t.ByName[p.Col]; col != nil && col.Spatial() {
				c.keep(t, catalog.Index{Kind: "spatial", Parts: []catalog.IndexPart{{Column: col.Name}}})
			}
		}
	}
}

// add keeps a candidate and its covering variant.
func (c *candidates) add(r int, w []keyPart) {
	if len(w) == 0 || len(w) > mostParts {
		return
	}
	if ix, ok := c.make(r, w); ok {
		c.keep(c.blk.Refs[r].Table, ix)
	}
	c.addCovering(r, w)
}

// addCovering adds all other columns that are read, if they are narrow.
func (c *candidates) addCovering(r int, w []keyPart) {
	t := c.blk.Refs[r].Table
	if c.blk.All[r] {
		return
	}
	var rest []keyPart
	width := iikanji.Bytes(0)
	for _, col := range t.Columns {
		name := strings.ToLower(col.Name)
		if c.blk.Used[r][name] && !slices.Contains(t.primary, name) {
			rest = append(rest, keyPart{col: name})
			if !slices.ContainsFunc(w, func(k keyPart) bool { return k.col == name }) {
				width += col.Width
			}
		}
	}
	all := join(w, rest)
	if len(all) == len(w) || len(all) > mostParts || len(all) == 0 || width > mostCover {
		return
	}
	if ix, ok := c.make(r, all); ok && !slices.ContainsFunc(ix.Parts, func(p catalog.IndexPart) bool { return p.Prefix > 0 }) {
		c.keep(t, ix)
	}
}

// make turns key parts into an index. A long column can only be the last part,
// as a prefix.
func (c *candidates) make(r int, w []keyPart) (catalog.Index, bool) {
	t := c.blk.Refs[r].Table
	ix := catalog.Index{Kind: "btree"}
	width := iikanji.Bytes(0)
	for i, k := range w {
		col := t.ByName[k.col]
		if col == nil || col.Spatial() {
			return ix, false
		}
		p := catalog.IndexPart{Column: col.Name, Desc: k.desc && c.s.Server.StoresDesc()}
		if col.Long() {
			if i < len(w)-1 || !strings.Contains(col.Type, "text") {
				return ix, false
			}
			p.Prefix = 32
		}
		width += col.Width
		ix.Parts = append(ix.Parts, p)
	}
	return ix, width <= mostBytes
}

// keep adds a candidate unless it is known or exists.
func (c *candidates) keep(t *Table, ix catalog.Index) {
	key := t.FullName() + spell(ix)
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	if t.has(ix) {
		return
	}
	c.out = append(c.out, newIndex(t, ix, true))
}

// spell formats the parts of an index as in DDL: "(a, b DESC)".
func spell(ix catalog.Index) string {
	var parts []string
	for _, p := range ix.Parts {
		parts = append(parts, strings.ToLower(p.String()))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
