package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
)

// refused is what a connection that was turned away costs: the client comes
// again, or is lost. Seconds.
var refused = iikanji.Range{Lo: 0.001, Hi: 0.05}

// web108 reports connections that nginx turned away because it had none left,
// or no descriptors for them. One is enough: under load there will be more.
func web108(v *view) []iikanji.Finding {
	conns, n := v.ofKind("connections-exhausted", "nginx")
	files, m := v.ofKind("descriptors-exhausted", "nginx")
	if n+m == 0 {
		return nil
	}
	what := "worker_connections"
	if n == 0 {
		what = "descriptors"
	}
	f := iikanji.Finding{Code: "WEB108", Where: "nginx",
		Claim: fmt.Sprintf("nginx ran out of %s %s times and turned clients away", what, people(n+m)),
		Gain:  iikanji.Range{Lo: round((n + m) * refused.Lo), Hi: round((n + m) * refused.Hi)}}
	for _, r := range slices.Concat(conns, files) {
		f.Evidence = append(f.Evidence, r.evidence())
	}
	want := 4096.0
	if limit, ok := v.fact("nginx", iikanji.TopicLimit, "nofile"); ok {
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "limits", Text: fmt.Sprintf("a worker may have %.0f descriptors; each request that is passed on needs two", limit)})
	}
	if v.in.Run != nil {
		for want < 4*float64(v.in.Run.Load.PeakConns) {
			want *= 2
		}
	}
	f.Remedies = []iikanji.Remedy{{Kind: "nginxconf", Target: "nginx", Says: fmt.Sprintf("%.0f connections for each worker, and twice the descriptors", want),
		Args: map[string]string{"act": "workers", "connections": fmt.Sprintf("%.0f", want), "nofile": fmt.Sprintf("%.0f", 2*want)}}}
	return []iikanji.Finding{f}
}

// logLine is what one line of an unbuffered log costs: put together and
// written by a system call of its own. Seconds.
var logLine = iikanji.Range{Lo: 3e-6, Hi: 15e-6}

// web110 reports an access log that nginx writes line by line.
func web110(v *view) []iikanji.Finding {
	http, ok := v.nginx()
	if !ok {
		return nil
	}
	lines := 0.0
	for _, r := range v.access() {
		lines += float64(r.Count)
	}
	var at *iikanji.Directive
	for _, l := range append([]level{{[]iikanji.Directive{http}}}, within(http)...) {
		for _, d := range l.self().All("access_log") {
			buffered := slices.ContainsFunc(d.Args, func(a string) bool { return strings.HasPrefix(a, "buffer=") || strings.HasPrefix(a, "gzip") })
			if d.Arg(0) != "off" && !buffered && at == nil {
				at = &d
			}
		}
	}
	f := iikanji.Finding{Code: "WEB110", Where: "nginx", Gain: iikanji.Range{Lo: round(lines * logLine.Lo), Hi: round(lines * logLine.Hi)}}
	if at == nil || lines == 0 || !v.worth(f.Gain) {
		return nil
	}
	f.Claim = fmt.Sprintf("the access log is written line by line, %s times in the run", people(lines))
	f.Evidence = []iikanji.Evidence{{Source: "nginx -T", Text: place(*at) + ": access_log " + strings.Join(at.Args, " ")}}
	if n, ok := v.fact("nginx", iikanji.TopicVolume, "access"); ok {
		text := fmt.Sprintf("%s in the run", iikanji.Bytes(n))
		if v.in.Run != nil && v.in.Run.Took > 0 {
			text += fmt.Sprintf(", %.0f lines a second", lines/v.in.Run.Took.Seconds())
		}
		f.Evidence = append(f.Evidence, iikanji.Evidence{Source: "access log", Text: text})
	}
	f.Remedies = []iikanji.Remedy{
		{Kind: "nginxconf", Target: "nginx", Says: "write lines together: buffer=64k flush=1s", Args: map[string]string{"act": "access log", "log": "buffered"}},
		{Kind: "nginxconf", Target: "nginx", Says: "write none, when nobody reads it (observability)", Args: map[string]string{"act": "access log", "log": "off"}}}
	return []iikanji.Finding{f}
}

// within are all servers and locations.
func within(http iikanji.Directive) []level {
	var out []level
	for _, s := range servers(http) {
		out = append(append(out, s), locations(s)...)
	}
	return out
}
