package index

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// mostGathered is the most parts of an index that contains the columns of all counts
// of a table. InnoDB allows 16, with those of the primary key.
const mostGathered = 12

// A countedTable is a table whose matches are counted by statements with different
// columns, as of a search whose conditions are built.
type countedTable struct {
	table  *Table
	forms  map[string]bool    // sets of columns
	widest int                // columns of the largest set
	uses   map[string]float64 // executions that compare a column
	ranges map[string]bool    // columns that are compared by a range
}

// gather proposes one index for each table with counts in many forms: it contains
// every column that the counts compare. Then a count of any form reads only entries
// of the index, also a form that the run did not send. An index for one form makes
// the others slower: the optimizer takes it for its range, and looks up each row.
func (a *adviser) gather() {
	for _, t := range a.s.Tables {
		if c := a.counted(t); len(c.forms) >= LeastForms && len(c.uses) > c.widest {
			a.replaceBy(c)
		}
	}
}

// counted collects the counts of a table whose columns can all be parts of an index.
func (a *adviser) counted(t *Table) countedTable {
	c := countedTable{table: t, forms: map[string]bool{}, uses: map[string]float64{}, ranges: map[string]bool{}}
	for _, q := range a.queries {
		blk := soleCount(q.st, t)
		if blk == nil || !plainColumns(blk, t) {
			continue
		}
		cols := slices.Sorted(maps.Keys(blk.Used[0]))
		c.forms[strings.Join(cols, ", ")] = true
		c.widest = max(c.widest, len(cols))
		for _, col := range cols {
			c.uses[col] += q.Reads()
		}
		for _, p := range blk.Predicates {
			if p.Kind == PredRange {
				c.ranges[p.Col] = true
			}
		}
	}
	return c
}

// soleCount is the block of a statement that only counts rows of a table, else nil.
func soleCount(st *Statement, t *Table) *Block {
	if len(st.Blocks) != 1 {
		return nil
	}
	blk := st.Blocks[0]
	if !blk.CountAll || len(blk.Refs) != 1 || blk.Refs[0].Table != t || len(blk.Group) > 0 || blk.BadGroup || blk.Distinct || len(blk.Predicates) == 0 {
		return nil
	}
	return blk
}

// plainColumns reports whether a block compares columns only in ways that an index
// can serve, and whether all of them can be parts of one.
func plainColumns(blk *Block, t *Table) bool {
	if len(blk.ors) > 0 || blk.unserved() || len(blk.Used[0]) == 0 {
		return false
	}
	for name := range blk.Used[0] {
		if col := t.ByName[name]; col == nil || col.Long() || col.Spatial() {
			return false
		}
	}
	return true
}

// replaceBy adds the index of a table's counts to the set, in place of those that
// begin with the same column and have no other columns. It stays out if it saves less
// than worthCover of the counts that it serves, compared with the set without indexes
// that one form of count has for itself.
func (a *adviser) replaceBy(c countedTable) {
	head := a.head(c)
	ix := a.whole(c, head)
	if ix == nil {
		return
	}
	within := func(x *Index) bool {
		return x.table == c.table && x.Kind == "btree" && x.Cols[0] == ix.Cols[0] &&
			!slices.ContainsFunc(x.Cols[:x.own], func(col string) bool { return !slices.Contains(ix.Cols, col) })
	}
	rest := slices.DeleteFunc(slices.Clone(a.set), within)
	others := slices.DeleteFunc(slices.Clone(rest), func(x *Index) bool { return a.onlyCounts(c, x) })
	before, tax := others, a.tax(ix)
	if head != nil {
		before, tax = append(slices.Clone(others), head), tax-a.tax(head)
	}
	more, share := a.loss(a.accessPlans(append(others, ix), nil, nil), a.accessPlans(before, nil, nil))
	if share < worthCover || more <= tax {
		return
	}
	a.gathered = append(a.gathered, ix)
	a.set = append(rest, ix)
	a.reduce()
}

// onlyCounts reports whether an index is there only for counts of a table: it has no
// columns but theirs, and no other statement would use it.
func (a *adviser) onlyCounts(c countedTable, x *Index) bool {
	if x.table != c.table || slices.ContainsFunc(x.Cols[:x.own], func(col string) bool { return c.uses[col] == 0 }) {
		return false
	}
	plans := a.accessPlans(a.set, nil, nil)
	for i, q := range a.queries {
		if soleCount(q.st, c.table) == nil && slices.Contains(plans[i].uses, x) {
			return false
		}
	}
	return true
}

// head is the index of the set that saves most for statements other than counts, of those
// whose columns the counts use, too. The new index begins with its columns. nil if no
// index of the set is of this kind.
func (a *adviser) head(c countedTable) *Index {
	var best *Index
	most := 0.0
	all := a.accessPlans(a.set, nil, nil)
	for _, ix := range a.set {
		if ix.table != c.table || ix.Kind != "btree" || slices.ContainsFunc(ix.Cols[:ix.own], func(col string) bool { return c.uses[col] == 0 }) {
			continue
		}
		saved := 0.0
		for i, q := range a.queries {
			if soleCount(q.st, c.table) == nil && slices.Contains(all[i].uses, ix) {
				saved += (q.cost.cost - all[i].cost) * q.Count
			}
		}
		if saved > most {
			best, most = ix, saved
		}
	}
	return best
}

// whole is the index: the head, then the primary key where a list is sorted by both,
// then the other columns, the most compared first. Without a head it begins with a
// column of ranges. It is nil if it would be too wide.
func (a *adviser) whole(c countedTable, head *Index) *Index {
	var parts []catalog.IndexPart
	has := func(col string) bool {
		return slices.ContainsFunc(parts, func(p catalog.IndexPart) bool { return strings.EqualFold(p.Column, col) })
	}
	if head != nil {
		parts = slices.Clone(head.Parts)
		for _, col := range c.table.primary {
			if !has(col) && a.sortedBy(c.table, head.Cols[:head.own], col) {
				parts = append(parts, catalog.IndexPart{Column: c.table.ByName[col].Name})
			}
		}
	}
	rank := func(col string) int {
		if head == nil && c.ranges[col] {
			return 0
		}
		return 1
	}
	cols := slices.Sorted(maps.Keys(c.uses))
	slices.SortStableFunc(cols, func(x, y string) int { return cmp.Or(rank(x)-rank(y), cmp.Compare(c.uses[y], c.uses[x])) })
	width := iikanji.Bytes(0)
	for _, col := range cols {
		if !has(col) {
			parts = append(parts, catalog.IndexPart{Column: c.table.ByName[col].Name})
		}
	}
	for _, p := range parts {
		width += c.table.ByName[strings.ToLower(p.Column)].Width
	}
	if len(parts) > mostGathered || width > mostBytes {
		return nil
	}
	return a.make(c.table, catalog.Index{Kind: "btree", Parts: parts})
}

// sortedBy reports whether a statement sorts a table by columns and then by another
// one, all ascending.
func (a *adviser) sortedBy(t *Table, cols []string, then string) bool {
	want := append(slices.Clone(cols), then)
	for _, q := range a.queries {
		for _, blk := range q.st.Blocks {
			if len(blk.Order) < len(want) {
				continue
			}
			same := true
			for i, col := range want {
				o := blk.Order[i]
				same = same && o.Col == col && !o.desc && blk.Refs[o.Ref].Table == t
			}
			if same {
				return true
			}
		}
	}
	return false
}
