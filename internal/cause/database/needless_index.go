package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/lang/catalog"
	"github.com/iikanji/iikanji/internal/site/fact"
)

// entrySeconds is the time to write one entry of a secondary index in memory.
// It is a range because pages may have to be split or read.
var entrySeconds = iikanji.Range{Lo: 3e-6, Hi: 20e-6}

// costWrite is the time to write such an entry, in units of work.
const costWrite = 10.0

var needlessIndex = cause.Declare(cause.PerDatabase, findNeedlessIndex,
	cause.Cause{Code: "DB103", Title: "redundant index", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "another index serves every query that this one serves",
		Remedies: []cause.Way{cause.Plan("ddl", "drop index", iikanji.RoleDatabase)}},
	cause.Cause{Code: "DB104", Title: "unused index", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "every write maintains an index that no query of the run could use",
		Remedies: []cause.Way{cause.Plan("ddl", "drop index", iikanji.RoleDatabase)}})

// findNeedlessIndex reports indexes to drop: DB103 redundant, DB104 unused. Their gain is
// the cost of the rows written to them; an index without writes is not
// reported.
func findNeedlessIndex(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Advice.Drop {
		f := iikanji.Finding{Code: "DB103", Where: tableName(d.Table) + " " + d.Index.Name,
			Gain:     iikanji.Range{Lo: cause.Round(d.Writes * entrySeconds.Lo), Hi: cause.Round(d.Writes * entrySeconds.Hi)},
			Claim:    fmt.Sprintf("index %s %s is redundant: index %s serves the same queries", d.Index.Name, shown(d.Index), d.By),
			Evidence: []iikanji.Evidence{{Source: "schema", Text: fmt.Sprintf("%s of %s: %s", d.Index.Name, d.Table.Name, shown(d.Index))}},
		}
		if d.By == "" {
			f.Code = "DB104"
			f.Claim = fmt.Sprintf("no statement of the run reads %s by index %s %s, but %s written rows maintained it",
				d.Table.Name, d.Index.Name, shown(d.Index), cause.Number(d.Writes))
		} else {
			for _, ix := range d.Table.Indexes {
				if ix.Name == d.By {
					f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s of %s: %s", ix.Name, d.Table.Name, shown(ix))})
				}
			}
		}
		if d.Writes == 0 || d.By == "" && (!v.Considerable(d.Writes*costWrite) || planned(v, d.Table, d.Index.Name)) {
			continue
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "digests", Text: cause.Number(d.Writes) + " rows written in the run"})
		r := v.OnSelf("ddl", "drop index "+d.Index.Name+" of "+d.Table.Name, map[string]string{"act": "drop index", "schema": d.Table.Schema, "table": d.Table.Name, "name": d.Index.Name})
		f.Remedies = []iikanji.Remedy{ordered(v, r, d.Table, d.Index)}
		out = append(out, f)
	}
	return out
}

// planned reports whether a query plan of the run, of the slowest or of a typical
// example, uses an index of a table.
func planned(v *cause.View, t catalog.Table, index string) bool {
	for _, p := range cause.FactsOf(v, fact.TopicPlan) {
		names := strings.Contains(strings.ToLower(p.SQL), strings.ToLower(t.Name))
		if names && slices.ContainsFunc(p.Steps, func(s catalog.QueryStep) bool { return strings.EqualFold(s.Key, index) }) {
			return true
		}
	}
	return false
}
