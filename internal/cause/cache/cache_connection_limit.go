package cache

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var cacheConnectionLimit = cause.Declare(cause.PerRun, findCacheConnectionLimit,
	cause.Cause{Code: "KV104", Title: "connection limit of a cache reached", Of: iikanji.OfCPU, Relieves: cause.AnyLimit,
		Line:     "clients were refused",
		Remedies: []cause.Way{cause.Person, cause.Patch}})

// findCacheConnectionLimit reports caches that refused connections, or stopped to accept them, because
// their limit was reached.
func findCacheConnectionLimit(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, c := range caches(v) {
		refused := c.counter("rejected_connections", "listen_disabled_num")
		if refused == 0 {
			continue
		}
		limit := c.setting("maxclients", "max_connections", "maxconns")
		out = append(out, iikanji.Finding{Code: "KV104", Where: c.Name,
			Claim:    fmt.Sprintf("%s refused %s: its limit is %.0f", c.Name, cause.Plural(refused, "connection"), limit),
			Evidence: []iikanji.Evidence{{Source: "cache", Text: fmt.Sprintf("refused +%.0f, connections +%.0f; limit %.0f", refused, c.counter("total_connections_received", "total_connections"), limit)}},
			Gain:     cause.Between(refused*cause.ConnectionSeconds, 0.1, 1),
			Remedies: append([]iikanji.Remedy{iikanji.ByPerson(c.Name, "allow more connections (maxclients of Redis, -c of memcached), and as many descriptors")},
				patchEach(v, "limit the pool of each process, so that all together stay below the limit of "+c.Name)...)})
	}
	return out
}
