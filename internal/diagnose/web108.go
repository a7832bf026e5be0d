package diagnose

import (
	"fmt"
	"slices"
	"strconv"
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

// The answers that nobody wants, and from how many of a route's requests on
// they are told: a client that leaves is no news, one in ten is.
const (
	leastGone      = 20
	leastGoneShare = 0.1
	leastBroken    = 3
)

// whys are the messages of nginx's error log that say why.
var whys = []struct{ kind, why string }{
	{"upstream-timeout", "the app did not answer in time"},
	{"upstream-refused", "nobody listened where the app should be"},
	{"upstream-closed", "the app hung up before it answered"},
	{"upstream-none", "every upstream was marked as failed"},
	{"answer-header-too-big", "the head of the app's answer was larger than proxy_buffer_size"},
	{"backlog-full", "the queue of the app's socket was full"},
	{"ports-exhausted", "there was no local port left for a connection to the app"},
	{"descriptors-exhausted", "there was no descriptor left"},
	{"panic", "the app panicked"},
}

// web109 reports routes whose clients gave up (499) or whose requests the app
// did not answer (502, 503, 504), with what the error log says of it.
func web109(v *view) []iikanji.Finding {
	if v.blind(iikanji.Access) {
		return nil
	}
	var out []iikanji.Finding
	for _, fact := range v.in.Facts {
		if fact.Topic != iikanji.TopicHTTPStatus {
			continue
		}
		status, route, _ := strings.Cut(fact.Key, " ")
		n, err := strconv.ParseFloat(fact.Value, 64)
		total, mean := v.served(route)
		if err != nil || total == 0 || status == "499" && (n < leastGone || n < leastGoneShare*total) || n < leastBroken {
			continue
		}
		f := iikanji.Finding{Code: "WEB109", Where: route, Gain: iikanji.Range{Hi: round(n * mean)},
			Evidence: []iikanji.Evidence{{Source: "access log", Text: fmt.Sprintf("%s of %s requests of %s ended with %s", people(n), people(total), route, status)}},
			Remedies: []iikanji.Remedy{{Kind: "patch", Target: "app", Says: "make the route faster: see the other findings about it"}}}
		if status == "499" {
			f.Claim = fmt.Sprintf("clients gave up waiting in %.0f %% of the requests: what the app did for them was for nobody", 100*n/total)
			f.Evidence = append(f.Evidence, v.timeouts(route)...)
			if !v.worth(f.Gain) { // cheap, or nobody knows what it costs
				continue
			}
		} else {
			f.Claim = fmt.Sprintf("the app gave no answer to %.0f %% of the requests (%s)", 100*n/total, status)
			f.Gain = iikanji.Range{Lo: round(n * refused.Lo), Hi: round(n * max(mean, refused.Hi))}
			because := v.because(route)
			f.Evidence = append(f.Evidence, because...)
			if len(because) > 0 {
				f.Claim += ": " + because[0].Source
				for i := range because {
					f.Evidence[1+i].Source = "nginx log"
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// served is how many requests a route had and what one of them takes when
// nothing else runs, or as a mean of the run; 0 where nobody knows.
func (v *view) served(route string) (n, mean float64) {
	for _, r := range v.access() {
		if r.Key == route {
			n, mean = float64(r.Count), r.Mean.Seconds()
		}
	}
	if a, ok := known[iikanji.Answer](v, iikanji.TopicAnswer)["nginx "+route]; ok && a.Status == 200 {
		mean = a.Took.Seconds()
	}
	return n, mean
}

// timeouts is what the load generator says of a route.
func (v *view) timeouts(route string) []iikanji.Evidence {
	if v.in.Run != nil {
		for _, s := range v.in.Run.Steps {
			if s.Timeouts > 0 && sameRoute(s.Step, route) {
				return []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("%s: %d timeouts, answers took %s (p50) and %s (p95)", s.Step, s.Timeouts, brief(s.P50), brief(s.P95))}}
			}
		}
	}
	return nil
}

// because quotes the messages of nginx that name a route and say why; their
// Source is the reason in words.
func (v *view) because(route string) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, w := range whys {
		rows, _ := v.ofKind(w.kind, "")
		for _, r := range rows {
			if w.kind == "panic" || slices.ContainsFunc(r.Log.Routes, func(n iikanji.Named) bool { return sameRoute(n.Name, route) }) {
				out = append(out, iikanji.Evidence{Source: w.why, Text: r.evidence().Text})
			}
		}
	}
	return out
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
