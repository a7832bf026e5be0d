package index

import (
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// Costs are in rows: 1 is one row read in order from the clustered index, in
// memory. They need not be exact, only rank the ways to read as a real server
// does. The suite under testdata/index compares them with one.
const (
	CostStatement = 100.0 // parsing, network, commit: independent of indexes
	costDive      = 2.0   // descending a tree to the start of a range
	costEntry     = 0.8   // the next entry of a secondary index
	CostLook      = 2.5   // from an entry to its row in the clustered index
	costSort      = 0.7
	costTemp      = 2.0
	backward      = 1.0001 // reading an index backwards: only breaks ties
)

// An Index is a real or imagined index with its columns in lower case.
type Index struct {
	catalog.Index
	table *Table
	Cols  []string // of Parts, then those of the primary key that InnoDB appends
	desc  []bool
	own   int // number of cols that are Parts
	new   bool
}

func newIndex(t *Table, ix catalog.Index, imagined bool) *Index {
	x := &Index{Index: ix, table: t, new: imagined, own: len(ix.Parts)}
	for _, p := range ix.Parts {
		x.Cols = append(x.Cols, strings.ToLower(p.Column))
		x.desc = append(x.desc, p.Desc)
	}
	if ix.Kind == "btree" && !ix.Primary {
		for _, c := range t.primary {
			if !slices.Contains(x.Cols, c) {
				x.Cols, x.desc = append(x.Cols, c), append(x.desc, false)
			}
		}
	}
	return x
}

// existing are the indexes of all tables that plans may use.
func (s *Schema) existing() Available {
	av := Available{}
	for _, t := range s.Tables {
		av[t] = t.Existing()
	}
	return av
}

// has reports whether a table has a visible index of the same parts.
func (t *Table) has(ix catalog.Index) bool {
	return slices.ContainsFunc(t.Indexes, func(have catalog.Index) bool {
		return !have.Hidden && have.Kind == ix.Kind && spell(have) == spell(ix)
	})
}

// Existing returns the table's visible indexes whose parts are columns: plans with
// others cannot be predicted.
func (t *Table) Existing() []*Index {
	var out []*Index
	for _, ix := range t.Indexes {
		if !ix.Hidden && !opaque(ix) {
			out = append(out, newIndex(t, ix, false))
		}
	}
	return out
}

// A limit is all that a block's predicates say of one column.
type Limits struct {
	Eq, rng bool
	ends    bool // rng has measured ends
	n       int  // constants of an IN; 0 when none
	sel     float64
}

// A path is one way to read a ref, per loop.
type path struct {
	ref    int
	ix     *Index // nil for a scan of a table without a primary key
	union  []*Index
	rows   float64 // entries or rows read
	look   float64 // rows fetched through a secondary index
	dives  float64
	out    float64 // rows that pass
	eq     map[string]bool
	sorted int // cols of ix from which on entries come in order; -1 for no order
	cover  bool
	one    bool    // at most one row: all columns of a unique key are given
	weight float64 // cost of a row of the clustered index
}

func (p path) cost() float64 {
	each := costEntry
	if p.ix == nil || p.ix.Primary {
		each = p.weight
	}
	return p.dives*costDive + p.rows*each + p.look*(CostLook+p.weight-1)
}

// A Bound is the set of refs that are already read.
type Bound uint64

// Has reports whether a ref is in the set.
func (b Bound) Has(i int) bool { return b&(1<<uint(i)) != 0 }

// With is the set and one more ref.
func (b Bound) With(i int) Bound { return b | 1<<uint(i) }
func (b Bound) hasAll(r []int) bool {
	return !slices.ContainsFunc(r, func(i int) bool { return !b.Has(i) })
}

// knowledge is what all predicates say of a ref's columns, for some refs bound.
type knowledge struct {
	m  map[string]Limits
	eq map[string]bool
}

// know is restrict over the block's own predicates, worked out once.
func (s *Schema) know(blk *Block, r int, b Bound) *knowledge {
	key := memoKey{r, b}
	if k := blk.known[key]; k != nil {
		return k
	}
	k := &knowledge{m: s.restrict(blk, blk.Predicates, r, b)}
	k.eq = equalities(k.m)
	if blk.known == nil {
		blk.known = map[memoKey]*knowledge{}
	}
	blk.known[key] = k
	return k
}

func equalities(m map[string]Limits) map[string]bool {
	eq := make(map[string]bool, len(m))
	for c, l := range m {
		if l.Eq {
			eq[c] = true
		}
	}
	return eq
}

// restrict combines the restrictions of each column of a ref once the bound
// refs are read.
func (s *Schema) restrict(blk *Block, preds []Predicate, r int, b Bound) map[string]Limits {
	m := map[string]Limits{}
	for i := range preds {
		p := &preds[i]
		if p.Ref != r || p.Kind == PredOther || p.Kind == PredSpatial || p.Kind == PredJoin && (!b.Has(p.With.Ref) || p.With.Ref == r) {
			continue
		}
		if !p.looked {
			p.share, p.measured = s.selectivity(blk.Refs[r].Table, *p)
			p.looked = true
		}
		sel, measured := p.share, p.measured
		l, seen := m[p.Col]
		switch {
		case !seen:
			l.sel = sel
		case measured && l.rng && l.ends && p.Kind == PredRange:
			l.sel = max(l.sel+sel-1, 1/blk.Refs[r].Table.Rows()) // a lower and an upper end
		default:
			l.sel = min(l.sel, sel)
		}
		l.ends = measured && p.Kind == PredRange
		switch p.Kind {
		case PredEq, PredNull, PredJoin:
			l.Eq = true
		case PredIn:
			l.n = p.N
		default:
			l.rng = true
		}
		m[p.Col] = l
	}
	return m
}

// selectivity is the share of a table's rows that pass a predicate. A measured
// value is used as it is, except for an equality on a column with many values:
// it was measured for one example, so that the average of all values is its
// lower bound.
func (s *Schema) selectivity(t *Table, p Predicate) (sel float64, measured bool) {
	if t == nil {
		return 0.1, false
	}
	n, floor := t.Distinct(p.Col), 0.5/t.Rows()
	if p.Text != "" {
		if v, ok := s.share[fact.SelectivityKey(t.Schema, t.Name, p.Text)]; ok {
			if p.Kind == PredEq && n > 50 {
				v = max(v, 1/n)
			}
			return max(v, floor), true
		}
	}
	one := 0.01
	if n > 0 {
		one = 1 / n
	}
	switch p.Kind {
	case PredEq, PredJoin:
		return max(one, floor), false
	case PredIn:
		return min(1, max(float64(p.N)*one, floor)), false
	case PredNull, PredPrefix, PredSpatial:
		return 0.05, false
	case PredNot:
		return 0.9, false
	case PredOther:
		return 0.5, false
	default:
		return 0.33, false
	}
}

// weight is the cost of reading one row of the clustered index.
func (t *Table) weight() float64 {
	return 1 + min(10, float64(t.Size.Data)/t.Rows()/1000)
}

// out is how many rows of a ref pass all known restrictions.
func (s *Schema) out(blk *Block, r int, m map[string]Limits) float64 {
	t := blk.Refs[r].Table
	sel := 1.0
	for _, l := range m {
		sel *= l.sel
	}
	for _, p := range blk.Predicates {
		if p.Ref == r && (p.Kind == PredSpatial || p.Kind == PredOther) {
			v, _ := s.selectivity(t, p)
			sel *= v
		}
	}
	for _, o := range blk.ors {
		if o.ref == r {
			sel *= s.orShare(blk, o)
		}
	}
	return t.Rows() * sel
}

func (s *Schema) orShare(blk *Block, o either) float64 {
	share := 0.0
	for _, arm := range o.arms {
		sel := 1.0
		for _, l := range s.restrict(blk, arm, o.ref, 0) {
			sel *= l.sel
		}
		share += sel
	}
	return min(1, share)
}

// read is the path through an index, or a scan when ix is nil.
func (s *Schema) read(blk *Block, r int, ix *Index, k *knowledge, out float64) path {
	t, m := blk.Refs[r].Table, k.m
	p := path{ix: ix, eq: k.eq, sorted: -1, dives: 1, weight: t.weight(), rows: t.Rows(), out: out}
	if ix == nil {
		return p
	}
	sel, keys := 1.0, 0
	p.sorted = 0
	for i, c := range ix.Cols {
		l, ok := m[c]
		if !ok || !l.Eq && l.n == 0 && !l.rng {
			break
		}
		sel *= l.sel
		keys = i + 1
		if i < ix.own && ix.Parts[i].Prefix > 0 || !l.Eq && l.n == 0 {
			break
		}
		if !l.Eq && l.n > 1 {
			p.dives *= float64(l.n)
			p.sorted = -1
		} else if p.sorted == i {
			p.sorted = i + 1
		}
	}
	p.rows = t.Rows() * sel
	if ix.Unique && ix.Whole(m) {
		p.rows = min(p.rows, p.dives)
		p.one = p.dives == 1
	}
	p.cover = ix.covers(blk, r)
	if !p.cover && !ix.Primary {
		p.look = p.rows * filtered(ix, m, keys)
	}
	p.out = min(p.out, p.rows)
	return p
}

// Whole reports whether all parts of an index are given.
func (ix *Index) Whole(m map[string]Limits) bool {
	for i, c := range ix.Cols[:ix.own] {
		if l := m[c]; !l.Eq && l.n == 0 || ix.Parts[i].Prefix > 0 {
			return false
		}
	}
	return true
}

// filtered is the share of entries left by predicates on index columns that the
// search itself did not use: the engine tests them before it fetches rows.
func filtered(ix *Index, m map[string]Limits, keys int) float64 {
	share := 1.0
	for i, c := range ix.Cols[:ix.own] {
		if l, ok := m[c]; ok && i >= keys {
			share *= l.sel
		}
	}
	return share
}

// covers reports whether an index has all columns that a block reads of a ref.
func (ix *Index) covers(blk *Block, r int) bool {
	if ix.Primary {
		return true
	}
	if blk.All[r] {
		for c := range blk.Refs[r].Table.ByName {
			if !ix.holds(c) {
				return false
			}
		}
		return true
	}
	for c := range blk.Used[r] {
		if !ix.holds(c) {
			return false
		}
	}
	return true
}

func (ix *Index) holds(col string) bool {
	i := slices.Index(ix.Cols, col)
	return i >= 0 && (i >= ix.own || ix.Parts[i].Prefix == 0)
}

// spatial is the path through a spatial index.
func (s *Schema) spatial(blk *Block, r int, ix *Index, m map[string]Limits) (path, bool) {
	t := blk.Refs[r].Table
	for _, q := range blk.Predicates {
		if q.Ref == r && q.Kind == PredSpatial && ix.Cols[0] == q.Col && s.spatialUsable(t, q.Col, ix) {
			sel, _ := s.selectivity(t, q)
			n := t.Rows() * min(1, sel*1.3) // boxes hold more than shapes
			return path{ix: ix, rows: n, look: n, dives: 1, out: min(n, s.out(blk, r, m)), sorted: -1, weight: t.weight(), eq: map[string]bool{}}, true
		}
	}
	return path{}, false
}

func (s *Schema) spatialUsable(t *Table, col string, ix *Index) bool {
	c := t.ByName[col]
	return ix.new || c == nil || !s.Server.SpatialWantsSRID() || c.SRID != nil
}

// unite is the path through the union of one index for each arm.
func (s *Schema) unite(blk *Block, o either, avail []*Index, m map[string]Limits) (path, bool) {
	t := blk.Refs[o.ref].Table
	p := path{sorted: -1, weight: t.weight(), eq: map[string]bool{}, out: s.out(blk, o.ref, m)}
	for _, arm := range o.arms {
		am := s.restrict(blk, arm, o.ref, 0)
		for c, l := range m {
			if _, has := am[c]; !has && l.Eq {
				am[c] = l
			}
		}
		best, cost, k := path{}, math.Inf(1), &knowledge{am, equalities(am)}
		for _, ix := range avail {
			if ix.Kind != "btree" || !used(ix, am) {
				continue
			}
			if q := s.read(blk, o.ref, ix, k, p.out); q.rows*(costEntry+CostLook) < cost {
				best, cost = q, q.rows*(costEntry+CostLook)
			}
		}
		if best.ix == nil {
			return path{}, false
		}
		p.union = append(p.union, best.ix)
		p.ix = best.ix
		p.rows += best.rows
		p.look += best.rows
		p.dives += best.dives
	}
	return p, true
}

// used reports whether the first column of an index is restricted.
func used(ix *Index, m map[string]Limits) bool { _, ok := m[ix.Cols[0]]; return ok }
