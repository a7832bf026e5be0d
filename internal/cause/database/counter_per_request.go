package database

import (
	"fmt"
	"regexp"

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
)

// counter matches the assignment of an UPDATE that adds to a column.
var counter = regexp.MustCompile("(?i)\\bset\\s+`?(\\w+)`?\\s*=\\s*`?(\\w+)`?\\s*\\+\\s*\\S+\\s+where\\b")

var counterPerRequest = cause.Declare(cause.PerDatabase, findCounterPerRequest,
	cause.Cause{Code: "DB137", Title: "a counter for each request", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "each request that reads writes a row, with a commit of its own",
		Remedies: []cause.Way{cause.Patch}})

// findCounterPerRequest reports requests that only read, each of which adds to a counter in a row, with
// a commit of its own: views, downloads, hits. The sums can be kept in memory and
// written once a second.
func findCounterPerRequest(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, d := range v.Digests {
		m := counter.FindStringSubmatch(d.Query.Fingerprint)
		if m == nil || m[1] != m[2] || d.Parsed == nil || d.Parsed.Verb != "update" || d.Totals.Count < leastCounted {
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
		f := iikanji.Finding{Code: "DB137", Where: routes[0].Key,
			Claim:    fmt.Sprintf("%s requests that read add to the counter %s, each with a commit of its own", cause.Number(d.Totals.Count), m[1]),
			Evidence: d.WithEvidence(), Gain: cause.Between(d.Left()+d.Totals.Count*(cause.RoundTrip+commitTime), 0.5, 1),
			Remedies: v.Patch("sum up in memory, and write the sums once a second in one transaction: the newest second may be lost in a crash", map[string]string{"digest": d.Query.Digest, "column": m[1]})}
		if v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}
