package web

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// spilled is the cost of a temporary file in seconds: created, written, read,
// removed. It is higher on a slow disk.
var spilled = iikanji.Range{Lo: 40e-6, Hi: 400e-6}

// mostBuffer is the largest buffer that is proposed per request.
const mostBuffer = 4 << 20

var spilledBodies = cause.Declare(cause.PerNginx, findSpilledBodies,
	cause.Cause{Code: "WEB103", Title: "request bodies spilled", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line: "bodies larger than the buffer are written to temporary files",
		Remedies: []cause.Way{
			cause.Plan("nginxconf", "buffers", iikanji.RoleWeb),
			cause.Plan("nginxconf", "set", iikanji.RoleWeb)}})

// findSpilledBodies reports requests whose bodies nginx wrote to temporary files.
func findSpilledBodies(v *cause.View) []iikanji.Finding {
	rows, count := v.OfKind("body-spilled", "")
	if len(rows) == 0 {
		return unloggedBodies(v)
	}
	size := iikanji.Bytes(0)
	from := ""
	for _, r := range rows {
		for _, named := range r.Log.Routes {
			if n, source := requestSize(v, named.Name); n > size {
				size, from = n, source
			}
		}
	}
	f := iikanji.Finding{Code: "WEB103", Where: v.Self.Name,
		Claim: fmt.Sprintf("nginx writes the bodies of %s requests to temporary files because they are larger than its buffer", cause.Number(count)),
		Gain:  iikanji.Range{Lo: cause.Round(count * spilled.Lo), Hi: cause.Round(count * spilled.Hi)}}
	if !v.Worth(f.Gain) {
		return nil
	}
	f.Evidence, f.Remedies = quoteRoutes(rows), holdBodies(v, size)
	if size > 0 && size <= mostBuffer {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: from, Text: fmt.Sprintf("the largest request has %s", size)})
	}
	return []iikanji.Finding{f}
}

// holdBodies are the remedies for bodies of up to a size; 0 if it is not known.
func holdBodies(v *cause.View, size iikanji.Bytes) []iikanji.Remedy {
	if size == 0 || size > mostBuffer {
		return v.NginxConf("pass bodies on as they arrive", map[string]string{"act": "set", "directive": "proxy_request_buffering", "value": "off"})
	}
	return v.NginxConf("use a body buffer of "+cause.RoundUp(size), map[string]string{"act": "buffers", "body": cause.RoundUp(size)})
}

// requestSize is the largest request size of a route: from the access log, or
// twice the mean of what the load generator sent.
func requestSize(v *cause.View, route string) (iikanji.Bytes, string) {
	for _, r := range v.Access() {
		if cause.SameRoute(r.Key, route) && r.Web.MaxReqBytes > 0 {
			return r.Web.MaxReqBytes, "access log"
		}
	}
	if v.Input.Run != nil {
		for _, s := range v.Input.Run.Steps {
			if cause.SameRoute(s.Step, route) && s.Count > 0 {
				return 2 * s.Sent / iikanji.Bytes(s.Count), "generator (twice the mean)"
			}
		}
	}
	return 0, ""
}

// quoteRoutes quotes log rows and the requests in them.
func quoteRoutes(rows []cause.Logged) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, r := range rows {
		out = append(out, r.Evidence())
		for _, n := range r.Log.Routes[:min(len(r.Log.Routes), 3)] {
			out = append(out, iikanji.Evidence{Source: r.Service + " log", Text: fmt.Sprintf("%s of them at %s", cause.Number(float64(n.Count)), n.Name)})
		}
	}
	return out
}
