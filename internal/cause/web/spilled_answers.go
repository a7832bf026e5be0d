package web

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var spilledAnswers = cause.Declare(cause.PerNginx, findSpilledAnswers,
	cause.Cause{Code: "WEB104", Title: "answers spilled", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "answers larger than the buffers are written to temporary files",
		Remedies: []cause.Way{cause.Plan("nginxconf", "buffers", iikanji.RoleWeb)}})

// findSpilledAnswers reports answers that nginx wrote to temporary files: they arrived
// faster than the client read them, and were larger than the buffers.
func findSpilledAnswers(v *cause.View) []iikanji.Finding {
	rows, count := v.OfKind("answer-spilled", "")
	if len(rows) == 0 {
		return unloggedAnswers(v)
	}
	size := iikanji.Bytes(0)
	for _, r := range rows {
		for _, named := range r.Log.Routes {
			for _, a := range v.Access() {
				if cause.SameRoute(a.Key, named.Name) {
					size = max(size, a.Web.MaxBytes)
				}
			}
		}
	}
	f := iikanji.Finding{Code: "WEB104", Where: v.Self.Name,
		Claim: fmt.Sprintf("nginx writes %s answers to temporary files because they are larger than its buffers", cause.Number(count)),
		Gain:  iikanji.Range{Lo: cause.Round(count * spilled.Lo), Hi: cause.Round(count * spilled.Hi)}}
	if !v.Worth(f.Gain) {
		return nil
	}
	f.Evidence, f.Remedies = quoteRoutes(rows), holdAnswers(v, size)
	if size > 0 && size <= mostBuffer {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("the largest of these answers has %s", size)})
	}
	return []iikanji.Finding{f}
}

// holdAnswers are the remedies for answers of up to a size; 0 if it is not known.
func holdAnswers(v *cause.View, size iikanji.Bytes) []iikanji.Remedy {
	out := v.NginxConf("never write answers to files: the app then waits for slow clients", map[string]string{"act": "buffers", "spill": "off"})
	if size > 0 && size <= mostBuffer {
		out = append(v.NginxConf("use buffers that hold an answer of "+cause.RoundUp(size), map[string]string{"act": "buffers", "answer": cause.RoundUp(size)}), out...)
	}
	return out
}
