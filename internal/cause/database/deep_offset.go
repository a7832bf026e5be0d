package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var deepOffset = cause.Declare(cause.PerDatabase, findDeepOffset,
	cause.Cause{Code: "DB120", Title: "deep OFFSET", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "rows are read only to be skipped",
		Remedies: []cause.Way{cause.Patch}})

// findDeepOffset reports paging by a large OFFSET: the rows before the page are read and
// discarded.
func findDeepOffset(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || !blk.Limited || blk.Offset < 500 {
			continue
		}
		each, sent := d.Totals.Examined/max(1, d.Totals.Count), d.Totals.Sent/max(1, d.Totals.Count)
		if each < 300 || each < 10*sent {
			continue
		}
		f := iikanji.Finding{Code: "DB120", Where: d.Place(),
			Claim:    fmt.Sprintf("pages of %s are found by skipping rows: %s rows read for %s sent", fromTable(blk), cause.Number(each), cause.Number(sent)),
			Evidence: d.WithEvidence(),
			Gain:     cause.Between(d.Left(), 0.2, 1-(sent+1)/(each+1)),
			Remedies: v.Patch("page by the last key of the previous page: WHERE key < ? ORDER BY key DESC LIMIT n", map[string]string{"digest": d.Query.Digest}),
		}
		if v.Considerable(d.Totals.Count * (each - sent)) {
			out = append(out, f)
		}
	}
	return out
}
