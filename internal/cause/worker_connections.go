package cause

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
)

var workerConnections = Declare(PerNginx, findWorkerConnections,
	Cause{Code: "WEB108", Title: "worker connections exhausted", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "nginx had no free connection or file descriptor",
		Remedies: []Way{Plan("nginxconf", "workers", iikanji.RoleWeb)}})

// findWorkerConnections reports connections that nginx refused because worker_connections or
// file descriptors were used up. A single one is reported: more load brings
// more.
func findWorkerConnections(v *view) []iikanji.Finding {
	conns, n := v.ofKind("connections-exhausted", v.self.Name)
	files, m := v.ofKind("descriptors-exhausted", v.self.Name)
	if n+m == 0 {
		return nil
	}
	what := "worker_connections"
	if n == 0 {
		what = "descriptors"
	}
	f := iikanji.Finding{Code: "WEB108", Where: v.self.Name,
		Claim: fmt.Sprintf("nginx ran out of %s %s times and refused clients", what, people(n+m)),
		Gain:  iikanji.Range{Lo: round((n + m) * refused.Lo), Hi: round((n + m) * refused.Hi)}}
	for _, r := range slices.Concat(conns, files) {
		f.Evidence = append(f.Evidence, r.evidence())
	}
	want := 4096.0
	if limit, ok := v.fact(v.self.Name, iikanji.TopicLimit, "nofile"); ok {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "limits", Text: fmt.Sprintf("a worker is allowed %.0f descriptors; each request that is passed on needs two", limit)})
	}
	if v.in.Run != nil {
		for want < 4*float64(v.in.Run.Load.PeakConns) {
			want *= 2
		}
	}
	f.Remedies = v.nginxconf(fmt.Sprintf("allow %.0f connections per worker, and twice as many descriptors", want), map[string]string{"act": "workers", "connections": fmt.Sprintf("%.0f", want), "nofile": fmt.Sprintf("%.0f", 2*want)})
	return []iikanji.Finding{f}
}
