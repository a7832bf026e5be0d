package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/pingcap/tidb/pkg/parser"
)

// Least savings by an index, as shares of the cost of the statements that it
// affects.
const (
	worthIndex = 0.40
	worthPart  = 0.08
	worthCover = 0.35
	worthSplit = 0.10 // of two indexes beyond their merger
	writeEntry = 10.0 // cost of one entry written, in rows
	writePart  = 1.0  // and of each of its columns
)

// A Query is one statement, with values, and how often a run sent it.
type Query struct {
	Digest  string
	DB      string // default schema
	SQL     string
	Count   float64
	Cached  float64 // of Count: answered by the query cache, without reading a row
	Seconds float64 // total time in the server
	// Examined and Sent are total rows as counted by the server; 0 when unknown.
	Examined, Sent float64
	Affected       float64 // total rows written, as counted by the server; 0 when unknown
}

// Reads is how many executions read their tables. A query that a cache always
// answered counts once.
func (q Query) Reads() float64 { return max(q.Count-q.Cached, min(q.Count, 1)) }

// A Workload is what a run sent to a server.
type Workload struct {
	Queries []Query
	Writes  map[string]float64 // rows written by schema.table, beyond those of Queries
}

// Advice is the advice for a workload.
type Advice struct {
	Add    []Proposal
	Drop   []Dropped
	Marks  []Marked
	Unread []Unread // statements that cannot be parsed
}

// A Proposal is an index to add.
type Proposal struct {
	Table    catalog.Table
	Index    catalog.Index
	Replaces *catalog.Index // an index that continues with a wrong column, or that the new one contains
	Wrong    bool           // Replaces continues with a wrong column
	Gathers  bool           // it contains the columns of all counts of the table
	Serves   []Served
}

// A Served is the effect of an index on one query: rows read and cost of one
// execution, before and after all of the advice.
type Served struct {
	Query                 Query
	RowsBefore, RowsAfter float64
	CostBefore, CostAfter float64
	SortBefore, SortAfter bool
	TempBefore, TempAfter bool
	Share                 float64 // part of the query's saving that is due to this index, 0..1
}

// A Dropped is an index to drop.
type Dropped struct {
	Table  catalog.Table
	Index  catalog.Index
	By     string // the index that does the same, or "" when no query uses it
	Writes float64
}

// A Marked is a predicate of a query that no index can serve.
type Marked struct {
	Query    Query
	Obstacle string // expression, types, wildcard, spatial, order, random
	Table    string
	Col      string
	Text     string
}

// An Unread is a statement that could not be parsed.
type Unread struct {
	Query Query
	Err   error
}

// A parsedQuery is a query with its analysis.
type parsedQuery struct {
	Query
	st   *Statement
	cost AccessPlan // with the indexes that are there

	tables map[*Table]bool
}

// Advise finds the indexes that make a workload cheaper: the best set of
// imagined indexes of each query, then the union of all sets, reduced step by
// step (remove, shorten, merge) as long as the loss is smaller than the cost of
// the writes.
func (s *Schema) Advise(w Workload) Advice {
	a := &adviser{s: s, p: parser.New(), writes: map[*Table]float64{}, updates: map[*Table]map[string]float64{},
		replaced: names{}, dropped: names{}}
	a.read(w)
	a.imagine()
	a.relax()
	a.gather()
	return a.advice()
}

type adviser struct {
	s        *Schema
	p        *parser.Parser
	queries  []parsedQuery
	writes   map[*Table]float64            // rows inserted or deleted
	updates  map[*Table]map[string]float64 // rows updated, by column
	real     Available
	set      []*Index // imagined ones that are still in
	gathered []*Index // of set: they stay as they are, see gather
	hints    []hint   // indexes named in statements
	orders   []string // optimizer comments of statements
	out      Advice

	replaced, dropped names // existing indexes to drop: with a proposal, and by themselves
}

func (a *adviser) read(w Workload) {
	a.real = a.s.existing()
	for _, t := range a.s.Tables {
		a.writes[t] += w.Writes[t.FullName()]
	}
	for _, q := range w.Queries {
		q.Count = max(q.Count, 1)
		st, err := a.s.Parse(a.p, q.SQL, q.DB)
		if err != nil {
			a.out.Unread = append(a.out.Unread, Unread{q, err})
			continue
		}
		a.count(q, st)
		a.hints = append(a.hints, st.hints...)
		a.orders = append(a.orders, optimizerComments.FindAllString(q.SQL, -1)...)
		for _, m := range st.marks {
			a.out.Marks = append(a.out.Marks, marked(q, m))
		}
		if len(st.Blocks) > 0 {
			a.queries = append(a.queries, parsedQuery{Query: q, st: st, tables: st.Tables()})
		}
	}
	for i := range a.queries {
		a.queries[i].cost = a.s.AccessPlan(a.queries[i].st, a.real)
	}
}

// count records what a statement writes.
func (a *adviser) count(q Query, st *Statement) {
	if st.Into == nil {
		return
	}
	rows := st.written(q)
	switch st.Verb {
	case "update":
		if a.updates[st.Into] == nil {
			a.updates[st.Into] = map[string]float64{}
		}
		for _, c := range st.Sets {
			a.updates[st.Into][c] += rows
		}
	case "insert", "replace", "delete":
		a.writes[st.Into] += rows
	}
}

// written is the rows that all executions of a statement wrote, as counted by
// the server. Without that count it is the rows in the example's VALUES, and
// one for other statements. Servers count 2 for a row that an upsert updates,
// so that for an upsert the VALUES take precedence.
func (st *Statement) written(q Query) float64 {
	if q.Affected > 0 && (!st.Upsert || st.Cut) {
		return q.Affected
	}
	return q.Count * float64(max(1, st.Rows))
}

func marked(q Query, m mark) Marked {
	out := Marked{Query: q, Col: m.col, Text: m.text,
		Obstacle: []string{"expression", "types", "wildcard", "spatial", "order", "random"}[m.why]}
	if m.ref != nil {
		out.Table = m.ref.FullName()
	}
	return out
}

// imagine collects the best set of each query.
func (a *adviser) imagine() {
	seen := map[string]*Index{}
	for _, q := range a.queries {
		av := Available{}
		for t, real := range a.real {
			av[t] = slices.Clone(real)
		}
		for _, blk := range q.st.Blocks {
			for _, ix := range a.s.candidates(blk) {
				av[ix.table] = append(av[ix.table], ix)
			}
		}
		for _, ix := range a.s.AccessPlan(q.st, av).uses {
			if t := ix.table; ix.new && t != nil {
				key := t.FullName() + spell(ix.Index)
				if seen[key] == nil {
					seen[key] = ix
					a.set = append(a.set, ix)
				}
			}
		}
	}
}

// with is the existing indexes and a set of imagined ones.
func (a *adviser) with(set []*Index) Available {
	av := Available{}
	for t, real := range a.real {
		av[t] = slices.Clone(real)
	}
	for _, ix := range set {
		av[ix.table] = append(av[ix.table], ix)
	}
	return av
}

// accessPlans are the access plans of all queries under a set. With the current ones given,
// only the queries that pick selects are planned again.
func (a *adviser) accessPlans(set []*Index, now []AccessPlan, wanted func(int) bool) []AccessPlan {
	av := a.with(set)
	out := slices.Clone(now)
	if now == nil {
		out = make([]AccessPlan, len(a.queries))
	}
	for i, q := range a.queries {
		if now == nil || wanted(i) {
			out[i] = a.s.AccessPlan(q.st, av)
		}
	}
	return out
}

// tax is the cost of an index for writes, in rows over the run.
func (a *adviser) tax(ix *Index) float64 {
	t := ix.table
	n := a.writes[t]
	for _, c := range ix.Cols[:ix.own] {
		n += 2 * a.updates[t][c] // the old entry is deleted, a new one inserted
	}
	return n * (writeEntry + writePart*float64(ix.own))
}

// loss compares two cost vectors: the additional cost in total, and its share
// of the cost of the queries that change.
func (a *adviser) loss(now, then []AccessPlan) (more, share float64) {
	touched := 0.0
	for i, q := range a.queries {
		if d := then[i].cost - now[i].cost; math.Abs(d) > 0.001*now[i].cost {
			more += d * q.Count
			touched += then[i].cost * q.Count
		}
	}
	if touched == 0 {
		return more, 0
	}
	return more, more / touched
}

// A trial tries to replace some indexes by others.
type trial func(set []*Index, gone []*Index, allowed, saved float64) bool

// A step is one way to reduce the set.
type step struct {
	set   []*Index
	share float64
	table *Table
	found bool
}

// relax reduces the set by the step that loses least, until every step loses
// more than its limit.
func (a *adviser) relax() {
	a.set = append(a.set, a.mergers()...)
	a.reduce()
}

// reduce does the steps of relax with the indexes of the set.
func (a *adviser) reduce() {
	now := a.accessPlans(a.set, nil, nil)
	failed := map[[2]*Index]bool{}
	for range 1000 {
		best := step{share: math.Inf(1)}
		try := func(set []*Index, gone []*Index, allowed, saved float64) bool {
			// A query that did not use the removed indexes keeps its access plan, because the
			// other indexes stay.
			then := a.accessPlans(set, now, func(i int) bool {
				return slices.ContainsFunc(gone, func(ix *Index) bool { return slices.Contains(now[i].uses, ix) })
			})
			more, share := a.loss(now, then)
			ok := share <= allowed || more <= saved
			if f := min(share, more); ok && f < best.share {
				best = step{set, f, gone[0].table, true}
			}
			return ok
		}
		a.singles(try, failed, &best)
		if !best.found {
			a.pairs(try, failed)
		}
		if !best.found {
			return
		}
		a.set = best.set
		now = a.accessPlans(a.set, now, func(i int) bool { return a.queries[i].tables[best.table] })
	}
}

// singles tries to remove or shorten each index, up to the first one whose loss
// is acceptable. Failed trials are not repeated: the smaller the set, the more
// its indexes are needed.
func (a *adviser) singles(try trial, failed map[[2]*Index]bool, best *step) {
	for i, ix := range a.set {
		if slices.Contains(a.gathered, ix) {
			continue
		}
		rest := slices.Concat(a.set[:i], a.set[i+1:])
		if gone := [2]*Index{ix, nil}; !failed[gone] && !try(rest, []*Index{ix}, worthIndex, a.tax(ix)) {
			failed[gone] = true
		}
		if best.found && best.share <= 0 {
			return
		}
		if cut := [2]*Index{nil, ix}; !failed[cut] {
			short := a.shorten(ix)
			if short == nil || !try(append(rest, short), []*Index{ix}, a.worth(ix), a.tax(ix)-a.tax(short)) {
				failed[cut] = true
			}
		}
	}
}

// pairs tries to replace two indexes by their merger, up to the first pair
// whose loss is acceptable. Failed pairs are not repeated, because the set has
// only become smaller since.
func (a *adviser) pairs(try trial, failed map[[2]*Index]bool) {
	for i, x := range a.set {
		for j, y := range a.set {
			if i == j || x.table != y.table || failed[[2]*Index{x, y}] || slices.Contains(a.gathered, x) || slices.Contains(a.gathered, y) {
				continue
			}
			if m := a.merge(x, y); m != nil {
				rest := slices.DeleteFunc(slices.Clone(a.set), func(z *Index) bool { return z == x || z == y })
				if try(append(rest, m), []*Index{x, y}, worthSplit, a.tax(x)+a.tax(y)-a.tax(m)) {
					return
				}
				failed[[2]*Index{x, y}] = true
			}
		}
	}
}

// mergers adds the mergers of all pairs, so that a merger may outlive both of
// its parts.
func (a *adviser) mergers() []*Index {
	var out []*Index
	if len(a.set) > 30 {
		return nil
	}
	for _, x := range a.set {
		for _, y := range a.set {
			if x != y && x.table == y.table {
				if m := a.merge(x, y); m != nil {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// merge puts the missing columns of y behind the columns of x: searches by y
// still work if its leading columns are among those of x.
func (a *adviser) merge(x, y *Index) *Index {
	if x.Kind != "btree" || y.Kind != "btree" || len(y.Parts) < len(x.Parts) {
		return nil
	}
	parts := slices.Clone(x.Parts)
	for i, p := range y.Parts {
		at := slices.IndexFunc(parts, func(q catalog.IndexPart) bool { return q.Column == p.Column })
		if at < 0 {
			parts = append(parts, p)
		} else if i < len(x.Parts) && at >= len(x.Parts) {
			return nil
		}
	}
	if len(parts) != len(y.Parts) || slices.Equal(parts, y.Parts) {
		return nil // y alone has all columns in this order, or too many are new
	}
	return a.make(x.table, catalog.Index{Kind: "btree", Parts: parts})
}

func (a *adviser) make(t *Table, ix catalog.Index) *Index {
	m := newIndex(t, ix, true)
	for _, have := range t.Indexes {
		if !have.Hidden && spell(have) == spell(ix) {
			return nil
		}
	}
	return m
}

// shorten removes the last part.
func (a *adviser) shorten(ix *Index) *Index {
	if len(ix.Parts) < 2 || ix.Kind != "btree" {
		return nil
	}
	short := ix.Index
	short.Parts = slices.Clone(ix.Parts[:len(ix.Parts)-1])
	t := ix.table
	for _, have := range a.set {
		if have.table == t && spell(have.Index) == spell(short) {
			return nil // that would remove ix
		}
	}
	return a.make(t, short)
}

// worth is the least saving by the last part of an index: larger if no query
// searches or sorts by it.
func (a *adviser) worth(ix *Index) float64 {
	last := ix.Cols[ix.own-1]
	for _, q := range a.queries {
		for _, blk := range q.st.Blocks {
			if blk.needs(ix.table, last) {
				return worthPart
			}
		}
	}
	return worthCover
}

// needs reports whether a block restricts, orders or groups by a column.
func (blk *Block) needs(t *Table, col string) bool {
	is := func(at ColumnAt) bool { return at.Col == col && blk.Refs[at.Ref].Table == t }
	served := func(p Predicate) bool { return p.Kind != PredOther && is(p.ColumnAt) }
	arms := slices.ContainsFunc(blk.ors, func(o either) bool {
		return slices.ContainsFunc(o.arms, func(ps []Predicate) bool { return slices.ContainsFunc(ps, served) })
	})
	return arms || slices.ContainsFunc(blk.Predicates, served) ||
		slices.ContainsFunc(blk.Order, func(o OrderItem) bool { return is(o.ColumnAt) }) ||
		slices.ContainsFunc(blk.Group, is) || slices.ContainsFunc(blk.MinMax, is) ||
		blk.Distinct && slices.ContainsFunc(blk.Outputs, is)
}

// advice converts the remaining set into proposals, and finds the indexes to
// drop.
func (a *adviser) advice() Advice {
	av := a.with(a.set)
	after := make([]AccessPlan, len(a.queries))
	for i, q := range a.queries {
		after[i] = a.s.AccessPlan(q.st, av)
	}
	for _, ix := range a.set {
		a.out.Add = append(a.out.Add, a.proposal(ix, after))
	}
	slices.SortStableFunc(a.out.Add, func(x, y Proposal) int {
		return cmp.Or(cmp.Compare(y.saved(), x.saved()), strings.Compare(x.Table.Name+spell(x.Index), y.Table.Name+spell(y.Index)))
	})
	a.drops()
	return a.out
}

func (p Proposal) saved() float64 {
	sum := 0.0
	for _, s := range p.Serves {
		sum += (s.CostBefore - s.CostAfter) * s.Query.Count * s.Share
	}
	return sum
}

// proposal is the effect of one index: the saving of a query is divided among
// the new indexes in its access plan, in proportion to the effect of each alone.
func (a *adviser) proposal(ix *Index, after []AccessPlan) Proposal {
	t := ix.table
	p := Proposal{Table: t.Table, Index: ix.Index, Gathers: slices.Contains(a.gathered, ix)}
	for i, q := range a.queries {
		if !slices.Contains(after[i].uses, ix) || after[i].cost >= q.cost.cost {
			continue
		}
		n := map[*Index]bool{}
		for _, u := range after[i].uses {
			if u.new {
				n[u] = true
			}
		}
		p.Serves = append(p.Serves, Served{
			Query: q.Query, RowsBefore: q.cost.Rows, RowsAfter: after[i].Rows, CostBefore: q.cost.cost, CostAfter: after[i].cost,
			SortBefore: q.cost.sort, SortAfter: after[i].sort, TempBefore: q.cost.temp, TempAfter: after[i].temp, Share: 1 / float64(len(n)),
		})
	}
	a.replaces(t, ix, &p)
	return p
}
