package cause

import "slices"

// onHistories reports whether a proposal serves only statements that send whole
// histories, see DB110.
func (v *view) onHistories(p Proposal) bool {
	for _, s := range p.Serves {
		i := slices.IndexFunc(v.digests, func(d digest) bool { return d.Query.Digest == s.Query.Digest })
		if i < 0 || !v.history(i) {
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

// history reports whether a digest sends whole histories with considerable
// work.
func (v *view) history(at int) bool {
	d := v.digests[at]
	blk := d.block()
	if blk == nil || blk.limited || len(blk.order) == 0 || blk.aggregates || len(blk.group) > 0 {
		return false
	}
	sent := d.q.Sent / max(1, d.q.Count)
	if sent < historyRows || len(blk.preds) == 0 && sent < wholeRows || d.q.Count < 2 || bounded(blk) || v.parent(at) {
		return false
	}
	return v.considerable(d.q.Count * (sent - 1) * (1 + costLook))
}

// parent reports whether another statement runs once for each row of a digest:
// then all its rows are used.
func (v *view) parent(at int) bool {
	p := v.digests[at]
	for i, d := range v.digests {
		if _, fits := v.fits(p, d); i != at && fits && v.lookup(d) {
			return true
		}
	}
	return false
}

// bounded reports whether predicates on an ordered column limit the history at
// both ends, as a day or a page: then all its rows are used. A limit at one end
// still leaves a history.
func bounded(blk *block) bool {
	for _, o := range blk.order {
		ends := 0
		for _, p := range blk.preds {
			switch {
			case p.colAt != o.colAt:
			case p.kind == predEq || p.kind == predIn || p.n == 2:
				ends += 2
			case p.kind == predRange:
				ends++
			}
		}
		if ends >= 2 {
			return true
		}
	}
	return false
}
