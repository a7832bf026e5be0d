package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

var wholeHistory = cause.Declare(cause.PerDatabase, findWholeHistory,
	cause.Cause{Code: "DB110", Title: "whole history read for one row", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "many rows are examined or sent where only the newest or first one is used",
		Remedies: []cause.Way{cause.Patch}})

// findWholeHistory reports statements that send a whole history in order, without a LIMIT.
// If the caller uses only the newest row, the others are read for nothing. The
// server cannot show that: the lower end of the gain is 0.
func findWholeHistory(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for i, d := range v.Digests {
		if !v.History(i) {
			continue
		}
		blk, sent := d.Block(), d.Totals.Sent/max(1, d.Totals.Count)
		f := iikanji.Finding{Code: "DB110", Where: d.Place(),
			Claim:    fmt.Sprintf("a query of %s returns %s ordered rows without LIMIT, %s times: if the caller uses only the first row, the others are unnecessary", fromTable(blk), cause.Number(sent), cause.Number(d.Totals.Count)),
			Evidence: d.WithEvidence(iikanji.Evidence{Source: "digest " + d.Query.Digest, Text: fmt.Sprintf("at most %s rows in one answer", cause.Number(float64(d.Query.MaxSent)))}),
			Gain:     cause.Between(d.Left(), 0, 1-1/sent),
			Remedies: v.Patch("select only the newest row: LIMIT 1 with an index in that order, or store the newest row separately when it is written",
				map[string]string{"digest": d.Query.Digest, "limit": "1"}),
		}
		if len(blk.Predicates) == 0 { // a list of a whole table is a page's, not the history of one thing
			f.Claim = fmt.Sprintf("a query returns all of %s in order, %s rows, %s times: if a page shows a part of them, the others are unnecessary", fromTable(blk), cause.Number(sent), cause.Number(d.Totals.Count))
			f.Remedies = v.Patch("select as many rows as the page shows: LIMIT with an index in that order, and a COUNT if the page needs the number of all", map[string]string{"digest": d.Query.Digest})
		}
		out = append(out, f)
	}
	return out
}

// fromTable is the name of the first table of a block.
func fromTable(blk *index.Block) string {
	if t := blk.Refs[0].Table; t != nil {
		return t.Name
	}
	return blk.Refs[0].Alias
}
