package cause

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/iikanji/iikanji"
)

const (
	// connectTime is what a new connection costs both sides beyond its statements, in
	// seconds: 110 µs over a Unix socket on an idle machine (3,000 SELECT 1, each on a
	// connection of its own: 140 µs; all on one: 27 µs). TCP and passwords cost more.
	connectTime = 110e-6
	poolLeast   = 8 // connections to keep, at least
)

var shortConnections = Declare(PerDatabase, findShortConnections,
	Cause{Code: "DB210", Title: "connections that come and go", Of: iikanji.OfStatements, Relieves: CPU | Pool,
		Line:     "each request, or each burst, opens connections to the database and closes them",
		Remedies: []Way{Plan("appenv", "", iikanji.RoleApp), Patch}})

// findShortConnections reports connections to a database that come and go while the site works:
// an app that opens one for each request, or a pool that keeps fewer idle
// connections than it opens, and closes the others after each burst.
func findShortConnections(v *view) []iikanji.Finding {
	made, requests := v.status["connections"], v.requests()
	if requests == 0 || made < comeShare*requests || made < come(v.open()) {
		return nil
	}
	ratio := made / requests
	f := iikanji.Finding{Code: "DB210", Where: v.self.Name,
		Claim: fmt.Sprintf("%s new connections were opened, %.2g for each request: the pool keeps fewer idle connections than it opens", people(made), ratio),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Connections +%.0f, Threads_created +%.0f; %s requests", made, v.status["threads_created"], people(requests))},
			{Source: "arithmetic", Text: fmt.Sprintf("%.0f µs for each new connection, without its statements", 1e6*connectTime)}},
		Gain: between(made*connectTime, 0.5, 3)}
	if ratio >= 0.8 {
		f.Claim = fmt.Sprintf("%s new connections were opened, %.2g for each request: connections are not kept between requests", people(made), ratio)
	}
	f.Remedies = v.keepConnections()
	return []iikanji.Finding{f}
}

// open is the number of connections of all clients to the view's service at the end of
// the load, 0 when unknown.
func (v *view) open() float64 {
	n := 0
	for _, f := range v.in.Facts {
		if c, ok := decode[iikanji.Connections](f, iikanji.TopicConnection); ok && f.Key == v.self.Name {
			n += c.TCP + c.Unix
		}
	}
	return float64(n)
}

// keepConnections are the remedies of connections that come and go: a pool that keeps
// idle connections, for apps in Go; the option of the
// framework for others.
func (v *view) keepConnections() []iikanji.Remedy {
	var out []iikanji.Remedy
	for _, name := range v.apps() {
		s, _ := v.in.Target.Service(name)
		if s.Engine != iikanji.EngineGo && s.Engine != "" {
			out = append(out, iikanji.Remedy{Kind: "patch", Target: name, Says: "keep connections between requests: a pool, or persistent connections of the framework"})
			continue
		}
		n := fmt.Sprint(v.wantedPool(name))
		out = append(out, iikanji.Remedy{Kind: "appenv", Target: name, Says: "keep " + n + " connections to the database open when they are idle", Args: map[string]string{"pool": n}})
	}
	return out
}

// wantedPool is a size for an app's pool: its connections at the end of the load, or
// the requests that were under way on average, within bounds.
func (v *view) wantedPool(app string) int {
	n := float64(poolLeast)
	for _, p := range v.in.pools(v.self) {
		if p.app == app {
			n = max(n, float64(p.size), math.Ceil(p.load))
		}
	}
	for _, f := range v.in.Facts {
		var c iikanji.Connections
		if f.Topic == iikanji.TopicConnection && f.Target == app && f.Key == v.self.Name && json.Unmarshal([]byte(f.Value), &c) == nil {
			n = max(n, float64(c.TCP+c.Unix))
		}
	}
	return int(min(n, poolMost))
}
