package database

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastCounted is the least number of such writes, and countedEach the least for
	// each request of the routes that send them.
	leastCounted = 20
	countedEach  = 0.5
	// commitTime is what a commit of its own costs at least, in seconds: the log is
	// written, and the change of the row, with the undo of it.
	commitTime = 150e-6
	// mostChanged is the most rows for each execution that a statement changes which is sent in
	// vain: where every second one changes a row, asking before costs as much as it saves.
	mostChanged = 0.5
)

// counter matches the assignment of an UPDATE that adds to a column.
var counter = regexp.MustCompile("(?i)\\bset\\s+`?(\\w+)`?\\s*=\\s*`?(\\w+)`?\\s*\\+\\s*\\S+\\s+where\\b")

var writePerRead = cause.Declare(cause.PerDatabase, findWritePerRead,
	cause.Cause{Code: "DB137", Title: "a write for each request that reads", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "requests that read add to a counter, or mark rows that are marked already",
		Remedies: []cause.Way{cause.Patch}})

// findWritePerRead reports writes of GET requests, of two sorts. A counter (views, downloads, hits)
// adds to a column of a row, with a commit of its own: the app can keep the sums in memory and
// write them once a second. A write in vain changes no row most of the time, as when it marks
// messages as read again: the app can send a SELECT before it.
func findWritePerRead(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		if d.Parsed == nil || d.Parsed.Verb != "update" && d.Parsed.Verb != "delete" || d.Totals.Count < leastCounted {
			continue
		}
		routes, requests := v.RoutesSending(d), 0.0
		for _, r := range routes {
			if !cause.IsGet(r.Key) {
				requests = 0
				break
			}
			requests += float64(r.Count)
		}
		if requests == 0 || d.Totals.Count < countedEach*requests {
			continue
		}
		f, ok := counted(v, d)
		if f.Where = routes[0].Key; !ok { // a route may send several of the other sort
			f, ok = inVain(v, d)
			if f.Where = d.Place(); d.Route == nil {
				f.Where = routes[0].Key + ": " + f.Where
			}
		}
		if ok && v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// counted is the finding about a counter.
func counted(v *cause.View, d cause.Digest) (iikanji.Finding, bool) {
	m := counter.FindStringSubmatch(d.Query.Fingerprint)
	if m == nil || m[1] != m[2] || d.Parsed.Verb != "update" {
		return iikanji.Finding{}, false
	}
	return iikanji.Finding{Code: "DB137",
		Claim:    fmt.Sprintf("%s requests that read add to the counter %s, each with a commit of its own", cause.Number(d.Totals.Count), m[1]),
		Evidence: d.WithEvidence(), Gain: cause.Between(d.Left()+d.Totals.Count*(cause.RoundTrip+commitTime), 0.5, 1),
		Remedies: v.Patch("sum up in memory, and write the sums once a second in one transaction: the newest second may be lost in a crash", map[string]string{"digest": d.Query.Digest, "column": m[1]})}, true
}

// inVain is the finding about a statement that mostly changes no row. Most sources do not count
// the changed rows: one of them has such a number for some statement.
func inVain(v *cause.View, d cause.Digest) (iikanji.Finding, bool) {
	known := slices.ContainsFunc(v.Digests, func(o cause.Digest) bool { return o.Query.Affected > 0 })
	changed := float64(d.Query.Affected) / d.Totals.Count
	if !known || changed > mostChanged {
		return iikanji.Finding{}, false
	}
	return iikanji.Finding{Code: "DB137",
		Claim: fmt.Sprintf("%s requests that read send %s, which changed %s", cause.Number(d.Totals.Count), cause.Cut(d.Query.Fingerprint, 60),
			cause.Plural(float64(d.Query.Affected), "row")),
		Evidence: d.WithEvidence(), Gain: cause.Between((d.Left()+d.Totals.Count*cause.RoundTrip)*(1-changed), 0.5, 1),
		Remedies: v.Patch("send it only if there is something to change: the rows that the request reads show that, or ask before by a SELECT with the same condition; without it, the transaction around it only reads",
			map[string]string{"digest": d.Query.Digest})}, true
}
