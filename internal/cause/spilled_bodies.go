package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// spilled is the cost of a temporary file in seconds: created, written, read,
// removed. It is higher on a slow disk.
var spilled = iikanji.Range{Lo: 40e-6, Hi: 400e-6}

// mostBuffer is the largest buffer that is proposed per request.
const mostBuffer = 4 << 20

var spilledBodies = Declare(PerNginx, findSpilledBodies,
	Cause{Code: "WEB103", Title: "request bodies spilled", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line: "bodies larger than the buffer are written to temporary files",
		Remedies: []Way{
			Plan("nginxconf", "buffers", iikanji.RoleWeb),
			Plan("nginxconf", "set", iikanji.RoleWeb)}})

// findSpilledBodies reports requests whose bodies nginx wrote to temporary files.
func findSpilledBodies(v *view) []iikanji.Finding {
	rows, count := v.ofKind("body-spilled", "")
	size := iikanji.Bytes(0)
	from := ""
	for _, r := range rows {
		for _, named := range r.Log.Routes {
			if n, source := v.requestSize(named.Name); n > size {
				size, from = n, source
			}
		}
	}
	f := iikanji.Finding{Code: "WEB103", Where: v.self.Name,
		Claim: fmt.Sprintf("nginx writes the bodies of %s requests to temporary files because they are larger than its buffer", people(count)),
		Gain:  iikanji.Range{Lo: round(count * spilled.Lo), Hi: round(count * spilled.Hi)}}
	if len(rows) == 0 || !v.worth(f.Gain) {
		return nil
	}
	f.Evidence = quoteRoutes(rows)
	if size == 0 || size > mostBuffer {
		f.Remedies = v.nginxconf("pass bodies on as they arrive", map[string]string{"act": "set", "directive": "proxy_request_buffering", "value": "off"})
		return []iikanji.Finding{f}
	}
	f.Evidence = append(f.Evidence, iikanji.Evidence{Source: from, Text: fmt.Sprintf("the largest request has %s", size)})
	f.Remedies = v.nginxconf("use a body buffer of "+roundUp(size), map[string]string{"act": "buffers", "body": roundUp(size)})
	return []iikanji.Finding{f}
}

// requestSize is the largest request size of a route: from the access log, or
// twice the mean of what the load generator sent.
func (v *view) requestSize(route string) (iikanji.Bytes, string) {
	for _, r := range v.access() {
		if sameRoute(r.Key, route) && r.Web.MaxReqBytes > 0 {
			return r.Web.MaxReqBytes, "access log"
		}
	}
	if v.in.Run != nil {
		for _, s := range v.in.Run.Steps {
			if sameRoute(s.Step, route) && s.Count > 0 {
				return 2 * s.Sent / iikanji.Bytes(s.Count), "generator (twice the mean)"
			}
		}
	}
	return 0, ""
}

// quoteRoutes quotes log rows and the requests in them.
func quoteRoutes(rows []logged) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, r := range rows {
		out = append(out, r.evidence())
		for _, n := range r.Log.Routes[:min(len(r.Log.Routes), 3)] {
			out = append(out, iikanji.Evidence{Source: r.service + " log", Text: fmt.Sprintf("%s of them at %s", people(float64(n.Count)), n.Name)})
		}
	}
	return out
}
