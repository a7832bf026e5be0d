package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const ()

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

// fromTable is the name of the first table of a block.
func fromTable(blk *block) string {
	if t := blk.refs[0].table; t != nil {
		return t.Name
	}
	return blk.refs[0].alias
}
