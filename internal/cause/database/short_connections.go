package database

import (
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/site/fact"
)

const (
	// connectTime is what a new connection costs both sides beyond its statements, in
	// seconds: 110 µs over a Unix socket on an idle machine (3,000 SELECT 1, each on a
	// connection of its own: 140 µs; all on one: 27 µs). TCP and passwords cost more.
	connectTime = 110e-6
	poolLeast   = 8 // connections to keep, at least
)

var shortConnections = cause.Declare(cause.PerDatabase, findShortConnections,
	cause.Cause{Code: "DB210", Title: "connections that come and go", Of: iikanji.OfStatements, Relieves: cause.CPU | cause.Pool,
		Line:     "each request, or each burst, opens connections to the database and closes them",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Patch}})

// findShortConnections reports connections to a database that come and go while the site works:
// an app that opens one for each request, or a pool that keeps fewer idle
// connections than it opens, and closes the others after each burst.
func findShortConnections(v *cause.View) []iikanji.Finding {
	made, requests := v.Status["connections"], v.Requests()
	if requests == 0 || made < cause.MadeShare*requests || made < cause.LeastMade(open(v)) {
		return nil
	}
	ratio := made / requests
	f := iikanji.Finding{Code: "DB210", Where: v.Self.Name,
		Claim: fmt.Sprintf("%s new connections were opened, %.2g for each request: the pool keeps fewer idle connections than it opens", cause.Number(made), ratio),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Connections +%.0f, Threads_created +%.0f; %s requests", made, v.Status["threads_created"], cause.Number(requests))},
			{Source: "arithmetic", Text: fmt.Sprintf("%.0f µs for each new connection, without its statements", 1e6*connectTime)}},
		Gain: cause.Between(made*connectTime, 0.5, 3)}
	if ratio >= 0.8 {
		f.Claim = fmt.Sprintf("%s new connections were opened, %.2g for each request: connections are not kept between requests", cause.Number(made), ratio)
	}
	f.Remedies = keepConnections(v)
	return []iikanji.Finding{f}
}

// open is the number of connections of all clients to the view's service at the end of
// the load, 0 when unknown.
func open(v *cause.View) float64 {
	n := 0
	for _, f := range v.Input.Facts {
		if c, ok := cause.Decode(f, fact.TopicConnection); ok && f.Key == v.Self.Name {
			n += c.TCP + c.Unix
		}
	}
	return float64(n)
}

// keepConnections are the remedies of connections that come and go: a pool that keeps
// idle connections, for apps in Go; the option of the
// framework for others.
func keepConnections(v *cause.View) []iikanji.Remedy {
	var out []iikanji.Remedy
	for _, name := range v.Apps() {
		s, _ := v.Input.Target.Service(name)
		if s.Engine != iikanji.EngineGo && s.Engine != "" {
			out = append(out, iikanji.Remedy{Kind: "patch", Target: name, Says: "keep connections between requests: a pool, or persistent connections of the framework"})
			continue
		}
		n := fmt.Sprint(wantedPool(v, name))
		out = append(out, iikanji.Remedy{Kind: "appenv", Target: name, Says: "keep " + n + " connections to the database open when they are idle", Args: map[string]string{"pool": n}})
	}
	return out
}

// wantedPool is a size for an app's pool: its connections at the end of the load, or
// the requests that were under way on average, within bounds.
func wantedPool(v *cause.View, app string) int {
	n := float64(poolLeast)
	for _, p := range v.Input.Pools(v.Self) {
		if p.App == app {
			n = max(n, float64(p.Size), math.Ceil(p.Load))
		}
	}
	for f, c := range fact.TopicConnection.In(v.Input.Facts) {
		if f.Target == app && f.Key == v.Self.Name {
			n = max(n, float64(c.TCP+c.Unix))
		}
	}
	return int(min(n, poolMost))
}
