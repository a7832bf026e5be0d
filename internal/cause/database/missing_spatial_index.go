package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
	"github.com/iikanji/iikanji/internal/lang/catalog"
)

var missingSpatialIndex = cause.Declare(cause.PerDatabase, findMissingSpatialIndex,
	cause.Cause{Code: "DB108", Title: "spatial search without a spatial index", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a polygon or box search over a point column without a usable spatial index",
		Remedies: []cause.Way{cause.Plan("ddl", "add index", iikanji.RoleDatabase), cause.Patch}})

// findMissingSpatialIndex reports searches in a box of two coordinates without a spatial index: a B-tree
// serves the range of one coordinate only, so that all rows of a stripe are read.
func findMissingSpatialIndex(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil || len(blk.Refs) != 1 || blk.Refs[0].Table == nil {
			continue
		}
		columns := box(blk)
		count := max(1, d.Totals.Count)
		each, sent := d.Totals.Examined/count, float64(d.Query.Sent)/count
		if len(columns) != 2 || each < 100 || each < 5*sent {
			continue
		}
		f := iikanji.Finding{Code: "DB108", Where: d.Place(), Gain: cause.Between(d.Totals.Seconds, 0.2, 0.9), Evidence: d.WithEvidence(),
			Claim: fmt.Sprintf("%s is searched by a box of %s: %s rows are read for %s, because an index on numbers serves one side of a box only",
				blk.Refs[0].Table.Name, strings.Join(columns, " and "), cause.Number(each), cause.Number(sent)),
			Remedies: v.Patch("add a POINT column that is NOT NULL (with an SRID where the server needs one) with a spatial index, and search it with MBRContains or ST_Contains",
				map[string]string{"digest": d.Query.Digest, "table": blk.Refs[0].Table.Name})}
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// box lists the columns of coordinates that a block restricts from both sides.
func box(blk *index.Block) (columns []string) {
	ends := map[string]int{}
	for _, p := range blk.Predicates {
		c := blk.Column(p.ColumnAt)
		if p.Kind != index.PredRange || c == nil || !coordinate(c) {
			continue
		}
		if ends[p.Col] += max(1, p.N); ends[p.Col] == 2 {
			columns = append(columns, p.Col)
		}
	}
	slices.Sort(columns)
	return columns
}

// coordinate reports whether a column has a type of coordinates. Boxes of whole numbers
// are prices and sizes, whose ranges DB127 reports.
func coordinate(c *catalog.Column) bool {
	return strings.Contains(c.Type, "double") || strings.Contains(c.Type, "float") || strings.Contains(c.Type, "decimal")
}
