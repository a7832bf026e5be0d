package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

const (
	oneByOne     = 1000.0 // executions of an INSERT that are worth a word
	leastBundle  = 1.5    // of them in each transaction, or in a row, at the least
	oneRowWrites = 1.5    // rows affected by one row of VALUES at the most, none found there
	upsertWrites = 2.0    // and with some found there: the server counts two for each
)

// db119 reports rows that arrive together and are inserted one by one: several
// single-row INSERTs of one digest in each transaction, or, where each commits
// itself, one after the other on a connection.
func db119(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.digests {
		if d.st == nil || d.st.into == nil || d.q.Count < oneByOne || !d.singleRow() {
			continue
		}
		b, ok := v.bundles(d)
		each := d.q.Count / b.n
		if !ok || each < leastBundle || !v.felt((d.q.Count-b.n)*costStatement) {
			continue
		}
		trips := (d.q.Count - b.n) * roundTrip
		out = append(out, iikanji.Finding{Code: "DB119", Where: d.place(),
			Claim:    fmt.Sprintf("%s rows go into %s one by one, at least %.1f %s", people(d.q.Count), d.st.into.Name, each, b.of),
			Evidence: d.told(b.seen),
			Gain:     iikanji.Range{Lo: round(0.2*d.q.Seconds*(1-1/each) + trips/2), Hi: round(0.8*d.q.Seconds*(1-1/each) + trips)},
			Remedies: v.patch("insert them with one statement: VALUES (…), (…)", map[string]string{"digest": d.Query.Digest, "table": d.st.into.Name}),
		})
	}
	return out
}

// singleRow says whether a digest inserts one row at a time: its example does,
// and what the server counted does not contradict. A digest may have other
// numbers of rows than its example, and of an example that is cut off in its
// rows nobody knows how many there are, unless the server counted.
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

// A bundle is how many times the rows of a digest arrived together.
type bundle struct {
	n    float64
	of   string // for people
	seen iikanji.Evidence
}

// bundles finds out which executions belong together: those of one transaction,
// or those in series on one connection. Series alone prove nothing, because
// requests follow each other on a connection: there have to be more executions
// than requests of their route, or of the whole run.
func (v *view) bundles(d digest) (bundle, bool) {
	ended := v.transactionsWith(d)
	if ended == 0 && !v.threaded() {
		ended = v.commits()
	}
	if ended > 0 {
		return bundle{ended, "in each transaction", iikanji.Evidence{Source: "commits", Text: people(ended) + " commits of transactions that may hold it"}}, true
	}
	r, requests := v.repeat(d), v.requests()
	if d.route != nil && d.route.each > 0 {
		requests = d.q.Count / d.route.each
	}
	seen, _ := v.series(d)
	return bundle{max(d.q.Count-float64(r.Count), requests), "in a row, each committing itself", seen},
		requests > 0 && float64(r.Count) >= d.q.Count/2
}

// commits is the COMMITs of the run, as the server counted or the log has them.
func (v *view) commits() float64 {
	n := v.status["com_commit"]
	for _, d := range v.digests {
		if strings.EqualFold(strings.TrimRight(strings.TrimSpace(d.q.SQL), "; "), "commit") && v.status["com_commit"] == 0 {
			n += d.q.Count
		}
	}
	return n
}

// transactionsWith counts the transactions that a digest is part of, where the
// log knows threads.
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
