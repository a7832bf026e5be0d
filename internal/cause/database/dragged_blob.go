package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

const (
	blobLeast  = 1024.0 // bytes per row: shorter values are stored in the page of the row
	blobAlong  = 2000.0 // bytes that cost about as much as the rest of a row
	blobPerRun = 10e6   // bytes per run: less has no measurable effect
)

var draggedBlob = cause.Declare(cause.PerDatabase, findDraggedBlob,
	cause.Cause{Code: "DB111", Title: "blob dragged along", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a frequent query carries a large column through every row that it reads",
		Remedies: []cause.Way{cause.Patch}})

// findDraggedBlob reports large columns in results beside other columns: SELECT * over a
// table with a blob or a long text, or a blob in a list of columns. A text in a
// list of columns is usually displayed, and a statement that reads only the
// blob needs it. Whether the caller uses the column is not visible from the
// server: the lower end of the gain is 0.
func findDraggedBlob(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		blk := d.Block()
		if blk == nil {
			continue
		}
		for r := range blk.Refs {
			col, bytes := blob(blk, r)
			rows := d.Totals.Sent
			if blk.Refs[r].Semi || bytes < blobLeast || bytes*rows < blobPerRun {
				continue
			}
			share := bytes / (bytes + blobAlong)
			f := iikanji.Finding{Code: "DB111", Where: d.Place(),
				Claim: fmt.Sprintf("column %s of %s, %s per row, is read and sent %s times, %s in all", col, blk.Refs[r].Table.Name,
					iikanji.Bytes(bytes), cause.Number(rows), iikanji.Bytes(bytes*rows)),
				Evidence: d.WithEvidence(),
				Gain:     cause.Between(d.Left(), 0, 0.9*share),
				Remedies: v.Patch("select only the needed columns, without "+col+"; store large columns in files or in a separate table", map[string]string{"digest": d.Query.Digest, "column": col}),
			}
			if v.Considerable(rows * bytes / blobAlong * (1 + index.CostLook)) {
				out = append(out, f)
			}
		}
	}
	return out
}

// blob is the largest long column that a block reads of a ref beside other
// columns, and its mean length; 0 for none.
func blob(blk *index.Block, r int) (name string, bytes float64) {
	t := blk.Refs[r].Table
	if t == nil || !blk.All[r] && len(blk.Outputs) < 3 {
		return "", 0
	}
	for col, c := range t.ByName {
		if !c.Long() || !blk.All[r] && (!blk.Used[r][col] || !strings.Contains(c.Type, "blob")) {
			continue
		}
		if n := t.Length(c.Name); n > bytes || n == bytes && c.Name < name {
			name, bytes = c.Name, n
		}
	}
	return name, bytes
}
