package diagnose

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	// leastAggregated is the least number of rows that one execution of an aggregate
	// reads, and leastFolded how many of them make one row of its answer.
	leastAggregated = 500
	leastAggregates = 5 // executions: a page of a slow site is shown a few times in a run
	leastFolded     = 20
	// fullySaved is the share of the seconds of an aggregate that an index of DB101
	// saves, from which nothing is left to keep.
	fullySaved = 0.9
)

// db126 reports aggregates (GROUP BY, MAX, SUM, DISTINCT) that read many rows each time
// for a short answer and that no index of DB101 shortens: totals that could be kept
// when a row is written. Counts are DB112 and DB125.
func db126(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || blk.countAll || len(blk.group) == 0 && !blk.badGroup && !blk.aggregates && len(blk.minmax) == 0 && !blk.distinct {
			continue
		}
		count := max(1, d.q.Count)
		each, sent := d.q.Examined/count, float64(d.Query.Sent)/count
		if d.q.Count < leastAggregates || each < leastAggregated || each < leastFolded*sent || d.saved >= fullySaved*d.q.Seconds {
			continue
		}
		f := iikanji.Finding{Code: "DB126", Where: d.place(), Gain: between(d.left(), 0.5, 0.98), Evidence: d.withEvidence(),
			Claim:    fmt.Sprintf("%s rows are read and aggregated for %s rows of an answer, %s times", people(each), people(sent), people(d.q.Count)),
			Remedies: v.patch("keep the result in a column or a table, updated by each write, with an index in the order of the answer; or keep the pages that show it", map[string]string{"digest": d.Query.Digest})}
		if v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}
