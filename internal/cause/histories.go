package cause

import (
	"slices"

	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// OnHistories reports whether a proposal serves only statements that send whole
// histories, see DB110.
func (v *View) OnHistories(p index.Proposal) bool {
	for _, s := range p.Serves {
		i := slices.IndexFunc(v.Digests, func(d Digest) bool { return d.Query.Digest == s.Query.Digest })
		if i < 0 || !v.History(i) {
			return false
		}
	}
	return true
}

// historyRows is the least mean number of rows per execution of a history.
const historyRows = 50.0

// wholeRows is the same of a table that is read whole: a short list is often needed
// whole.
const wholeRows = 500.0

// History reports whether a digest sends whole histories with considerable
// work.
func (v *View) History(at int) bool {
	d := v.Digests[at]
	blk := d.Block()
	if blk == nil || blk.Limited || len(blk.Order) == 0 || blk.Aggregates || len(blk.Group) > 0 {
		return false
	}
	sent := d.Totals.Sent / max(1, d.Totals.Count)
	if sent < historyRows || len(blk.Predicates) == 0 && sent < wholeRows || d.Totals.Count < 2 || bounded(blk) || v.parent(at) {
		return false
	}
	return v.Considerable(d.Totals.Count * (sent - 1) * (1 + index.CostLook))
}

// parent reports whether another statement runs once for each row of a digest:
// then all its rows are used.
func (v *View) parent(at int) bool {
	p := v.Digests[at]
	for i, d := range v.Digests {
		if _, fits := v.Fits(p, d); i != at && fits && v.Lookup(d) {
			return true
		}
	}
	return false
}

// bounded reports whether predicates on an ordered column limit the history at
// both ends, as a day or a page: then all its rows are used. A limit at one end
// still leaves a history.
func bounded(blk *index.Block) bool {
	for _, o := range blk.Order {
		ends := 0
		for _, p := range blk.Predicates {
			switch {
			case p.ColumnAt != o.ColumnAt:
			case p.Kind == index.PredEq || p.Kind == index.PredIn || p.N == 2:
				ends += 2
			case p.Kind == index.PredRange:
				ends++
			}
		}
		if ends >= 2 {
			return true
		}
	}
	return false
}
