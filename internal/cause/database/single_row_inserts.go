package database

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

const (
	oneByOne     = 1000.0 // least executions of an INSERT
	leastBundle  = 1.5    // least executions per transaction, or in a row
	oneRowWrites = 1.5    // most rows affected by one row of VALUES if no row exists
	upsertWrites = 2.0    // the same if rows exist: the server counts 2 for each
)

var singleRowInserts = cause.Declare(cause.PerDatabase, findSingleRowInserts,
	cause.Cause{Code: "DB119", Title: "single-row inserts", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "rows that arrive together are inserted one by one",
		Remedies: []cause.Way{cause.Patch}})

// findSingleRowInserts reports rows that arrive together and are inserted one by one: several
// single-row INSERTs of one digest in each transaction, or, if each commits
// itself, in series on a connection.
func findSingleRowInserts(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		if d.Parsed == nil || d.Parsed.Into == nil || d.Totals.Count < oneByOne || !singleRow(d) || dispenses(d) {
			continue
		}
		b, ok := bundles(v, d)
		each := d.Totals.Count / b.n
		if !ok || each < leastBundle || !v.Considerable((d.Totals.Count-b.n)*index.CostStatement) {
			continue
		}
		trips := (d.Totals.Count - b.n) * cause.RoundTrip
		out = append(out, iikanji.Finding{Code: "DB119", Where: d.Place(),
			Claim:    fmt.Sprintf("%s rows are inserted into %s one by one, at least %.1f %s", cause.Number(d.Totals.Count), d.Parsed.Into.Name, each, b.of),
			Evidence: d.WithEvidence(b.seen),
			Gain:     iikanji.Range{Lo: cause.Round(0.2*d.Totals.Seconds*(1-1/each) + trips/2), Hi: cause.Round(0.8*d.Totals.Seconds*(1-1/each) + trips)},
			Remedies: v.Patch("insert them with one statement: VALUES (…), (…)", map[string]string{"digest": d.Query.Digest, "table": d.Parsed.Into.Name}),
		})
	}
	return out
}

// singleRow reports whether a digest inserts one row at a time: its example
// does, and the server's count agrees. Other executions of the digest may have
// more rows than the example. If the example is cut off within its rows, only
// the server's count is reliable.
func singleRow(d cause.Digest) bool {
	st := d.Parsed
	if st.Verb != "insert" && st.Verb != "replace" || st.Rows != 1 || st.Cut && d.Totals.Affected == 0 {
		return false
	}
	if st.Upsert || st.Verb == "replace" {
		return d.Totals.Affected <= upsertWrites*d.Totals.Count && !(st.Cut && d.Totals.Affected > oneRowWrites*d.Totals.Count)
	}
	return d.Totals.Affected <= oneRowWrites*d.Totals.Count
}

// A bundle is the number of groups in which the rows of a digest arrived.
type bundle struct {
	n    float64
	of   string // what they are counted by, for people
	seen iikanji.Evidence
}

// bundles groups the executions that belong together: those of one transaction,
// or those in series on one connection. A series alone proves nothing, because
// requests follow each other on a connection: there must be more executions
// than requests of their route, or of the whole run.
func bundles(v *cause.View, d cause.Digest) (bundle, bool) {
	ended := transactionsWith(v, d)
	if ended == 0 && !v.Threaded() {
		ended = commits(v)
	}
	if ended > 0 {
		return bundle{ended, "per transaction", iikanji.Evidence{Source: "commits", Text: cause.Number(ended) + " commits of transactions that may contain it"}}, true
	}
	if files(v) && !v.Threaded() && d.Route != nil && d.Route.Each >= manyPerRoute { // a trace has no connections
		return bundle{d.Totals.Count / d.Route.Each, "for each request", iikanji.Evidence{Source: "routes", Text: fmt.Sprintf("%.1f executions for each request of %s", d.Route.Each, d.Route.Route)}}, true
	}
	r, requests := v.Repeat(d), v.Requests()
	if d.Route != nil && d.Route.Each > 0 {
		requests = d.Totals.Count / d.Route.Each
	}
	seen, _ := series(v, d)
	return bundle{max(d.Totals.Count-float64(r.Count), requests), "in a row, each in its own transaction", seen},
		requests > 0 && float64(r.Count) >= d.Totals.Count/2
}

// commits is the number of COMMITs of the run, by the server's counter or by
// the log.
func commits(v *cause.View) float64 {
	n := v.Status["com_commit"]
	for _, d := range v.Digests {
		if strings.EqualFold(strings.TrimRight(strings.TrimSpace(d.Totals.SQL), "; "), "commit") && v.Status["com_commit"] == 0 {
			n += d.Totals.Count
		}
	}
	return n
}

// transactionsWith counts the transactions that contain a digest, if the log
// identifies threads.
func transactionsWith(v *cause.View, d cause.Digest) float64 {
	n := 0.0
	for _, p := range v.Input.Profiles {
		for _, t := range p.Transactions {
			if slices.Contains(t.Digests, d.Query.Digest) {
				n += float64(t.Count)
			}
		}
	}
	return n
}
