package database

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// byKey matches the condition of a write that names its rows by a value.
var byKey = regexp.MustCompile(`(?i)\bwhere\b.*=\s*[?'0-9]`)

// writeLoop finds an UPDATE or DELETE that is sent in a loop: three times or more for each request
// of a route, or in each transaction. The number of executions alone decides: a write returns no
// rows that could be compared with those of a list.
func writeLoop(v *cause.View, d cause.Digest) (iikanji.Finding, bool) {
	if d.Parsed == nil || d.Parsed.Verb != "update" && d.Parsed.Verb != "delete" || d.Totals.Count < cause.ManyRuns || !byKey.MatchString(d.Query.Fingerprint) {
		return iikanji.Finding{}, false
	}
	few, often, seen := d.Totals.Count, "", []iikanji.Evidence(nil)
	if i := slices.IndexFunc(d.Senders, inLoop); i >= 0 {
		s := d.Senders[i]
		d.Route = &s
		few, often = d.Totals.Count*(1-s.Share*(1-1/s.Each)), fmt.Sprintf("%s times in each %s", times(s.Each), s.Route)
	} else if b, ok := bundles(v, d); ok && d.Totals.Count >= manyPerRoute*b.n {
		few, often, seen = b.n, fmt.Sprintf("%s times %s", times(d.Totals.Count/b.n), b.of), append(seen, b.seen)
	}
	if often == "" || !v.Considerable(looped(d, few)) {
		return iikanji.Finding{}, false
	}
	saved := 1 - few/d.Totals.Count
	trips := d.Totals.Count * saved * cause.RoundTrip
	how := "write all of them by one statement: a CASE for each row and WHERE … IN (…), or INSERT … ON DUPLICATE KEY UPDATE where the rows exist"
	if d.Parsed.Verb == "delete" {
		how = "delete all of them by one statement: WHERE … IN (…)"
	}
	args := map[string]string{"digest": d.Query.Digest}
	if d.Route != nil {
		args["route"] = d.Route.Route
	}
	return iikanji.Finding{Code: "DB113", Where: d.Place(), Claim: fmt.Sprintf("%s runs %s: it is sent in a loop", cause.Cut(d.Query.Fingerprint, 60), often),
		Evidence: d.WithEvidence(seen...), // the rows are written all the same
		Gain:     iikanji.Range{Lo: cause.Round(trips / 2), Hi: cause.Round(0.6*d.Left()*saved + trips)},
		Remedies: v.Patch(how, args)}, true
}

// inLoop reports whether a route sends a statement several times for each request.
func inLoop(f cause.Sender) bool { return f.Each >= manyPerRoute && f.Each-2*f.Err >= cause.FewPerRow }
