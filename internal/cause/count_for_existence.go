package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// mostlySaved is the share of the seconds of a count that an index of DB101 saves, from
// which the index comes first.
const mostlySaved = 0.5

var countForExistence = Declare(PerDatabase, findCountForExistence,
	Cause{Code: "DB112", Title: "COUNT for existence", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "all matching rows are counted to check whether there is one",
		Remedies: []Way{Patch}})

// findCountForExistence reports counts over a whole unique key, which can only be 0 or 1, and
// counts that read many rows each time and that no index shortens. Whether the
// caller only tests for existence is not visible from the server: the claim
// states that and the lower end of the gain is small.
func findCountForExistence(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	lists := v.lists()
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || !blk.countAll || len(blk.group) > 0 || len(blk.refs) != 1 || len(blk.preds) == 0 {
			continue
		}
		if v.pagingCount(d, blk, lists) { // DB125
			continue
		}
		each := d.q.Examined / max(1, d.q.Count)
		if f, ok := v.countOne(d, blk); ok {
			out = append(out, f)
			continue
		}
		if each < 100 || d.q.Count < 10 || d.saved >= mostlySaved*d.q.Seconds {
			continue
		}
		f := iikanji.Finding{Code: "DB112", Where: d.place(),
			Claim:    fmt.Sprintf("%s rows of %s are counted %s times; if the caller only tests whether one exists, reading the first is enough", people(each), fromTable(blk), people(d.q.Count)),
			Evidence: d.withEvidence(),
			Gain:     between(d.left(), 0, 0.5*(1-costStatement/(costStatement+each))),
			Remedies: v.patch("use SELECT 1 … LIMIT 1, or store the count and update it with the rows", map[string]string{"digest": d.Query.Digest}),
		}
		if v.considerable(d.q.Count * each / 2) {
			out = append(out, f)
		}
	}
	return out
}

// countOne is the finding about a count that can only be 0 or 1.
func (v *view) countOne(d digest, blk *block) (iikanji.Finding, bool) {
	if blk.refs[0].table == nil || !blk.whole() || d.q.Count < manyRuns {
		return iikanji.Finding{}, false
	}
	f := iikanji.Finding{Code: "DB112", Where: d.place(),
		Claim:    fmt.Sprintf("%s tests %s times by COUNT whether a row of %s exists, by its whole key", cut(d.Query.Fingerprint, 60), people(d.q.Count), fromTable(blk)),
		Evidence: d.withEvidence(),
		Gain:     between(d.left()+d.q.Count*roundTrip, 0.02, 0.5),
		Remedies: v.patch("keep known keys in memory, or rely on the error of the write; otherwise use SELECT 1 … LIMIT 1", map[string]string{"digest": d.Query.Digest}),
	}
	return f, v.considerable(d.q.Count * costStatement / 2)
}
