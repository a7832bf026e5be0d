package index

import (
	"cmp"
	"math"
	"slices"
)

// An AccessPlan is the cheapest way found to run a block or a statement.
type AccessPlan struct {
	cost float64
	Rows float64 // rows and entries read
	out  float64
	uses []*Index
	sort bool
	temp bool
}

// Available gives the indexes that an access plan may use, by table.
type Available map[*Table][]*Index

// AccessPlan finds the cheapest access plan of a statement.
func (s *Schema) AccessPlan(st *Statement, av Available) AccessPlan {
	total := AccessPlan{cost: CostStatement}
	outs := map[*Block]float64{}
	for _, blk := range st.Blocks {
		p := s.accessPlanOfBlock(blk, av)
		loops := 1.0
		if blk.correlated && blk.outer != nil {
			loops = max(1, outs[blk.outer])
		}
		outs[blk] = p.out * loops
		total.cost += p.cost * loops
		total.Rows += p.Rows * loops
		total.uses = append(total.uses, p.uses...)
		total.sort, total.temp = total.sort || p.sort, total.temp || p.temp
	}
	return total
}

// accessPlanOfBlock tries every order of the refs, up to five; longer joins take the
// cheapest next ref each time.
func (s *Schema) accessPlanOfBlock(blk *Block, av Available) AccessPlan {
	if len(blk.Refs) == 0 {
		return AccessPlan{out: 1}
	}
	f := &finder{s: s, blk: blk, av: av, best: AccessPlan{cost: math.Inf(1)}, memo: map[memoKey][]path{}}
	if len(blk.Refs) > 60 {
		return AccessPlan{cost: 1e6, Rows: 1e6, out: 1e6}
	}
	f.next(nil, 0, 1, 0, 0)
	return f.best
}

type memoKey struct {
	ref int
	b   Bound
}

type finder struct {
	s    *Schema
	blk  *Block
	av   Available
	best AccessPlan
	memo map[memoKey][]path
}

// next extends a join order by one ref. out is the number of rows so far, cost
// and rows are those of reading them.
func (f *finder) next(done []path, b Bound, out, cost, rows float64) {
	if cost >= f.best.cost && !f.blk.Limited {
		return
	}
	if len(done) == len(f.blk.Refs) {
		f.finish(done, b, out, cost, rows)
		return
	}
	refs := f.open(b)
	if len(f.blk.Refs) > 5 && len(done) > 0 {
		refs = refs[:1]
	}
	for _, r := range refs {
		paths := f.paths(r, b)
		if lead(done) < len(done) {
			paths = paths[:1] // only the first ref of the loop can give an order
		}
		for _, p := range paths {
			p.ref = r
			c, n := loop(p, out)
			passed := p.out
			if f.blk.Refs[r].Semi {
				passed = min(1, passed)
			}
			if f.blk.Refs[r].left {
				passed = max(1, passed)
			}
			f.next(append(slices.Clone(done), p), b.With(r), out*passed, cost+c, rows+n)
		}
	}
}

// lead is the position of the ref that determines the order of the joined rows:
// the first one with more than a single row.
func lead(done []path) int {
	i := 0
	for i < len(done) && done[i].one {
		i++
	}
	return i
}

// loop is the cost and rows of reading a ref once per outer row; a scan is done
// once per buffer of outer rows instead (block nested loop).
func loop(p path, out float64) (cost, rows float64) {
	cost, rows = out*p.cost(), out*p.rows
	if p.ix == nil || p.ix.Primary && !p.eq[p.ix.Cols[0]] {
		fills := math.Ceil(out / 2000)
		if c := fills*p.cost() + 0.1*out*p.rows; c < cost {
			cost, rows = c, fills*p.rows
		}
	}
	return cost, rows
}

// open lists the refs that may be read next, first those joined to refs that
// are already read.
func (f *finder) open(b Bound) []int {
	var linked, others []int
	for r := range f.blk.Refs {
		if b.Has(r) || !b.hasAll(f.blk.Refs[r].after) {
			continue
		}
		if slices.ContainsFunc(f.blk.Predicates, func(p Predicate) bool { return p.Ref == r && p.Kind == PredJoin && b.Has(p.With.Ref) }) {
			linked = append(linked, r)
		} else {
			others = append(others, r)
		}
	}
	if len(linked) > 0 && b != 0 {
		return linked
	}
	return append(linked, others...)
}

// paths are the ways to read a ref, the cheapest first.
func (f *finder) paths(r int, b Bound) []path {
	key := memoKey{r, b}
	if p, ok := f.memo[key]; ok {
		return p
	}
	t := f.blk.Refs[r].Table
	if t == nil {
		return []path{{rows: 100, out: 10, dives: 1, sorted: -1, weight: 1}}
	}
	k := f.s.know(f.blk, r, b)
	m, passed := k.m, f.s.out(f.blk, r, k.m)
	scan := f.s.read(f.blk, r, nil, k, passed)
	out := []path{scan}
	have := slices.DeleteFunc(slices.Clone(f.av[t]), func(ix *Index) bool { return !f.blk.Refs[r].allows(ix) })
	for _, ix := range have {
		switch {
		case ix.Kind == "spatial":
			if p, ok := f.s.spatial(f.blk, r, ix, m); ok {
				out = append(out, p)
			}
		case ix.Kind == "btree":
			out = append(out, f.s.read(f.blk, r, ix, k, passed))
		}
	}
	for _, o := range f.blk.ors {
		if o.ref == r && len(o.arms) <= mostArms && f.s.Server.MergesIndexes() {
			if p, ok := f.s.unite(f.blk, o, have, m); ok {
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b path) int { return cmp.Compare(a.cost()+a.tax(), b.cost()+b.tax()) })
	f.memo[key] = out
	return out
}

// tax breaks ties: existing indexes before new ones, fewer columns before more.
func (p path) tax() float64 {
	if p.ix == nil || !p.ix.new {
		return 0
	}
	return 0.01 + 0.002*float64(p.ix.own) + 0.001*p.rows*float64(p.ix.own)
}

// finish adds grouping, sorting and the early end by a LIMIT, and keeps the
// access plan if it is the best so far.
func (f *finder) finish(done []path, _ Bound, out, cost, rows float64) {
	p := AccessPlan{out: out, cost: cost, Rows: rows}
	for _, d := range done {
		if d.union != nil {
			p.uses = append(p.uses, d.union...)
		} else if d.ix != nil {
			p.uses = append(p.uses, d.ix)
		}
		p.cost += d.tax()
	}
	f.collect(&p, done)
	if p.cost < f.best.cost {
		f.best = p
	}
}

// collect adds the cost of processing the joined rows.
func (f *finder) collect(p *AccessPlan, done []path) {
	blk := f.blk
	first := done[min(lead(done), len(done)-1)]
	if f.pick(p, done) {
		return
	}
	groups := blk.Group
	if len(groups) == 0 && blk.Distinct && !blk.Aggregates && len(blk.MinMax) == 0 {
		groups = blk.Outputs
	}
	grouped := len(groups) > 0 || blk.BadGroup || blk.Distinct
	sole := blk.Aggregates || len(blk.MinMax) > 0
	if sole && !grouped {
		p.out = 1
		return // one row needs no sort
	}
	streamed := true
	if grouped {
		streamed = !blk.BadGroup && len(groups) > 0 && f.inGroups(first, groups)
		if !streamed {
			p.cost += p.out * costTemp
			p.temp = true
		}
		p.out = min(p.out, f.count(groups))
	}
	ordered, back := f.inOrder(first)
	if blk.BadOrder != "" || len(blk.Order) > 0 && (!ordered || !streamed && grouped) {
		p.sort = true
		p.cost += sortCost(p.out, blk.Limited)
	} else if back {
		p.cost *= backward
	}
	if blk.Limited {
		want := blk.Limit + blk.Offset
		if share := want / max(1, p.out*f.residual()); share < 1 && !p.sort && streamed {
			p.cost, p.Rows = p.cost*share+costDive, max(1, p.Rows*share)
		}
		p.out = min(p.out, blk.Limit)
	}
}

// unserved reports whether rows must be tested beyond what an index can do.
func (blk *Block) unserved() bool {
	return blk.residual > 0 || slices.ContainsFunc(blk.Predicates, func(p Predicate) bool { return p.Kind == PredOther })
}

// residual is the share of rows left by predicates that no index can test; a
// guess.
func (f *finder) residual() float64 { return math.Pow(0.5, float64(min(3, f.blk.residual))) }

func sortCost(n float64, limited bool) float64 {
	if n <= 1 {
		return 0
	}
	if limited {
		return n * costSort // a heap as large as the LIMIT
	}
	return n * costSort * (0.5 + math.Log2(n)/8)
}

// count estimates the number of groups.
func (f *finder) count(groups []ColumnAt) float64 {
	n := 1.0
	for _, g := range groups {
		if t := f.blk.Refs[g.Ref].Table; t != nil {
			if d := t.Distinct(g.Col); d > 0 {
				n *= d
				continue
			}
		}
		n *= 100
	}
	return n
}

// inOrder reports whether the rows arrive in the required order because the
// first ref is read in it, and whether that means reading backwards.
func (f *finder) inOrder(first path) (ok, back bool) {
	var want []OrderItem
	for _, o := range f.blk.Order {
		if o.Ref != first.ref {
			return len(f.blk.Order) == 0, false
		}
		if !first.eq[o.Col] {
			want = append(want, o)
		}
	}
	if len(want) == 0 {
		return true, false
	}
	if first.ix == nil || first.sorted < 0 {
		return false, false
	}
	i, flip, set := first.sorted, false, false
	for _, o := range want {
		for i < len(first.ix.Cols) && first.eq[first.ix.Cols[i]] && first.ix.Cols[i] != o.Col {
			i++
		}
		if i >= len(first.ix.Cols) {
			return first.ix.Unique, flip // the whole key is given: further columns do not matter
		}
		if first.ix.Cols[i] != o.Col || i < first.ix.own && first.ix.Parts[i].Prefix > 0 {
			return false, false
		}
		if turned := first.ix.desc[i] != o.desc; !set {
			flip, set = turned, true
		} else if turned != flip {
			return false, false
		}
		i++
	}
	return true, flip
}

// inGroups reports whether the rows of each group arrive together.
func (f *finder) inGroups(first path, groups []ColumnAt) bool {
	if first.ix == nil || first.sorted < 0 {
		return false
	}
	left := map[string]bool{}
	for _, g := range groups {
		if g.Ref != first.ref {
			return false
		}
		if !first.eq[g.Col] {
			left[g.Col] = true
		}
	}
	for _, c := range first.ix.Cols[first.sorted:] {
		if len(left) == 0 {
			break
		}
		if first.eq[c] {
			continue
		}
		if !left[c] {
			return false
		}
		delete(left, c)
	}
	return len(left) == 0
}

// pick is the cost of answers by a few dives into an index: MIN and MAX at the
// ends of a range, and one entry per group (loose index scan). No server does
// either on descending parts.
func (f *finder) pick(p *AccessPlan, done []path) bool {
	blk, first := f.blk, done[0]
	if len(done) != 1 || blk.Aggregates || blk.unserved() || len(blk.ors) > 0 || first.ix == nil || first.ix.Kind != "btree" || first.sorted < 0 || !first.cover {
		return false
	}
	groups := blk.Group
	if len(groups) == 0 && blk.Distinct && len(blk.MinMax) == 0 {
		groups = blk.Outputs
	}
	if blk.BadGroup || blk.Distinct && len(groups) == 0 || len(groups) == 0 && len(blk.MinMax) == 0 {
		return false
	}
	for _, m := range blk.MinMax {
		if m != blk.MinMax[0] {
			return false
		}
	}
	if len(groups) > 0 && (!f.inGroups(first, groups) || len(first.ix.Cols) == 0) {
		return false
	}
	at := first.sorted + len(groups)
	if len(blk.MinMax) > 0 && (at >= len(first.ix.Cols) || first.ix.Cols[at] != blk.MinMax[0].Col || first.ix.desc[at]) {
		return false
	}
	for _, q := range blk.Predicates { // each predicate must be in the prefix or on the picked column
		i := slices.Index(first.ix.Cols, q.Col)
		if i < 0 || i >= first.sorted && !(len(groups) == 0 && i == at) {
			return false
		}
	}
	n := 1.0
	if len(groups) > 0 {
		n = f.count(groups)
		if n*costDive*2 > first.rows {
			return false
		}
	}
	p.Rows = n * float64(max(1, len(blk.MinMax)))
	p.cost = p.Rows*costDive + p.cost*0.0001
	p.out = n
	return true
}
