package cause

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
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
func (v *view) statuses(visit func(status, route string, n float64)) {
	if v.blind(iikanji.Access) {
		return
	}
	for _, fact := range v.in.Facts {
		if fact.Topic != iikanji.TopicHTTPStatus {
			continue
		}
		status, route, _ := strings.Cut(fact.Key, " ")
		if n, err := strconv.ParseFloat(fact.Value, 64); err == nil {
			visit(status, route, n)
		}
	}
}

// ended is the evidence of a status.
func ended(status, route string, n, total float64) iikanji.Evidence {
	return iikanji.Evidence{Source: "access log", Text: fmt.Sprintf("%s of %s requests of %s ended with %s", people(n), people(total), route, status)}
}

// faster is the remedy for a slow route.
func (v *view) faster() []iikanji.Remedy {
	return v.patch("make the route faster: see the other findings about it", nil)
}

var failedRequests = Declare(PerWeb, findFailedRequests,
	Cause{Code: "WEB109", Title: "499, 502, 504", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "clients gave up, or the app did not answer",
		Remedies: []Way{Patch}}).settling((*view).gone)

// findFailedRequests reports routes with requests that the app did not answer (502, 503,
// 504), with the reason from the error log. Requests that clients aborted are
// reported by [view.gone].
func findFailedRequests(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	v.statuses(func(status, route string, n float64) {
		total, mean := v.served(route)
		if status == "499" || total == 0 || n < leastBroken {
			return
		}
		f := iikanji.Finding{Code: "WEB109", Where: route, Evidence: []iikanji.Evidence{ended(status, route, n, total)}, Remedies: v.faster(),
			Claim: fmt.Sprintf("the app did not answer %.0f %% of the requests (%s)", 100*n/total, status),
			Gain:  iikanji.Range{Lo: round(n * refused.Lo), Hi: round(n * max(mean, refused.Hi))}}
		because := v.because(route)
		if len(because) > 0 {
			f.Claim += ": " + because[0].Source
		}
		for _, e := range because {
			f.Evidence = append(f.Evidence, iikanji.Evidence{Source: v.self.Name + " log", Text: e.Text})
		}
		out = append(out, f)
	})
	return out
}

// gone adds findings about routes whose clients stopped waiting (499). This is
// usually a consequence: if other findings explain most of the lost time, the
// greatest of them gets the evidence, and there is no finding of its own.
func (v *view) gone(fs []Result) []Result {
	causes := fs[:len(fs):len(fs)]
	v.statuses(func(status, route string, n float64) {
		total, mean := v.served(route)
		f := iikanji.Finding{Code: "WEB109", Where: route, Gain: iikanji.Range{Hi: round(n * mean)}, Remedies: v.faster()}
		if status != "499" || total == 0 || n < leastGone || n < leastGoneShare*total || !v.worth(f.Gain) { // cheap, or of unknown cost
			return
		}
		f.Evidence = append([]iikanji.Evidence{ended(status, route, n, total)}, v.timeouts(route)...)
		if cause := v.causeOf(route, f.Gain.Hi, causes); cause >= 0 {
			fs[cause].Evidence = slices.Concat(fs[cause].Evidence, f.Evidence)
			return
		}
		f.Claim = fmt.Sprintf("clients gave up in %.0f %% of the requests: the app's work for these was wasted", 100*n/total)
		fs = append(fs, v.result(f))
	})
	return fs
}

// causeOf is the index of the finding that best explains why clients of a route
// gave up: the one with the greatest gain, preferably about the route itself;
// -1 if all together do not explain it. If the requests of the route mostly
// queued for a used-up resource, findings about other routes count too, because
// each of them shortens the queue.
func (v *view) causeOf(route string, lost float64, fs []Result) int {
	inQueue := v.inQueue(route)
	best, near, saved := -1, false, 0.0
	for i, f := range fs {
		if f.from.self.Role == v.self.Role && f.from.self.Name != v.self.Name { // of another web server
			continue
		}
		about := v.about(f, route)
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
func (v *view) about(f Result, route string) bool {
	at, _, _ := strings.Cut(f.Where, ": ")
	if sameRoute(at, route) {
		return true
	}
	return slices.ContainsFunc(v.digests, func(d digest) bool {
		return d.route != nil && (f.from.self.Role != iikanji.RoleDatabase || d.in == f.from.self.Name) && sameRoute(d.route.route, route) &&
			slices.ContainsFunc(f.Evidence, func(e iikanji.Evidence) bool { return e.Source == "digest "+d.Query.Digest })
	})
}

// inQueue reports whether the requests of a route were slow only because of
// others: a resource was used up, and the same request alone is answered in a
// fraction of the time that clients waited.
func (v *view) inQueue(route string) bool {
	b := v.binding
	alone, ok := known[iikanji.Answer](v, iikanji.TopicAnswer)[v.self.Name+" "+route]
	if b.Resource == "" || b.Resource == "generator" || !ok || alone.Status != 200 {
		return false
	}
	waited := time.Duration(0)
	for _, r := range v.access() {
		if r.Key == route {
			waited = r.Mean
		}
	}
	for _, s := range v.in.Run.Steps {
		if sameRoute(s.Step, route) {
			waited = max(waited, s.P95)
		}
	}
	return waited.Seconds() >= queued*alone.Took.Seconds()
}

// served is the number of requests of a route, and the time of one request
// alone, or else its mean in the run; 0 when unknown.
func (v *view) served(route string) (n, mean float64) {
	for _, r := range v.access() {
		if r.Key == route {
			n, mean = float64(r.Count), r.Mean.Seconds()
		}
	}
	if a, ok := known[iikanji.Answer](v, iikanji.TopicAnswer)[v.self.Name+" "+route]; ok && a.Status == 200 {
		mean = a.Took.Seconds()
	}
	return n, mean
}

// timeouts is the evidence of timeouts from the load generator.
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

// because quotes the log messages that name a route and explain its failures;
// their Source is the explanation.
func (v *view) because(route string) []iikanji.Evidence {
	var out []iikanji.Evidence
	for _, w := range logReasons {
		rows, _ := v.ofKind(w.kind, "")
		for _, r := range rows {
			if w.kind == "panic" || slices.ContainsFunc(r.Log.Routes, func(n iikanji.Named) bool { return sameRoute(n.Name, route) }) {
				out = append(out, iikanji.Evidence{Source: w.why, Text: r.evidence().Text})
			}
		}
	}
	return out
}
