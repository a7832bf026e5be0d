package cause

import (
	"math"
	"slices"
)

// An accessPlan is the cheapest way found to run a block or a statement.
type accessPlan struct {
	cost float64
	rows float64 // rows and entries read
	out  float64
	uses []*index
	sort bool
	temp bool
}

// avail gives the indexes that an access plan may use, by table.
type avail map[*table][]*index

// accessPlan finds the cheapest access plan of a statement.
func (s *Schema) accessPlan(st *statement, av avail) accessPlan {
	total := accessPlan{cost: costStatement}
	outs := map[*block]float64{}
	for _, blk := range st.blocks {
		p := s.accessPlanOfBlock(blk, av)
		loops := 1.0
		if blk.correlated && blk.outer != nil {
			loops = max(1, outs[blk.outer])
		}
		outs[blk] = p.out * loops
		total.cost += p.cost * loops
		total.rows += p.rows * loops
		total.uses = append(total.uses, p.uses...)
		total.sort, total.temp = total.sort || p.sort, total.temp || p.temp
	}
	return total
}

// accessPlanOfBlock tries every order of the refs, up to five; longer joins take the
// cheapest next ref each time.
func (s *Schema) accessPlanOfBlock(blk *block, av avail) accessPlan {
	if len(blk.refs) == 0 {
		return accessPlan{out: 1}
	}
	f := &finder{s: s, blk: blk, av: av, best: accessPlan{cost: math.Inf(1)}, memo: map[memoKey][]path{}}
	if len(blk.refs) > 60 {
		return accessPlan{cost: 1e6, rows: 1e6, out: 1e6}
	}
	f.next(nil, 0, 1, 0, 0)
	return f.best
}

type memoKey struct {
	ref int
	b   bound
}

type finder struct {
	s    *Schema
	blk  *block
	av   avail
	best accessPlan
	memo map[memoKey][]path
}

// next extends a join order by one ref. out is the number of rows so far, cost
// and rows are those of reading them.
func (f *finder) next(done []path, b bound, out, cost, rows float64) {
	if cost >= f.best.cost && !f.blk.limited {
		return
	}
	if len(done) == len(f.blk.refs) {
		f.finish(done, b, out, cost, rows)
		return
	}
	refs := f.open(b)
	if len(f.blk.refs) > 5 && len(done) > 0 {
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
			if f.blk.refs[r].semi {
				passed = min(1, passed)
			}
			if f.blk.refs[r].left {
				passed = max(1, passed)
			}
			f.next(append(slices.Clone(done), p), b.with(r), out*passed, cost+c, rows+n)
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
	if p.ix == nil || p.ix.Primary && !p.eq[p.ix.cols[0]] {
		fills := math.Ceil(out / 2000)
		if c := fills*p.cost() + 0.1*out*p.rows; c < cost {
			cost, rows = c, fills*p.rows
		}
	}
	return cost, rows
}

// open lists the refs that may be read next, first those joined to refs that
// are already read.
func (f *finder) open(b bound) []int {
	var linked, others []int
	for r := range f.blk.refs {
		if b.has(r) || !b.hasAll(f.blk.refs[r].after) {
			continue
		}
		if slices.ContainsFunc(f.blk.preds, func(p pred) bool { return p.ref == r && p.kind == predJoin && b.has(p.with.ref) }) {
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
func (f *finder) paths(r int, b bound) []path {
	key := memoKey{r, b}
	if p, ok := f.memo[key]; ok {
		return p
	}
	t := f.blk.refs[r].table
	if t == nil {
		return []path{{rows: 100, out: 10, dives: 1, sorted: -1, weight: 1}}
	}
	k := f.s.know(f.blk, r, b)
	m, passed := k.m, f.s.out(f.blk, r, k.m)
	scan := f.s.read(f.blk, r, nil, k, passed)
	out := []path{scan}
	have := slices.DeleteFunc(slices.Clone(f.av[t]), func(ix *index) bool { return !f.blk.refs[r].allows(ix) })
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
	slices.SortStableFunc(out, func(a, b path) int { return cmpFloat(a.cost()+a.tax(), b.cost()+b.tax()) })
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

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// finish adds grouping, sorting and the early end by a LIMIT, and keeps the
// access plan if it is the best so far.
func (f *finder) finish(done []path, _ bound, out, cost, rows float64) {
	p := accessPlan{out: out, cost: cost, rows: rows}
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
func (f *finder) collect(p *accessPlan, done []path) {
	blk := f.blk
	first := done[min(lead(done), len(done)-1)]
	if f.pick(p, done) {
		return
	}
	groups := blk.group
	if len(groups) == 0 && blk.distinct && !blk.aggregates && len(blk.minmax) == 0 {
		groups = blk.outs
	}
	grouped := len(groups) > 0 || blk.badGroup || blk.distinct
	sole := blk.aggregates || len(blk.minmax) > 0
	if sole && !grouped {
		p.out = 1
		return // one row needs no sort
	}
	streamed := true
	if grouped {
		streamed = !blk.badGroup && len(groups) > 0 && f.inGroups(first, groups)
		if !streamed {
			p.cost += p.out * costTemp
			p.temp = true
		}
		p.out = min(p.out, f.count(groups))
	}
	ordered, back := f.inOrder(first)
	if blk.badOrder != "" || len(blk.order) > 0 && (!ordered || !streamed && grouped) {
		p.sort = true
		p.cost += sortCost(p.out, blk.limited)
	} else if back {
		p.cost *= backward
	}
	if blk.limited {
		want := blk.limit + blk.offset
		if share := want / max(1, p.out*f.residual()); share < 1 && !p.sort && streamed {
			p.cost, p.rows = p.cost*share+costDive, max(1, p.rows*share)
		}
		p.out = min(p.out, blk.limit)
	}
}

// unserved reports whether rows must be tested beyond what an index can do.
func (blk *block) unserved() bool {
	return blk.residual > 0 || slices.ContainsFunc(blk.preds, func(p pred) bool { return p.kind == predOther })
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
func (f *finder) count(groups []colAt) float64 {
	n := 1.0
	for _, g := range groups {
		if t := f.blk.refs[g.ref].table; t != nil {
			if d := t.distinct(g.col); d > 0 {
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
	var want []orderItem
	for _, o := range f.blk.order {
		if o.ref != first.ref {
			return len(f.blk.order) == 0, false
		}
		if !first.eq[o.col] {
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
		for i < len(first.ix.cols) && first.eq[first.ix.cols[i]] && first.ix.cols[i] != o.col {
			i++
		}
		if i >= len(first.ix.cols) {
			return first.ix.Unique, flip // the whole key is given: further columns do not matter
		}
		if first.ix.cols[i] != o.col || i < first.ix.own && first.ix.Parts[i].Prefix > 0 {
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
func (f *finder) inGroups(first path, groups []colAt) bool {
	if first.ix == nil || first.sorted < 0 {
		return false
	}
	left := map[string]bool{}
	for _, g := range groups {
		if g.ref != first.ref {
			return false
		}
		if !first.eq[g.col] {
			left[g.col] = true
		}
	}
	for _, c := range first.ix.cols[first.sorted:] {
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
func (f *finder) pick(p *accessPlan, done []path) bool {
	blk, first := f.blk, done[0]
	if len(done) != 1 || blk.aggregates || blk.unserved() || len(blk.ors) > 0 || first.ix == nil || first.ix.Kind != "btree" || first.sorted < 0 || !first.cover {
		return false
	}
	groups := blk.group
	if len(groups) == 0 && blk.distinct && len(blk.minmax) == 0 {
		groups = blk.outs
	}
	if blk.badGroup || blk.distinct && len(groups) == 0 || len(groups) == 0 && len(blk.minmax) == 0 {
		return false
	}
	for _, m := range blk.minmax {
		if m != blk.minmax[0] {
			return false
		}
	}
	if len(groups) > 0 && (!f.inGroups(first, groups) || len(first.ix.cols) == 0) {
		return false
	}
	at := first.sorted + len(groups)
	if len(blk.minmax) > 0 && (at >= len(first.ix.cols) || first.ix.cols[at] != blk.minmax[0].col || first.ix.desc[at]) {
		return false
	}
	for _, q := range blk.preds { // each predicate must be in the prefix or on the picked column
		i := slices.Index(first.ix.cols, q.col)
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
	p.rows = n * float64(max(1, len(blk.minmax)))
	p.cost = p.rows*costDive + p.cost*0.0001
	p.out = n
	return true
}
