package cause

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	fewCounters = 16.0  // most rows of a table of counters
	manyIDs     = 500.0 // least executions in a run
	eachCounter = 100.0 // least executions per row: every execution writes a row again
	idWriteLeft = 0.05  // share of the time that ids in blocks of 20 or more still need
)

var idsFromTable = Declare(PerDatabase, findIdsFromTable,
	Cause{Code: "DB123", Title: "ids from a table", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "each new id writes one row again, and commits",
		Remedies: []Way{Patch}})

// findIdsFromTable reports ids that are taken from a table: each id writes one of a few rows again,
// and commits. Two forms are certain: REPLACE, or INSERT … ON DUPLICATE KEY UPDATE, into
// a table of few rows that numbers its rows itself, and an UPDATE that returns the
// counter by LAST_INSERT_ID(…).
func findIdsFromTable(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		if !d.dispenses() || !v.considerable(d.q.Count*costStatement) {
			continue
		}
		evidence := iikanji.Evidence{Source: "schema", Text: fmt.Sprintf("%s has %s", d.st.into.Name, plural(d.st.into.rows(), "row"))}
		each := d.q.Count / max(1, v.requests())
		claim := fmt.Sprintf("%s ids are taken from table %s, each with a write and a commit of its own", people(d.q.Count), d.st.into.Name)
		if v.requests() > 0 && each >= manyPerRequest {
			claim += fmt.Sprintf(", %.1f for each request of the run", each)
		}
		out = append(out, iikanji.Finding{Code: "DB123", Where: d.place(), Claim: claim,
			Evidence: d.withEvidence(evidence),
			Gain:     iikanji.Range{Lo: round(d.q.Seconds * 0.5), Hi: round(d.q.Seconds*(1-idWriteLeft) + d.q.Count*roundTrip)},
			Remedies: v.patch("make ids in the app: take a block of them with one write, or use the time and a counter of the process, or random ids",
				map[string]string{"digest": d.Query.Digest, "table": d.st.into.Name}),
		})
	}
	return out
}

// dispenses reports whether each execution of a digest writes one of a few rows again to
// get a new number.
func (d digest) dispenses() bool {
	if d.st == nil || d.st.into == nil || d.q.Count < manyIDs || d.st.into.rows() > fewCounters || d.q.Count < eachCounter*d.st.into.rows() {
		return false
	}
	switch {
	case d.st.verb == "update":
		return strings.Contains(strings.ToLower(d.q.SQL), "last_insert_id(")
	case d.st.verb == "replace", d.st.verb == "insert" && d.st.upsert:
		return d.singleRow() && (d.st.into.numbered() || strings.Contains(strings.ToLower(d.q.SQL), "last_insert_id("))
	}
	return false
}

// numbered reports whether the server numbers new rows of the table.
func (t *table) numbered() bool {
	for _, c := range t.Columns {
		if c.Auto {
			return true
		}
	}
	return false
}
