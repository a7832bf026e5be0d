package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

var cacheConnectionLimit = Declare(PerRun, findCacheConnectionLimit,
	Cause{Code: "KV104", Title: "connection limit of a cache reached", Of: iikanji.OfCPU, Relieves: AnyLimit,
		Line:     "clients were refused",
		Remedies: []Way{Person, Patch}})

// findCacheConnectionLimit reports caches that refused connections, or stopped to accept them, because
// their limit was reached.
func findCacheConnectionLimit(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range v.caches() {
		refused := c.counter("rejected_connections", "listen_disabled_num")
		if refused == 0 {
			continue
		}
		limit := c.setting("maxclients", "max_connections", "maxconns")
		out = append(out, iikanji.Finding{Code: "KV104", Where: c.Name,
			Claim:    fmt.Sprintf("%s refused %s: its limit is %.0f", c.Name, plural(refused, "connection"), limit),
			Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("refused +%.0f, connections +%.0f; limit %.0f", refused, c.counter("total_connections_received", "total_connections"), limit)}},
			Gain:     between(refused*connectionSeconds, 0.1, 1),
			Remedies: append([]iikanji.Remedy{iikanji.ByPerson(c.Name, "allow more connections (maxclients of Redis, -c of memcached), and as many descriptors")},
				v.patchEach("limit the pool of each process, so that all together stay below the limit of "+c.Name)...)})
	}
	return out
}
