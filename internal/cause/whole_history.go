package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	// historyRows is the least mean number of rows per execution of a history.
	historyRows = 50.0
	// wholeRows is the same of a table that is read whole: a short list is often needed
	// whole.
	wholeRows = 500.0
)

var wholeHistory = Declare(PerDatabase, findWholeHistory,
	Cause{Code: "DB110", Title: "whole history read for one row", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "many rows are examined or sent where only the newest or first one is used",
		Remedies: []Way{Patch}})

// findWholeHistory reports statements that send a whole history in order, without a LIMIT.
// If the caller uses only the newest row, the others are read for nothing. The
// server cannot show that: the lower end of the gain is 0.
func findWholeHistory(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.digests {
		if !v.history(i) {
			continue
		}
		blk, sent := d.block(), d.q.Sent/max(1, d.q.Count)
		f := iikanji.Finding{Code: "DB110", Where: d.place(),
			Claim:    fmt.Sprintf("a query of %s returns %s ordered rows without LIMIT, %s times: if the caller uses only the first row, the others are unnecessary", fromTable(blk), people(sent), people(d.q.Count)),
			Evidence: d.withEvidence(iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("at most %s rows in one answer", people(float64(d.Query.MaxSent)))}),
			Gain:     between(d.left(), 0, 1-1/sent),
			Remedies: v.patch("select only the newest row: LIMIT 1 with an index in that order, or store the newest row separately when it is written",
				map[string]string{"digest": d.Query.Digest, "limit": "1"}),
		}
		if len(blk.preds) == 0 { // a list of a whole table is a page's, not the history of one thing
			f.Claim = fmt.Sprintf("a query returns all of %s in order, %s rows, %s times: if a page shows a part of them, the others are unnecessary", fromTable(blk), people(sent), people(d.q.Count))
			f.Remedies = v.patch("select as many rows as the page shows: LIMIT with an index in that order, and a COUNT if the page needs the number of all", map[string]string{"digest": d.Query.Digest})
		}
		out = append(out, f)
	}
	return out
}

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

// fromTable is the name of the first table of a block.
func fromTable(blk *block) string {
	if t := blk.refs[0].table; t != nil {
		return t.Name
	}
	return blk.refs[0].alias
}

// evidence formats a digest with its counts and times.
func (d digest) evidence() iikanji.Evidence {
	n := max(1, d.q.Count)
	return iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("%s× %s: %s rows examined, %s sent each, %.1f ms, %.2f s in all",
		people(d.q.Count), cut(d.q.SQL, 120), people(d.q.Examined/n), people(d.q.Sent/n), 1000*d.q.Seconds/n, d.q.Seconds)}
}
