package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

const (
	spillEach  = 2000.0 // work to create a temporary table on disk, without its rows
	spillLeast = 10.0   // least number of such tables in a run
	spillSize  = "67108864"
)

var temporaryTableOnDisk = Declare(PerDatabase, findTemporaryTableOnDisk,
	Cause{Code: "DB109", Title: "temporary table on disk", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "a GROUP BY, DISTINCT or UNION spills because of its size or because of a blob",
		Remedies: []Way{Plan("mysqlconf", "", iikanji.RoleDatabase), Patch}})

// findTemporaryTableOnDisk reports temporary tables that went to disk because of a large column or
// of their size, unless an advised index makes them unnecessary.
func findTemporaryTableOnDisk(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		n := float64(d.Query.TmpDisk)
		if n < spillLeast || v.noTemp(d) || !v.considerable(n*spillEach) {
			continue
		}
		f := iikanji.Finding{Code: "DB109", Where: d.place(),
			Claim:    fmt.Sprintf("%s of %s executions write a temporary table to disk", people(n), people(d.q.Count)),
			Evidence: d.withEvidence(iikanji.Evidence{Source: "variable", Text: "tmp_table_size = " + v.vars["tmp_table_size"] + ", max_heap_table_size = " + v.vars["max_heap_table_size"]}),
			Gain:     between(d.left(), 0.1, 0.6),
		}
		if col := longColumn(d); col != "" {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "schema", Text: "column " + col + " is too long for a temporary table in memory"})
			f.Remedies = v.patch("leave "+col+" out of the grouping and fetch it by key afterwards", map[string]string{"digest": d.Query.Digest, "column": col})
		} else {
			f.Remedies = []iikanji.Remedy{v.onSelf("mysqlconf", "keep temporary tables of up to 64 MiB in memory", map[string]string{"tmp_table_size": spillSize, "max_heap_table_size": spillSize})}
		}
		out = append(out, f)
	}
	return out
}

// noTemp reports whether an advised index saves a digest its temporary table.
func (v *view) noTemp(d digest) bool {
	for _, p := range v.advice.Add {
		for _, s := range p.Serves {
			if s.Query.Digest == d.Query.Digest && s.TempBefore && !s.TempAfter {
				return true
			}
		}
	}
	return false
}

// longColumn is a column that a digest reads and that does not fit into a
// temporary table in memory.
func longColumn(d digest) string {
	if d.st == nil {
		return ""
	}
	best := ""
	for _, blk := range d.st.blocks {
		for r, ref := range blk.refs {
			if ref.table == nil {
				continue
			}
			for col, c := range ref.table.columns {
				if c.Long() && (blk.all[r] || blk.used[r][col]) && (best == "" || c.Name < best) {
					best = c.Name
				}
			}
		}
	}
	return best
}
