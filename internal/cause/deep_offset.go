package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

var deepOffset = Declare(PerDatabase, findDeepOffset,
	Cause{Code: "DB120", Title: "deep OFFSET", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "rows are read only to be skipped",
		Remedies: []Way{Patch}})

// findDeepOffset reports paging by a large OFFSET: the rows before the page are read and
// discarded.
func findDeepOffset(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || !blk.limited || blk.offset < 500 {
			continue
		}
		each, sent := d.q.Examined/max(1, d.q.Count), d.q.Sent/max(1, d.q.Count)
		if each < 300 || each < 10*sent {
			continue
		}
		f := iikanji.Finding{Code: "DB120", Where: d.place(),
			Claim:    fmt.Sprintf("pages of %s are found by skipping rows: %s rows read for %s sent", fromTable(blk), people(each), people(sent)),
			Evidence: d.withEvidence(),
			Gain:     between(d.left(), 0.2, 1-(sent+1)/(each+1)),
			Remedies: v.patch("page by the last key of the previous page: WHERE key < ? ORDER BY key DESC LIMIT n", map[string]string{"digest": d.Query.Digest}),
		}
		if v.considerable(d.q.Count * (each - sent)) {
			out = append(out, f)
		}
	}
	return out
}
