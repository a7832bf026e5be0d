package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

var missingSpatialIndex = Declare(PerDatabase, findMissingSpatialIndex,
	Cause{Code: "DB108", Title: "spatial search without a spatial index", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a polygon or box search over a point column without a usable spatial index",
		Remedies: []Way{Plan("ddl", "add index", iikanji.RoleDatabase), Patch}})

// findMissingSpatialIndex reports searches in a box of two coordinates without a spatial index: a B-tree
// serves the range of one coordinate only, so that all rows of a stripe are read.
func findMissingSpatialIndex(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil || len(blk.refs) != 1 || blk.refs[0].table == nil {
			continue
		}
		columns := box(blk)
		count := max(1, d.q.Count)
		each, sent := d.q.Examined/count, float64(d.Query.Sent)/count
		if len(columns) != 2 || each < 100 || each < 5*sent {
			continue
		}
		f := iikanji.Finding{Code: "DB108", Where: d.place(), Gain: between(d.q.Seconds, 0.2, 0.9), Evidence: d.withEvidence(),
			Claim: fmt.Sprintf("%s is searched by a box of %s: %s rows are read for %s, because an index on numbers serves one side of a box only",
				blk.refs[0].table.Name, strings.Join(columns, " and "), people(each), people(sent)),
			Remedies: v.patch("add a POINT column that is NOT NULL (with an SRID where the server needs one) with a spatial index, and search it with MBRContains or ST_Contains",
				map[string]string{"digest": d.Query.Digest, "table": blk.refs[0].table.Name})}
		if v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// box lists the columns of coordinates that a block restricts from both sides.
func box(blk *block) (columns []string) {
	ends := map[string]int{}
	for _, p := range blk.preds {
		c := blk.column(p.colAt)
		if p.kind != predRange || c == nil || !coordinate(c) {
			continue
		}
		if ends[p.col] += max(1, p.n); ends[p.col] == 2 {
			columns = append(columns, p.col)
		}
	}
	slices.Sort(columns)
	return columns
}

// coordinate reports whether a column has a type of coordinates. Boxes of whole numbers
// are prices and sizes, whose ranges DB127 reports.
func coordinate(c *iikanji.Column) bool {
	return strings.Contains(c.Type, "double") || strings.Contains(c.Type, "float") || strings.Contains(c.Type, "decimal")
}
