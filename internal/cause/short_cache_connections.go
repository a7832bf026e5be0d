package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// kvConnect is what a new connection to a cache costs both sides, in seconds:
// three round trips of TCP and a first command on a loopback.
const kvConnect = 100e-6

var shortCacheConnections = Declare(PerRun, findShortCacheConnections,
	Cause{Code: "KV102", Title: "connections to a cache that come and go", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "a client is made for each request",
		Remedies: []Way{Patch}})

// findShortCacheConnections reports connections to a cache that come and go: an app that makes a client
// for each request.
func findShortCacheConnections(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range v.caches() {
		made, requests := c.counter("total_connections_received", "total_connections"), v.requests()
		if requests == 0 || made < comeShare*requests || made < come(c.setting("connected_clients", "curr_connections")) {
			continue
		}
		commands := c.counter("total_commands_processed", "cmd_get")
		out = append(out, iikanji.Finding{Code: "KV102", Where: c.Name,
			Claim:    fmt.Sprintf("%s new connections to %s were opened, %.2g for each request: a client is made again and again", people(made), c.Name, made/requests),
			Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("connections +%.0f, commands +%.0f; %s requests", made, commands, people(requests))}},
			Gain:     between(made*kvConnect, 0.5, 3),
			Remedies: v.patchEach("make one client of " + c.Name + " at the start, with its pool, and use it for all requests")})
	}
	return out
}
