package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// Least number and share of a route's requests that clients aborted.
	leastGone      = 20
	leastGoneShare = 0.1
	// leastBroken is the least number of requests without an answer.
	leastBroken = 3
	// mostCause is the least share of the time lost in aborted requests that other
	// findings must save to count as its cause.
	mostCause = 0.5
	// queued is the factor to the time of the same request alone from which on a
	// request mostly waited for others.
	queued = 2.0
)

// logReasons are the kinds of messages in logs that explain missing answers.
var logReasons = []struct{ kind, why string }{
	{"upstream-timeout", "the app did not answer in time"},
	{"upstream-refused", "no process listened at the app's address"},
	{"upstream-closed", "the app closed the connection before it answered"},
	{"upstream-none", "every upstream was marked as failed"},
	{"answer-header-too-big", "the head of the app's answer was larger than proxy_buffer_size"},
	{"backlog-full", "the queue of the app's socket was full"},
	{"ports-exhausted", "no local port was free for a connection to the app"},
	{"descriptors-exhausted", "no file descriptor was free"},
	{"panic", "the app panicked"},
}

// statuses calls visit for each status of failed requests, by route, with their
// number.
func statuses(v *cause.View, visit func(status, route string, n float64)) {
	if v.Blind(iikanji.Access) {
		return
	}
	for f, n := range fact.TopicHTTPStatus.In(v.Input.Facts) {
		status, route, _ := strings.Cut(f.Key, " ")
		visit(status, route, float64(n))
	}
}

// ended is the evidence of a status.
func ended(status, route string, n, total float64) iikanji.Evidence {
	return iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s of %s requests of %s ended with %s", cause.Number(n), cause.Number(total), route, status)}
}

// faster is the remedy for a slow route.
func faster(v *cause.View) []iikanji.Remedy {
	return v.Patch("make the route faster: see the other findings about it", nil)
}

var failedRequests = cause.Declare(cause.PerWeb, findFailedRequests,
	cause.Cause{Code: "WEB109", Title: "499, 502, 504", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "clients gave up, or the app did not answer",
		Remedies: []cause.Way{cause.Patch}}).Settling(gone)

// findFailedRequests reports routes with requests that the app did not answer (502, 503,
// 504), with the reason from the error log. Requests that clients aborted are
// reported by gone.
func findFailedRequests(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	statuses(v, func(status, route string, n float64) {
		total, mean := served(v, route)
		if status == "499" || total == 0 || n < leastBroken {
			return
		}
		f := iikanji.Finding{Code: "WEB109", Where: route, Evidence: []iikanji.Evidence{ended(status, route, n, total)}, Remedies: faster(v),
			Claim: fmt.Sprintf("the app did not answer %.0f %% of the requests (%s)", 100*n/total, status),
			Gain:  iikanji.Range{Lo: cause.Round(n * cause.RefusedSeconds.Lo), Hi: cause.Round(n * max(mean, cause.RefusedSeconds.Hi))}}
		because := because(v, route)
		if len(because) > 0 {
			f.Claim += ": " + because[0].Source
		}
		for _, e := range because {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: v.Self.Name + " log", Text: e.Text})
		}
		out = append(out, f)
	})
	return out
}

// gone adds findings about routes whose clients stopped waiting (499). This is
// usually a consequence: if other findings explain most of the lost time, the
// greatest of them gets the evidence, and there is no finding of its own.
func gone(v *cause.View, fs []cause.Result) []cause.Result {
	causes := fs[:len(fs):len(fs)]
	statuses(v, func(status, route string, n float64) {
		total, mean := served(v, route)
		f := iikanji.Finding{Code: "WEB109", Where: route, Gain: iikanji.Range{Hi: cause.Round(n * mean)}, Remedies: faster(v)}
		if status != "499" || total == 0 || n < leastGone || n < leastGoneShare*total || !v.Worth(f.Gain) { // cheap, or of unknown cost
			return
		}
		f.Evidence = append([]iikanji.Evidence{ended(status, route, n, total)}, timeouts(v, route)...)
		if cause := causeOf(v, route, f.Gain.Hi, causes); cause >= 0 {
			fs[cause].Evidence = slices.Concat(fs[cause].Evidence, f.Evidence)
			return
		}
		f.Claim = fmt.Sprintf("clients gave up in %.0f %% of the requests: the app's work for these was wasted", 100*n/total)
		fs = append(fs, v.Result(f))
	})
	return fs
}

// causeOf is the index of the finding that best explains why clients of a route
// gave up: the one with the greatest gain, preferably about the route itself;
// -1 if all together do not explain it. If the requests of the route mostly
// queued for a used-up resource, findings about other routes count too, because
// each of them shortens the queue.
func causeOf(v *cause.View, route string, lost float64, fs []cause.Result) int {
	inQueue := inQueue(v, route)
	best, near, saved := -1, false, 0.0
	for i, f := range fs {
		if f.From.Self.Role == v.Self.Role && f.From.Self.Name != v.Self.Name { // of another web server
			continue
		}
		about := about(v, f, route)
		if f.Doubt || f.Code == "WEB109" || !inQueue && !about {
			continue
		}
		saved += f.Gain.Hi
		if best < 0 || about && !near || about == near && f.Gain.Hi > fs[best].Gain.Hi {
			best, near = i, about
		}
	}
	if saved < mostCause*lost {
		return -1
	}
	return best
}

// about reports whether a finding is about a route: by its place, or by a
// statement that the route sends.
func about(v *cause.View, f cause.Result, route string) bool {
	at, _, _ := strings.Cut(f.Where, ": ")
	if cause.SameRoute(at, route) {
		return true
	}
	return slices.ContainsFunc(v.Digests, func(d cause.Digest) bool {
		return d.Route != nil && (f.From.Self.Role != iikanji.RoleDatabase || d.Database == f.From.Self.Name) && cause.SameRoute(d.Route.Route, route) &&
			slices.ContainsFunc(f.Evidence, func(e iikanji.Evidence) bool { return e.Source == "digest "+d.Query.Digest })
	})
}

// inQueue reports whether the requests of a route were slow only because of
// others: a resource was used up, and the same request alone is answered in a
// fraction of the time that clients waited.
func inQueue(v *cause.View, route string) bool {
	b := v.Binding
	alone, ok := cause.FactsOf(v, fact.TopicAnswer)[v.Self.Name+" "+route]
	if b.Resource == "" || b.Resource == "generator" || !ok || alone.Status != 200 {
		return false
	}
	waited := time.Duration(0)
	for _, r := range v.Access() {
		if r.Key == route {
			waited = r.Mean
		}
	}
	for _, s := range v.Input.Run.Steps {
		if cause.SameRoute(s.Step, route) {
			waited = max(waited, s.P95)
		}
	}
	return waited.Seconds() >= queued*alone.Took.Seconds()
}

// served is the number of requests of a route, and the time of one request
// alone, or else its mean in the run; 0 when unknown.
func served(v *cause.View, route string) (n, mean float64) {
	for _, r := range v.Access() {
		if r.Key == route {
			n, mean = float64(r.Count), r.Mean.Seconds()
		}
	}
	if a, ok := cause.FactsOf(v, fact.TopicAnswer)[v.Self.Name+" "+route]; ok && a.Status == 200 {
		mean = a.Took.Seconds()
	}
	return n, mean
}

// timeouts is the evidence of timeouts from the load generator.
func timeouts(v *cause.View, route string) []iikanji.Evidence {
	if v.Input.Run != nil {
		for _, s := range v.Input.Run.Steps {
			if s.Timeouts > 0 && cause.SameRoute(s.Step, route) {
				return []iikanji.Evidence{{Source: "generator", Text: fmt.Sprintf("%s: %d timeouts, answers took %s (p50) and %s (p95)", s.Step, s.Timeouts, cause.Brief(s.P50), cause.Brief(s.P95))}}
			}
		}
	}
	return nil
}

// because quotes the log messages that name a route and explain its failures;
// their Source is the explanation.
func because(v *cause.View, route string) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, w := range logReasons {
		rows, _ := v.OfKind(w.kind, "")
		for _, r := range rows {
			if w.kind == "panic" || slices.ContainsFunc(r.Log.Routes, func(n iikanji.Named) bool { return cause.SameRoute(n.Name, route) }) {
				out = append(out, iikanji.Evidence{Source: w.why, Text: r.Evidence().Text})
			}
		}
	}
	return out
}
