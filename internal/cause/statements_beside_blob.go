package cause

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

const (
	// leastBlobs is the least number of answers of a route whose statements are judged.
	leastBlobs = 20
	// besideEach is the least number of executions of a statement for each answer.
	besideEach = 0.5
)

var statementsBesideBlob = Declare(PerDatabase, findStatementsBesideBlob,
	Cause{Code: "DB135", Title: "statements beside a blob", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "the answer is one value of the database, and the request sends other statements too",
		Remedies: []Way{Patch}})

// findStatementsBesideBlob reports statements that a route sends beside the one that reads its whole
// answer: a value of a blob column. What they return is not in the answer. Whether
// one of them decides if the client may have it is not visible: the lower end of the
// gain is 0.
func findStatementsBesideBlob(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, r := range v.access() {
		served := float64(r.Web.Status[2])
		if !isGet(r.Key) || served < leastBlobs {
			continue
		}
		a, asked := v.answered(r.Key)
		size := float64(r.Web.Bytes) / served
		if size < leastFile || asked && (a.File != "" || a.Status != 200 || textual(a.Type)) {
			continue
		}
		d, column, ok := v.readsBlob(size, served)
		if !ok {
			continue
		}
		if f := v.besideBlob(r.Key, served, d, column); len(f.Evidence) > 1 && v.worth(f.Gain) {
			out = append(out, f)
		}
	}
	return out
}

// besideBlob is the finding about the other statements of a route; it has no
// evidence of any where there are none.
func (v *view) besideBlob(route string, served float64, blob digest, column string) iikanji.Finding {
	f := iikanji.Finding{Code: "DB135", Where: route, Evidence: []iikanji.Evidence{blob.evidence()}}
	bySource, count := v.sentBy(route), 0
	for _, d := range v.digests {
		timed := slices.ContainsFunc(d.senders, func(f fit) bool { return f.route == route && f.each >= besideEach })
		if d.Query.Digest == blob.Query.Digest || !bySource[d.Query.Digest] && !timed || d.st == nil || d.st.verb != "select" || d.q.Count < besideEach*served {
			continue
		}
		count++
		f.Gain.Hi += served * (d.left()/d.q.Count + roundTrip + viaApp.Lo)
		if len(f.Evidence) < 6 {
			f.Evidence = append(f.Evidence, d.evidence())
		}
	}
	f.Gain.Hi = round(f.Gain.Hi)
	f.Claim = fmt.Sprintf("each of %s answers is a value of %s, and its request sends %s: unless one of them decides who may have the answer, nothing uses their results",
		people(served), column, plural(float64(count), "other statement"))
	f.Remedies = v.patch("read only this column for this route, by a function of its own", map[string]string{"route": route, "digest": blob.Query.Digest})
	return f
}
