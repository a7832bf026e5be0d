package cause

import (
	"math"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

const (
	ManyPerRow   = 5.0   // executions per execution of the parent that prove a loop alone
	FewPerRow    = 2.0   // and that prove it with a second sign of a loop
	ManyRuns     = 200.0 // least executions in a run
	SameWithin   = 0.03  // tolerance between executions and the parent's rows
	seriesWithin = 0.10  // the same for a look-up that runs in series
	exactWithin  = 0.005 // the same for few executions per parent, with a second sign
	exactRows    = 2.0   // the same in rows, without another sign than the column
	seriesMost   = 0.5   // share of the executions in series: most
	seriesSome   = 0.1   // share of the executions in series: some, as requests interleave on a shared pool
)

// Lookup reports whether a digest is a SELECT that finds few rows by equality,
// in one table or in the table that leads to all others of a join.
func (v *View) Lookup(d Digest) bool {
	blk := d.Block()
	if blk == nil || d.Totals.Count < ManyRuns || len(blk.Refs) > index.WideJoin {
		return false
	}
	for _, p := range blk.Predicates {
		if p.Kind == index.PredEq && leads(blk, p.Ref) {
			return true
		}
	}
	return false
}

// leads reports whether equal columns lead from a ref to all other refs of its
// block.
func leads(blk *index.Block, ref int) bool {
	found := index.Bound(0).With(ref)
	for changed := true; changed; {
		changed = false
		for _, p := range blk.Predicates {
			if p.Kind == index.PredJoin && found.Has(p.With.Ref) && !found.Has(p.Ref) {
				found, changed = found.With(p.Ref), true
			}
		}
	}
	for r := range blk.Refs {
		if !found.Has(r) {
			return false
		}
	}
	return true
}

// Fits reports whether d may run once for each row that p sends, and the
// relative difference of the two counts.
func (v *View) Fits(p, d Digest) (off float64, ok bool) {
	if p.Block() == nil || p.Totals.Sent == 0 || p.Totals.Count*FewPerRow > d.Totals.Count {
		return 0, false
	}
	off = math.Abs(p.Totals.Sent-d.Totals.Count) / d.Totals.Count
	series, many := float64(v.Repeat(d).Count)/d.Totals.Count, p.Totals.Count*ManyPerRow <= d.Totals.Count
	sign := series >= seriesSome || p.Route != nil && d.Route != nil && p.Route.Route == d.Route.Route
	switch {
	case many && series > seriesMost:
		return off, off <= seriesWithin
	case many:
		return off, off <= SameWithin && (sign || !v.Threaded())
	case series > seriesMost:
		return off, off <= SameWithin
	case sign:
		return off, off <= exactWithin && Links(p, d)
	}
	return off, off*d.Totals.Count <= exactRows && Links(p, d)
}

// Threaded reports whether the log tells connections apart. Then a loop is
// visible as a series on one connection, and a look-up without any series is
// not a loop.
func (v *View) Threaded() bool {
	for _, p := range v.Input.Profiles {
		if len(p.Repeats) > 0 || len(p.Transactions) > 0 {
			return true
		}
	}
	return false
}

// Links reports whether a look-up is by a column whose values the other
// statement sends: a column of the same name, or named as "id" and "user_id".
func Links(p, d Digest) bool {
	var sends []string
	blk := p.Block()
	for r, ref := range blk.Refs {
		if ref.Table != nil && blk.All[r] {
			for col := range ref.Table.ByName {
				sends = append(sends, col)
			}
		}
	}
	for _, o := range blk.Outputs {
		sends = append(sends, o.Col)
	}
	for _, q := range d.Block().Predicates {
		for _, s := range sends {
			if q.Kind == index.PredEq && (q.Col == s || strings.HasSuffix(q.Col, "_"+s) || strings.HasSuffix(s, "_"+q.Col)) {
				return true
			}
		}
	}
	return false
}

// Repeat is the series of a digest in the log, zero if there are none.
func (v *View) Repeat(d Digest) iikanji.Repeat {
	for _, p := range v.Input.Profiles {
		for _, r := range p.Repeats {
			if r.Digest == d.Query.Digest {
				return r
			}
		}
	}
	return iikanji.Repeat{}
}
