package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	oneByOne     = 1000.0 // least executions of an INSERT
	leastBundle  = 1.5    // least executions per transaction, or in a row
	oneRowWrites = 1.5    // most rows affected by one row of VALUES if no row exists
	upsertWrites = 2.0    // the same if rows exist: the server counts 2 for each
)

var singleRowInserts = Declare(PerDatabase, findSingleRowInserts,
	Cause{Code: "DB119", Title: "single-row inserts", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "rows that arrive together are inserted one by one",
		Remedies: []Way{Patch}})

// findSingleRowInserts reports rows that arrive together and are inserted one by one: several
// single-row INSERTs of one digest in each transaction, or, if each commits
// itself, in series on a connection.
func findSingleRowInserts(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		if d.st == nil || d.st.into == nil || d.q.Count < oneByOne || !d.singleRow() || d.dispenses() {
			continue
		}
		b, ok := v.bundles(d)
		each := d.q.Count / b.n
		if !ok || each < leastBundle || !v.considerable((d.q.Count-b.n)*costStatement) {
			continue
		}
		trips := (d.q.Count - b.n) * roundTrip
		out = append(out, iikanji.Finding{Code: "DB119", Where: d.place(),
			Claim:    fmt.Sprintf("%s rows are inserted into %s one by one, at least %.1f %s", people(d.q.Count), d.st.into.Name, each, b.of),
			Evidence: d.withEvidence(b.seen),
			Gain:     iikanji.Range{Lo: round(0.2*d.q.Seconds*(1-1/each) + trips/2), Hi: round(0.8*d.q.Seconds*(1-1/each) + trips)},
			Remedies: v.patch("insert them with one statement: VALUES (…), (…)", map[string]string{"digest": d.Query.Digest, "table": d.st.into.Name}),
		})
	}
	return out
}

// singleRow reports whether a digest inserts one row at a time: its example
// does, and the server's count agrees. Other executions of the digest may have
// more rows than the example. If the example is cut off within its rows, only
// the server's count is reliable.
func (d digest) singleRow() bool {
	st := d.st
	if st.verb != "insert" && st.verb != "replace" || st.rows != 1 || st.cut && d.q.Affected == 0 {
		return false
	}
	if st.upsert || st.verb == "replace" {
		return d.q.Affected <= upsertWrites*d.q.Count && !(st.cut && d.q.Affected > oneRowWrites*d.q.Count)
	}
	return d.q.Affected <= oneRowWrites*d.q.Count
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
func (v *view) bundles(d digest) (bundle, bool) {
	ended := v.transactionsWith(d)
	if ended == 0 && !v.threaded() {
		ended = v.commits()
	}
	if ended > 0 {
		return bundle{ended, "per transaction", iikanji.Evidence{Source: "commits", Text: people(ended) + " commits of transactions that may contain it"}}, true
	}
	if v.files() && !v.threaded() && d.route != nil && d.route.each >= manyPerRoute { // a trace has no connections
		return bundle{d.q.Count / d.route.each, "for each request", iikanji.Evidence{Source: "routes", Text: fmt.Sprintf("%.1f executions for each request of %s", d.route.each, d.route.route)}}, true
	}
	r, requests := v.repeat(d), v.requests()
	if d.route != nil && d.route.each > 0 {
		requests = d.q.Count / d.route.each
	}
	seen, _ := v.series(d)
	return bundle{max(d.q.Count-float64(r.Count), requests), "in a row, each in its own transaction", seen},
		requests > 0 && float64(r.Count) >= d.q.Count/2
}

// commits is the number of COMMITs of the run, by the server's counter or by
// the log.
func (v *view) commits() float64 {
	n := v.status["com_commit"]
	for _, d := range v.digests {
		if strings.EqualFold(strings.TrimRight(strings.TrimSpace(d.q.SQL), "; "), "commit") && v.status["com_commit"] == 0 {
			n += d.q.Count
		}
	}
	return n
}

// transactionsWith counts the transactions that contain a digest, if the log
// identifies threads.
func (v *view) transactionsWith(d digest) float64 {
	n := 0.0
	for _, p := range v.in.Profiles {
		for _, t := range p.Transactions {
			if slices.Contains(t.Digests, d.Query.Digest) {
				n += float64(t.Count)
			}
		}
	}
	return n
}
