package database

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	spillEach  = 2000.0 // work to create a temporary table on disk, without its rows
	spillLeast = 10.0   // least number of such tables in a run
	spillSize  = "67108864"
)

var temporaryTableOnDisk = cause.Declare(cause.PerDatabase, findTemporaryTableOnDisk,
	cause.Cause{Code: "DB109", Title: "temporary table on disk", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "a GROUP BY, DISTINCT or UNION spills because of its size or because of a blob",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase), cause.Patch}})

// findTemporaryTableOnDisk reports temporary tables that went to disk because of a large column or
// of their size, unless an advised index makes them unnecessary.
func findTemporaryTableOnDisk(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		n := float64(d.Query.TmpDisk)
		if n < spillLeast || noTemp(v, d) || !v.Considerable(n*spillEach) {
			continue
		}
		f := iikanji.Finding{Code: "DB109", Where: d.Place(),
			Claim:    fmt.Sprintf("%s of %s executions write a temporary table to disk", cause.Number(n), cause.Number(d.Totals.Count)),
			Evidence: d.WithEvidence(iikanji.Evidence{Source: "variable", Text: "tmp_table_size = " + v.Variables["tmp_table_size"] + ", max_heap_table_size = " + v.Variables["max_heap_table_size"]}),
			Gain:     cause.Between(d.Left(), 0.1, 0.6),
		}
		if col := longColumn(d); col != "" {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "schema", Text: "column " + col + " is too long for a temporary table in memory"})
			f.Remedies = v.Patch("leave "+col+" out of the grouping and fetch it by key afterwards", map[string]string{"digest": d.Query.Digest, "column": col})
		} else {
			f.Remedies = []iikanji.Remedy{v.OnSelf("mysqlconf", "keep temporary tables of up to 64 MiB in memory", map[string]string{"tmp_table_size": spillSize, "max_heap_table_size": spillSize})}
		}
		out = append(out, f)
	}
	return out
}

// noTemp reports whether an advised index saves a digest its temporary table.
func noTemp(v *cause.View, d cause.Digest) bool {
	for _, p := range v.Advice.Add {
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
func longColumn(d cause.Digest) string {
	if d.Parsed == nil {
		return ""
	}
	best := ""
	for _, blk := range d.Parsed.Blocks {
		for r, ref := range blk.Refs {
			if ref.Table == nil {
				continue
			}
			for col, c := range ref.Table.ByName {
				if c.Long() && (blk.All[r] || blk.Used[r][col]) && (best == "" || c.Name < best) {
					best = c.Name
				}
			}
		}
	}
	return best
}
