package web

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	// leastBlobs is the least number of answers of a route whose statements are judged.
	leastBlobs = 20
	// besideEach is the least number of executions of a statement for each answer.
	besideEach = 0.5
)

var statementsBesideBlob = cause.Declare(cause.PerDatabase, findStatementsBesideBlob,
	cause.Cause{Code: "DB135", Title: "statements beside a blob", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "the answer is one value of the database, and the request sends other statements too",
		Remedies: []cause.Way{cause.Patch}})

// findStatementsBesideBlob reports statements that a route sends beside the one that reads its whole
// answer: a value of a blob column. What they return is not in the answer. Whether
// one of them decides if the client may have it is not visible: the lower end of the
// gain is 0.
func findStatementsBesideBlob(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, r := range v.Access() {
		served := float64(r.Web.Status[2])
		if !cause.IsGet(r.Key) || served < leastBlobs {
			continue
		}
		a, asked := v.Answered(r.Key)
		size := float64(r.Web.Bytes) / served
		if size < leastFile || asked && (a.File != "" || a.Status != 200 || textual(a.Type)) {
			continue
		}
		d, column, ok := readsBlob(v, size, served)
		if !ok {
			continue
		}
		if f := besideBlob(v, r.Key, served, d, column); len(f.Evidence) > 1 && v.Worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// besideBlob is the finding about the other statements of a route. It has no evidence if
// the route has no other statements.
func besideBlob(v *cause.View, route string, served float64, blob cause.Digest, column string) iikanji.Finding {
	f := iikanji.Finding{Code: "DB135", Where: route, Evidence: []iikanji.Evidence{blob.Evidence()}}
	bySource, count := v.SentBy(route), 0
	for _, d := range v.Digests {
		timed := slices.ContainsFunc(d.Senders, func(f cause.Sender) bool { return f.Route == route && f.Each >= besideEach })
		if d.Query.Digest == blob.Query.Digest || !bySource[d.Query.Digest] && !timed || d.Parsed == nil || d.Parsed.Verb != "select" || d.Totals.Count < besideEach*served {
			continue
		}
		count++
		f.Gain.Hi += served * (d.Left()/d.Totals.Count + cause.RoundTrip + viaApp.Lo)
		if len(f.Evidence) < 6 {
			f.Evidence = append(f.Evidence, d.Evidence())
		}
	}
	f.Gain.Hi = cause.Round(f.Gain.Hi)
	f.Claim = fmt.Sprintf("each of %s answers is a value of %s, and its request sends %s: unless one of them decides who may have the answer, nothing uses their results",
		cause.Number(served), column, cause.Plural(float64(count), "other statement"))
	f.Remedies = v.Patch("read only this column for this route, by a function of its own", map[string]string{"route": route, "digest": blob.Query.Digest})
	return f
}
