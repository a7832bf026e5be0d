package cause

import (
	"math"
	"strings"

	"github.com/iikanji/iikanji"
)

const manyPerRow = 5.0 // executions per execution of the parent that prove a loop alone

const fewPerRow = 2.0 // and that prove it with a second sign of a loop

const manyRuns = 200.0 // least executions in a run

const sameWithin = 0.03 // tolerance between executions and the parent's rows

const seriesWithin = 0.10 // the same for a look-up that runs in series

const exactWithin = 0.005 // the same for few executions per parent, with a second sign

const exactRows = 2.0 // the same in rows, without another sign than the column

const seriesMost = 0.5 // share of the executions in series: most

const seriesSome = 0.1 // share of the executions in series: some, as requests interleave on a shared pool

// lookup reports whether a digest is a SELECT that finds few rows by equality,
// in one table or in the table that leads to all others of a join.
func (v *view) lookup(d digest) bool {
	blk := d.block()
	if blk == nil || d.q.Count < manyRuns || len(blk.refs) > wideJoin {
		return false
	}
	for _, p := range blk.preds {
		if p.kind == predEq && blk.leads(p.ref) {
			return true
		}
	}
	return false
}

// leads reports whether equal columns lead from a ref to all other refs of its
// block.
func (blk *block) leads(ref int) bool {
	found := bound(0).with(ref)
	for changed := true; changed; {
		changed = false
		for _, p := range blk.preds {
			if p.kind == predJoin && found.has(p.with.ref) && !found.has(p.ref) {
				found, changed = found.with(p.ref), true
			}
		}
	}
	for r := range blk.refs {
		if !found.has(r) {
			return false
		}
	}
	return true
}

// fits reports whether d may run once for each row that p sends, and the
// relative difference of the two counts.
func (v *view) fits(p, d digest) (off float64, ok bool) {
	if p.block() == nil || p.q.Sent == 0 || p.q.Count*fewPerRow > d.q.Count {
		return 0, false
	}
	off = math.Abs(p.q.Sent-d.q.Count) / d.q.Count
	series, many := float64(v.repeat(d).Count)/d.q.Count, p.q.Count*manyPerRow <= d.q.Count
	sign := series >= seriesSome || p.route != nil && d.route != nil && p.route.route == d.route.route
	switch {
	case many && series > seriesMost:
		return off, off <= seriesWithin
	case many:
		return off, off <= sameWithin && (sign || !v.threaded())
	case series > seriesMost:
		return off, off <= sameWithin
	case sign:
		return off, off <= exactWithin && links(p, d)
	}
	return off, off*d.q.Count <= exactRows && links(p, d)
}

// threaded reports whether the log tells connections apart. Then a loop is
// visible as a series on one connection, and a look-up without any series is
// not a loop.
func (v *view) threaded() bool {
	for _, p := range v.in.Profiles {
		if len(p.Repeats) > 0 || len(p.Transactions) > 0 {
			return true
		}
	}
	return false
}

// links reports whether a look-up is by a column whose values the other
// statement sends: a column of the same name, or named as "id" and "user_id".
func links(p, d digest) bool {
	var sends []string
	blk := p.block()
	for r, ref := range blk.refs {
		if ref.table != nil && blk.all[r] {
			for col := range ref.table.columns {
				sends = append(sends, col)
			}
		}
	}
	for _, o := range blk.outs {
		sends = append(sends, o.col)
	}
	for _, q := range d.block().preds {
		for _, s := range sends {
			if q.kind == predEq && (q.col == s || strings.HasSuffix(q.col, "_"+s) || strings.HasSuffix(s, "_"+q.col)) {
				return true
			}
		}
	}
	return false
}

// repeat is the series of a digest in the log, zero if there are none.
func (v *view) repeat(d digest) iikanji.Repeat {
	for _, p := range v.in.Profiles {
		for _, r := range p.Repeats {
			if r.Digest == d.Query.Digest {
				return r
			}
		}
	}
	return iikanji.Repeat{}
}
