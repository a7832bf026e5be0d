package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

const (
	fewCounters = 16.0  // most rows of a table of counters
	manyIDs     = 500.0 // least executions in a run
	eachCounter = 100.0 // least executions per row: every execution writes a row again
	idWriteLeft = 0.05  // share of the time that ids in blocks of 20 or more still need
)

var idsFromTable = cause.Declare(cause.PerDatabase, findIdsFromTable,
	cause.Cause{Code: "DB123", Title: "ids from a table", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "each new id writes one row again, and commits",
		Remedies: []cause.Way{cause.Patch}})

// findIdsFromTable reports ids that are taken from a table: each id writes one of a few rows again,
// and commits. Two forms are certain: REPLACE, or INSERT … ON DUPLICATE KEY UPDATE, into
// a table of few rows that numbers its rows itself, and an UPDATE that returns the
// counter by LAST_INSERT_ID(…).
func findIdsFromTable(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		if !dispenses(d) || !v.Considerable(d.Totals.Count*index.CostStatement) {
			continue
		}
		evidence := iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s has %s", d.Parsed.Into.Name, cause.Plural(d.Parsed.Into.Rows(), "row"))}
		each := d.Totals.Count / max(1, v.Requests())
		claim := fmt.Sprintf("%s ids are taken from table %s, each with a write and a commit of its own", cause.Number(d.Totals.Count), d.Parsed.Into.Name)
		if v.Requests() > 0 && each >= manyPerRequest {
			claim += fmt.Sprintf(", %.1f for each request of the run", each)
		}
		out = append(out, iikanji.Finding{Code: "DB123", Where: d.Place(), Claim: claim,
			Evidence: d.WithEvidence(evidence),
			Gain:     iikanji.Range{Lo: cause.Round(d.Totals.Seconds * 0.5), Hi: cause.Round(d.Totals.Seconds*(1-idWriteLeft) + d.Totals.Count*cause.RoundTrip)},
			Remedies: v.Patch("make ids in the app: take a block of them with one write, or use the time and a counter of the process, or random ids",
				map[string]string{"digest": d.Query.Digest, "table": d.Parsed.Into.Name}),
		})
	}
	return out
}

// dispenses reports whether each execution of a digest writes one of a few rows again to
// get a new number.
func dispenses(d cause.Digest) bool {
	if d.Parsed == nil || d.Parsed.Into == nil || d.Totals.Count < manyIDs || d.Parsed.Into.Rows() > fewCounters || d.Totals.Count < eachCounter*d.Parsed.Into.Rows() {
		return false
	}
	switch {
	case d.Parsed.Verb == "update":
		return strings.Contains(strings.ToLower(d.Totals.SQL), "last_insert_id(")
	case d.Parsed.Verb == "replace", d.Parsed.Verb == "insert" && d.Parsed.Upsert:
		return singleRow(d) && (numbered(d.Parsed.Into) || strings.Contains(strings.ToLower(d.Totals.SQL), "last_insert_id("))
	}
	return false
}

// numbered reports whether the server numbers new rows of the table.
func numbered(t *index.Table) bool {
	for _, c := range t.Columns {
		if c.Auto {
			return true
		}
	}
	return false
}
