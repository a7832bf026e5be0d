package web

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var workerConnections = cause.Declare(cause.PerNginx, findWorkerConnections,
	cause.Cause{Code: "WEB108", Title: "worker connections exhausted", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "nginx had no free connection or file descriptor",
		Remedies: []cause.Way{cause.Plan("nginxconf", "workers", iikanji.RoleWeb)}})

// findWorkerConnections reports connections that nginx refused because worker_connections or
// file descriptors were used up. A single one is reported: more load brings
// more.
func findWorkerConnections(v *cause.View) []iikanji.Finding {
	conns, n := v.OfKind("connections-exhausted", v.Self.Name)
	files, m := v.OfKind("descriptors-exhausted", v.Self.Name)
	if n+m == 0 {
		return nil
	}
	what := "worker_connections"
	if n == 0 {
		what = "descriptors"
	}
	f := iikanji.Finding{Code: "WEB108", Where: v.Self.Name,
		Claim: fmt.Sprintf("nginx ran out of %s %s times and refused clients", what, cause.Number(n+m)),
		Gain:  iikanji.Range{Lo: cause.Round((n + m) * cause.RefusedSeconds.Lo), Hi: cause.Round((n + m) * cause.RefusedSeconds.Hi)}}
	for _, r := range slices.Concat(conns, files) {
		f.Evidence = append(f.Evidence, r.Evidence())
	}
	want := 4096.0
	if limit, ok := v.Limit(v.Self.Name, "nofile"); ok {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "limits", Text: fmt.Sprintf("a worker is allowed %.0f descriptors; each request that is passed on needs two", limit)})
	}
	if v.Input.Run != nil {
		for want < 4*float64(v.Input.Run.Load.PeakConns) {
			want *= 2
		}
	}
	f.Remedies = v.NginxConf(fmt.Sprintf("allow %.0f connections per worker, and twice as many descriptors", want), map[string]string{"act": "workers", "connections": fmt.Sprintf("%.0f", want), "nofile": fmt.Sprintf("%.0f", 2*want)})
	return []iikanji.Finding{f}
}
