package cache

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// kvConnect is what a new connection to a cache costs both sides, in seconds:
// three round trips of TCP and a first command on a loopback.
const kvConnect = 100e-6

var shortCacheConnections = cause.Declare(cause.PerRun, findShortCacheConnections,
	cause.Cause{Code: "KV102", Title: "connections to a cache that come and go", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "a client is made for each request",
		Remedies: []cause.Way{cause.Patch}})

// findShortCacheConnections reports connections to a cache that come and go: an app that makes a client
// for each request.
func findShortCacheConnections(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range caches(v) {
		made, requests := c.counter("total_connections_received", "total_connections"), v.Requests()
		if requests == 0 || made < cause.MadeShare*requests || made < cause.LeastMade(c.setting("connected_clients", "curr_connections")) {
			continue
		}
		commands := c.counter("total_commands_processed", "cmd_get")
		out = append(out, iikanji.Finding{Code: "KV102", Where: c.Name,
			Claim:    fmt.Sprintf("%s new connections to %s were opened, %.2g for each request: a client is made again and again", cause.Number(made), c.Name, made/requests),
			Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("connections +%.0f, commands +%.0f; %s requests", made, commands, cause.Number(requests))}},
			Gain:     cause.Between(made*kvConnect, 0.5, 3),
			Remedies: patchEach(v, "make one client of "+c.Name+" at the start, with its pool, and use it for all requests")})
	}
	return out
}
