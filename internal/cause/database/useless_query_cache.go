package database

import (
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	cacheInserts = 1000.0 // least results stored in the query cache in a run
	cacheHits    = 0.5    // hits per stored result from which on the cache is useful
	cacheInsert  = 20e-6  // seconds to store and to invalidate a result, under one lock
)

var uselessQueryCache = cause.Declare(cause.PerDatabase, findUselessQueryCache,
	cause.Cause{Code: "DB203", Title: "query cache in the way", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "its lock and its invalidation cost more than its hits save",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findUselessQueryCache reports a query cache that is filled and rarely hit: each result is
// stored under one lock of the whole server, and each write invalidates all
// results of its table. A cache that most statements hit is not reported.
func findUselessQueryCache(v *cause.View) []iikanji.Finding {
	size, _ := bytes(v, "query_cache_size")
	kind := strings.ToUpper(v.Variables["query_cache_type"])
	inserts, hits := v.Status["qcache_inserts"], v.Status["qcache_hits"]
	if size == 0 || kind == "OFF" || kind == "0" || kind == "" || inserts < cacheInserts || hits > cacheHits*inserts {
		return nil
	}
	return []iikanji.Finding{{Code: "DB203", Where: v.Self.Name,
		Claim: fmt.Sprintf("%s results were stored in the query cache for %s hits: most results are discarded unused", cause.Number(inserts), cause.Number(hits)),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Qcache_inserts +%.0f, Qcache_hits +%.0f, Qcache_lowmem_prunes +%.0f", inserts, hits, v.Status["qcache_lowmem_prunes"])},
			{Source: "variable", Text: "query_cache_type = " + v.Variables["query_cache_type"] + ", query_cache_size = " + v.Variables["query_cache_size"]}},
		Gain:     iikanji.Range{Hi: cause.Round(inserts * cacheInsert)},
		Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", "turn the query cache off", map[string]string{"query_cache_type": "0", "query_cache_size": "0"})},
	}}
}
