package index

import (
	"slices"
	"strings"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// InnoDB stores rows in the order of the primary key, and without one in the order of their
// insertion. Entries of an index that are equal in all of its columns come in that same
// order. So a statement that gives every column of the index that serves it has its rows in
// the order of the table, as a scan has them; any other index brings an order of its own.

// Sorted reports whether a statement itself decides the order of its rows: it sends one row, or
// its ORDER BY does. An ORDER BY under which rows of one table may be equal counts only
// without LIMIT: with it, the order of equal rows decides which of them are sent.
func (st *Statement) Sorted() bool {
	return !slices.ContainsFunc(st.Blocks, func(blk *Block) bool { return blk.outer == nil && !blk.sorted() })
}

// Ordered reports whether a statement has an ORDER BY, or needs none.
func (st *Statement) Ordered() bool {
	return !slices.ContainsFunc(st.Blocks, func(blk *Block) bool {
		return blk.outer == nil && len(blk.Order) == 0 && !blk.sorted()
	})
}

// Limits reports whether any block has a LIMIT.
func (st *Statement) Limits() bool {
	return slices.ContainsFunc(st.Blocks, func(blk *Block) bool { return blk.Limited })
}

func (blk *Block) sorted() bool {
	switch {
	case blk.CountAll || (blk.Aggregates || len(blk.MinMax) > 0) && len(blk.Group) == 0 && !blk.BadGroup:
		return true
	case blk.BadOrder != "":
		return true
	case len(blk.Refs) != 1 || blk.Refs[0].Table == nil:
		return len(blk.Order) > 0
	case len(blk.Order) > 0 && !blk.Limited:
		return true
	}
	return blk.unequal()
}

// unequal reports whether no two rows of a block with one table are equal in the columns that
// its ORDER BY and its equalities name.
func (blk *Block) unequal() bool {
	t, named := blk.Refs[0].Table, map[string]bool{}
	for _, o := range blk.Order {
		named[o.Col] = true
	}
	for c := range named {
		if counted := t.Size.Distinct[t.columnName(c)]; counted > 0 && counted >= t.Rows() {
			return true
		}
	}
	for _, p := range blk.Predicates {
		if p.Kind == PredEq && p.equals() {
			named[p.Col] = true
		}
	}
	if len(blk.Group) > 0 && !slices.ContainsFunc(blk.Group, func(g ColumnAt) bool { return !named[g.Col] }) {
		return true
	}
	return slices.ContainsFunc(t.Indexes, func(ix catalog.Index) bool {
		return (ix.Unique || ix.Primary) && len(ix.Parts) > 0 && !slices.ContainsFunc(ix.Parts, func(p catalog.IndexPart) bool {
			c := t.ByName[strings.ToLower(p.Column)]
			return c == nil || c.Nullable || p.Prefix > 0 || !named[strings.ToLower(p.Column)]
		})
	})
}

// columnName is a column's name as the table has it.
func (t *Table) columnName(lower string) string {
	if c := t.ByName[lower]; c != nil {
		return c.Name
	}
	return lower
}

// MayReorder reports whether the rows of a statement that is not sorted can come in another order
// once an index of a table was added or dropped: the server may read the table by the index,
// and not all entries that it then reads are equal in the index's columns.
func (st *Statement) MayReorder(t *Table, ix catalog.Index) bool {
	x := newIndex(t, ix, true)
	return slices.ContainsFunc(st.Blocks, func(blk *Block) bool {
		for r, ref := range blk.Refs {
			if ref.Table == t && !ref.Semi && blk.mayUse(r, x) && (len(blk.Refs) > 1 || !blk.inTableOrder(r, x)) {
				return true
			}
		}
		return false
	})
}

// ReadsRows reports whether a statement sends rows of a table, so that a primary key of
// it, by which its rows are then stored, can change their order.
func (st *Statement) ReadsRows(t *Table) bool {
	return slices.ContainsFunc(st.Blocks, func(blk *Block) bool {
		return slices.ContainsFunc(blk.Refs, func(ref Ref) bool { return ref.Table == t && !ref.Semi })
	})
}

// inTableOrder reports whether an index, and each existing one that the server may use in its
// place, brings the rows of a ref in the order of the table.
func (blk *Block) inTableOrder(r int, x *Index) bool {
	return !slices.ContainsFunc(append(blk.Refs[r].Table.Existing(), x), func(ix *Index) bool {
		return !ix.Primary && blk.mayUse(r, ix) && !blk.givesAll(r, ix)
	})
}

// mayUse reports whether the server may read a ref by an index: it begins with a column that
// the block restricts, sorts or groups by, or it has all columns that the block reads.
func (blk *Block) mayUse(r int, x *Index) bool {
	at := func(c ColumnAt) bool { return c.Ref == r && c.Col == x.Cols[0] }
	about := func(p Predicate) bool { return at(p.ColumnAt) || p.Kind == PredJoin && at(p.With) }
	return slices.ContainsFunc(blk.Predicates, about) ||
		slices.ContainsFunc(blk.ors, func(o either) bool {
			return o.ref == r && slices.ContainsFunc(o.arms, func(arm []Predicate) bool { return slices.ContainsFunc(arm, about) })
		}) ||
		slices.ContainsFunc(blk.Order, func(o OrderItem) bool { return at(o.ColumnAt) }) ||
		slices.ContainsFunc(blk.Group, at) ||
		blk.Distinct && slices.ContainsFunc(blk.Outputs, at) ||
		x.Kind == "btree" && x.covers(blk, r)
}

// givesAll reports whether a block gives every column of an index by an equality.
func (blk *Block) givesAll(r int, x *Index) bool {
	return x.Kind == "btree" && !slices.ContainsFunc(x.Cols[:x.own], func(col string) bool {
		return !slices.ContainsFunc(blk.Predicates, func(p Predicate) bool {
			return p.Ref == r && p.Col == col && p.equals()
		})
	})
}

// equals reports whether a predicate gives its column one value in every execution. An IN
// with one constant may have more the next time: all have one fingerprint.
func (p Predicate) equals() bool {
	return (p.Kind == PredEq || p.Kind == PredNull) && p.N == 0
}
