package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

// mostlySaved is the share of the seconds of a count that an index of DB101 saves, from
// which the index comes first.
const mostlySaved = 0.5

var countForExistence = cause.Declare(cause.PerDatabase, findCountForExistence,
	cause.Cause{Code: "DB112", Title: "COUNT for existence", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "all matching rows are counted to check whether there is one",
		Remedies: []cause.Way{cause.Patch}})

// findCountForExistence reports counts over a whole unique key, which can only be 0 or 1, and
// counts that read many rows each time and that no index shortens. Whether the
// caller only tests for existence is not visible from the server: the claim
// states that and the lower end of the gain is small.
func findCountForExistence(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	lists := lists(v)
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || !blk.CountAll || len(blk.Group) > 0 || len(blk.Refs) != 1 || len(blk.Predicates) == 0 {
			continue
		}
		if pagingCount(v, d, blk, lists) { // DB125
			continue
		}
		each := d.Totals.Examined / max(1, d.Totals.Count)
		if f, ok := countOne(v, d, blk); ok {
			out = append(out, f)
			continue
		}
		if each < 100 || d.Totals.Count < 10 || d.Saved >= mostlySaved*d.Totals.Seconds {
			continue
		}
		f := iikanji.Finding{Code: "DB112", Where: d.Place(),
			Claim:    fmt.Sprintf("%s rows of %s are counted %s times; if the caller only tests whether one exists, reading the first is enough", cause.Number(each), fromTable(blk), cause.Number(d.Totals.Count)),
			Evidence: d.WithEvidence(),
			Gain:     cause.Between(d.Left(), 0, 0.5*(1-index.CostStatement/(index.CostStatement+each))),
			Remedies: v.Patch("use SELECT 1 … LIMIT 1, or store the count and update it with the rows", map[string]string{"digest": d.Query.Digest}),
		}
		if v.Considerable(d.Totals.Count * each / 2) {
			out = append(out, f)
		}
	}
	return out
}

// countOne is the finding about a count that can only be 0 or 1.
func countOne(v *cause.View, d cause.Digest, blk *index.Block) (iikanji.Finding, bool) {
	if blk.Refs[0].Table == nil || !whole(blk) || d.Totals.Count < cause.ManyRuns {
		return iikanji.Finding{}, false
	}
	f := iikanji.Finding{Code: "DB112", Where: d.Place(),
		Claim:    fmt.Sprintf("%s tests %s times by COUNT whether a row of %s exists, by its whole key", cause.Cut(d.Query.Fingerprint, 60), cause.Number(d.Totals.Count), fromTable(blk)),
		Evidence: d.WithEvidence(),
		Gain:     cause.Between(d.Left()+d.Totals.Count*cause.RoundTrip, 0.02, 0.5),
		Remedies: v.Patch("keep known keys in memory, or rely on the error of the write; otherwise use SELECT 1 … LIMIT 1", map[string]string{"digest": d.Query.Digest}),
	}
	return f, v.Considerable(d.Totals.Count * index.CostStatement / 2)
}
