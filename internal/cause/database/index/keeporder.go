package index

import (
	"maps"
	"slices"

	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/pingcap/tidb/pkg/parser"
)

const (
	// mostOrdered is how many leading parts of a proposal are tried in other sequences: five
	// give 205 indexes of up to four parts.
	mostOrdered = 5
	mostShort   = 4
)

// Narrower finds an index near to a proposal, for the same statements, that reorders of no
// statement the rows: a server that cannot use it for a statement leaves the rows as they
// came. It has parts of the proposed one, fewer or in another sequence, so that it may
// begin with a column which the statements to be spared do not restrict.
//
// reorders reports whether an index may reorder the rows of such a statement. The result is
// the index by which the served statements cost least, of equal ones the shortest; false if
// none saves the share that an index must.
func (s *Schema) Narrower(p Proposal, reorders func(catalog.Index) bool) (Proposal, bool) {
	t := s.find(p.Table.Schema, p.Table.Name, "")
	if t == nil || p.Index.Kind != "btree" || len(p.Serves) == 0 {
		return Proposal{}, false
	}
	served, have := s.reparse(p), s.existing()
	before := 0.0
	for _, st := range served {
		before += st.CostBefore * st.Query.Reads()
	}
	var best Proposal
	least := before * (1 - worthIndex)
	for _, parts := range sequences(p.Index.Parts[:min(len(p.Index.Parts), mostOrdered)], mostShort) {
		ix := catalog.Index{Kind: p.Index.Kind, Parts: parts}
		if t.has(ix) || reorders(ix) {
			continue
		}
		try, cost := s.tryIndex(have, t, ix, served)
		if cost < least {
			least, best = cost, Proposal{Table: p.Table, Index: ix, Serves: try}
		}
	}
	return best, best.Serves != nil
}

// Cost is the cost of the statements that an index serves, once it is there.
func (p Proposal) Cost() float64 {
	sum := 0.0
	for _, s := range p.Serves {
		sum += s.CostAfter * s.Query.Reads()
	}
	return sum
}

// A reparsed is a statement that a proposal serves.
type reparsed struct {
	Served
	st *Statement
}

// reparse parses the statements of a proposal again.
func (s *Schema) reparse(p Proposal) []reparsed {
	var out []reparsed
	ps := parser.New()
	for _, sv := range p.Serves {
		if st, err := s.Parse(ps, sv.Query.SQL, sv.Query.DB); err == nil {
			out = append(out, reparsed{sv, st})
		}
	}
	return out
}

// tryIndex plans statements with one more index beside those that are there. Statements that
// do not use it are not among the served ones and cost what they did.
func (s *Schema) tryIndex(have Available, t *Table, ix catalog.Index, served []reparsed) (with []Served, cost float64) {
	x := newIndex(t, ix, true)
	av := maps.Clone(have)
	av[t] = append(slices.Clone(have[t]), x)
	for _, sv := range served {
		plan := s.AccessPlan(sv.st, av)
		if !slices.Contains(plan.uses, x) {
			cost += sv.CostBefore * sv.Query.Reads()
			continue
		}
		cost += plan.cost * sv.Query.Reads()
		sv.RowsAfter, sv.CostAfter, sv.SortAfter, sv.TempAfter = plan.Rows, plan.cost, plan.sort, plan.temp
		with = append(with, sv.Served)
	}
	return with, cost
}

// sequences are the ordered selections of one to n parts, shorter ones first.
func sequences(parts []catalog.IndexPart, n int) [][]catalog.IndexPart {
	var out [][]catalog.IndexPart
	level := [][]catalog.IndexPart{nil}
	for range min(n, len(parts)) {
		var next [][]catalog.IndexPart
		for _, seq := range level {
			for _, p := range parts {
				if !slices.ContainsFunc(seq, func(q catalog.IndexPart) bool { return q.Column == p.Column }) {
					next = append(next, append(slices.Clone(seq), p))
				}
			}
		}
		out, level = append(out, next...), next
	}
	return out
}
