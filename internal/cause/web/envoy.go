package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	engineEnvoy iikanji.Engine = "envoy"
	// openedShare is how many connections Envoy opens for each request where they are not kept:
	// half, because several requests may share one before the app closes it.
	openedShare = 0.5
	// leastPassed is the least number of requests of which this is a share.
	leastPassed = 100
)

var envoyLimits = cause.Declare(cause.PerWeb, findEnvoyLimits,
	cause.Cause{Code: "WEB118", Title: "limits of Envoy", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "Envoy refused requests or connections, or opened a new connection for each request",
		Remedies: []cause.Way{cause.Person, cause.Patch}})

// findEnvoyLimits reports what an Envoy counted of its limits: requests that a circuit breaker
// refused, connections of clients that a listener refused, and connections to the app that were
// not kept, which it does by default. No change edits its configuration.
func findEnvoyLimits(v *cause.View) []iikanji.Finding {
	if v.Self.Engine != engineEnvoy {
		return nil
	}
	counters := map[string]float64{}
	for f, n := range fact.TopicProxyCounter.In(v.Input.Facts) {
		if f.Target == v.Self.Name {
			counters[f.Key] = n
		}
	}
	var out []iikanji.Finding
	for _, c := range clustersOf(counters) {
		count := func(name string) float64 { return counters["cluster."+c+"."+name] }
		if refused := count("upstream_rq_pending_overflow"); refused > 0 {
			out = append(out, iikanji.Finding{Code: "WEB118", Where: c,
				Claim:    fmt.Sprintf("Envoy refused %s to %s: more were open or waited than its circuit breaker lets through, 1,024 of each by default", cause.Plural(refused, "request"), c),
				Evidence: counted(counters, "cluster."+c+".", "upstream_rq_pending_overflow", "upstream_cx_overflow", "upstream_rq_total"),
				Gain:     cause.Between(refused, cause.RefusedSeconds.Lo, cause.RefusedSeconds.Hi),
				Remedies: []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "raise max_connections, max_pending_requests and max_requests in circuit_breakers of the cluster "+c)}})
		}
		opened, passed := count("upstream_cx_http1_total"), count("upstream_rq_total")
		if passed < leastPassed || opened < openedShare*passed {
			continue
		}
		f := iikanji.Finding{Code: "WEB118", Where: c,
			Claim:    fmt.Sprintf("Envoy opened %s to %s for %s, although it keeps connections by default", cause.Plural(opened, "connection"), c, cause.Plural(passed, "request")),
			Evidence: counted(counters, "cluster."+c+".", "upstream_cx_http1_total", "upstream_rq_total", "upstream_cx_destroy_remote", "upstream_cx_close_notify", "upstream_cx_max_requests"),
			Gain:     cause.Between(opened, connect.Lo, connect.Hi)}
		if count("upstream_cx_max_requests") >= openedShare*opened {
			f.Remedies = []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "raise max_requests_per_connection of the cluster "+c+", or leave it out")}
		} else {
			f.Remedies = v.Patch("keep connections open after an answer: the app closes them", nil)
		}
		out = append(out, f)
	}
	return append(out, refusedClients(v, counters)...)
}

// refusedClients reports connections of clients that Envoy refused.
func refusedClients(v *cause.View, counters map[string]float64) []iikanji.Finding {
	refused := 0.0
	var names []string
	for name, n := range counters {
		if strings.HasPrefix(name, "listener.") && (strings.HasSuffix(name, ".downstream_cx_overflow") ||
			strings.HasSuffix(name, ".downstream_global_cx_overflow") || strings.HasSuffix(name, ".downstream_cx_overload_reject")) {
			refused += n
			names = append(names, name)
		}
	}
	if refused == 0 {
		return nil
	}
	slices.Sort(names)
	return []iikanji.Finding{{Code: "WEB118", Where: v.Self.Name, Evidence: counted(counters, "", names...),
		Claim:    fmt.Sprintf("Envoy refused %s of clients: more were open than it may have", cause.Plural(refused, "connection")),
		Gain:     cause.Between(refused, cause.RefusedSeconds.Lo, cause.RefusedSeconds.Hi),
		Remedies: []iikanji.Remedy{iikanji.ByPerson(v.Self.Name, "raise the limit of connections of the listener or of the overload manager, and the limit of open files (LimitNOFILE)")}}}
}

// clustersOf are the clusters that have counters, in the order of their names.
func clustersOf(counters map[string]float64) []string {
	var out []string
	for name := range counters {
		cluster, ok := strings.CutPrefix(name, "cluster.")
		cluster, ends := strings.CutSuffix(cluster, ".upstream_rq_total")
		if ok && ends && !slices.Contains(out, cluster) {
			out = append(out, cluster)
		}
	}
	slices.Sort(out)
	return out
}

// counted are counters as evidence, those that grew.
func counted(counters map[string]float64, prefix string, names ...string) (out []iikanji.Evidence) {
	for _, name := range names {
		if n := counters[prefix+name]; n > 0 {
			out = append(out, iikanji.Evidence{Source: "Envoy's counters", Text: fmt.Sprintf("%s%s: %s", prefix, name, cause.Number(n))})
		}
	}
	return out
}
