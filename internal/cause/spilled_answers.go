package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

var spilledAnswers = Declare(PerNginx, findSpilledAnswers,
	Cause{Code: "WEB104", Title: "answers spilled", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "answers larger than the buffers are written to temporary files",
		Remedies: []Way{Plan("nginxconf", "buffers", iikanji.RoleWeb)}})

// findSpilledAnswers reports answers that nginx wrote to temporary files: they arrived
// faster than the client read them, and were larger than the buffers.
func findSpilledAnswers(v *view) []iikanji.Finding {
	rows, count := v.ofKind("answer-spilled", "")
	size := iikanji.Bytes(0)
	for _, r := range rows {
		for _, named := range r.Log.Routes {
			for _, a := range v.access() {
				if sameRoute(a.Key, named.Name) {
					size = max(size, a.Web.MaxBytes)
				}
			}
		}
	}
	f := iikanji.Finding{Code: "WEB104", Where: v.self.Name,
		Claim: fmt.Sprintf("nginx writes %s answers to temporary files because they are larger than its buffers", people(count)),
		Gain:  iikanji.Range{Lo: round(count * spilled.Lo), Hi: round(count * spilled.Hi)}}
	if len(rows) == 0 || !v.worth(f.Gain) {
		return nil
	}
	f.Evidence = quoteRoutes(rows)
	args := map[string]string{"act": "buffers", "spill": "off"}
	f.Remedies = v.nginxconf("never write answers to files: the app then waits for slow clients", args)
	if size > 0 && size <= mostBuffer {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("the largest of these answers has %s", size)})
		f.Remedies = append(v.nginxconf("use buffers that hold an answer of "+roundUp(size), map[string]string{"act": "buffers", "answer": roundUp(size)}), f.Remedies...)
	}
	return []iikanji.Finding{f}
}
