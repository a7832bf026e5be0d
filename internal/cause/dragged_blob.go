package cause

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	blobLeast  = 1024.0 // bytes per row: shorter values are stored in the page of the row
	blobAlong  = 2000.0 // bytes that cost about as much as the rest of a row
	blobPerRun = 10e6   // bytes per run: less has no measurable effect
)

var draggedBlob = Declare(PerDatabase, findDraggedBlob,
	Cause{Code: "DB111", Title: "blob dragged along", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a frequent query carries a large column through every row that it reads",
		Remedies: []Way{Patch}})

// findDraggedBlob reports large columns in results beside other columns: SELECT * over a
// table with a blob or a long text, or a blob in a list of columns. A text in a
// list of columns is usually displayed, and a statement that reads only the
// blob needs it. Whether the caller uses the column is not visible from the
// server: the lower end of the gain is 0.
func findDraggedBlob(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		blk := d.block()
		if blk == nil {
			continue
		}
		for r := range blk.refs {
			col, bytes := blk.blob(r)
			rows := d.q.Sent
			if blk.refs[r].semi || bytes < blobLeast || bytes*rows < blobPerRun {
				continue
			}
			share := bytes / (bytes + blobAlong)
			f := iikanji.Finding{Code: "DB111", Where: d.place(),
				Claim: fmt.Sprintf("column %s of %s, %s per row, is read and sent %s times, %s in all", col, blk.refs[r].table.Name,
					iikanji.Bytes(bytes), people(rows), iikanji.Bytes(bytes*rows)),
				Evidence: d.withEvidence(),
				Gain:     between(d.left(), 0, 0.9*share),
				Remedies: v.patch("select only the needed columns, without "+col+"; store large columns in files or in a separate table", map[string]string{"digest": d.Query.Digest, "column": col}),
			}
			if v.considerable(rows * bytes / blobAlong * (1 + costLook)) {
				out = append(out, f)
			}
		}
	}
	return out
}

// blob is the largest long column that a block reads of a ref beside other
// columns, and its mean length; 0 for none.
func (blk *block) blob(r int) (name string, bytes float64) {
	t := blk.refs[r].table
	if t == nil || !blk.all[r] && len(blk.outs) < 3 {
		return "", 0
	}
	for col, c := range t.columns {
		if !c.Long() || !blk.all[r] && (!blk.used[r][col] || !strings.Contains(c.Type, "blob")) {
			continue
		}
		if n := t.length(c.Name); n > bytes || n == bytes && c.Name < name {
			name, bytes = c.Name, n
		}
	}
	return name, bytes
}
