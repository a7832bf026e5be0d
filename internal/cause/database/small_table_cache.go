package database

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var smallTableCache = cause.Declare(cause.PerDatabase, findSmallTableCache,
	cause.Cause{Code: "DB208", Title: "caches of tables and threads too small", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "tables and threads that were just closed are opened again",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findSmallTableCache reports caches of open tables and of threads that are too small, so
// that tables are reopened and threads recreated.
func findSmallTableCache(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	add := func(what, name string, misses, all, seconds float64, status string) {
		size, known := bytes(v, name)
		if !known || misses < cacheMisses || misses < missShare*all {
			return
		}
		want := strconv.FormatFloat(max(2*size, 64), 'f', 0, 64)
		out = append(out, iikanji.Finding{Code: "DB208", Where: name,
			Claim:    fmt.Sprintf("%s times %s again, because the cache has room for %.0f", cause.Number(misses), what, size),
			Evidence: []iikanji.Evidence{{Source: "status", Text: status}, {Source: "variable", Text: name + " = " + v.Variables[name]}},
			Gain:     cause.Between(misses*seconds, 0.3, 1),
			Remedies: []iikanji.Remedy{v.OnSelf("mysqlconf", "use a larger "+name+": "+want, map[string]string{name: want})},
		})
	}
	misses, hits, over := v.Status["table_open_cache_misses"], v.Status["table_open_cache_hits"], v.Status["table_open_cache_overflows"]
	if over > 0 { // without overflows, the misses are first openings
		add("a table was opened", "table_open_cache", misses, misses+hits, tableOpen,
			fmt.Sprintf("Table_open_cache_misses +%.0f, Table_open_cache_hits +%.0f, Table_open_cache_overflows +%.0f", misses, hits, over))
	}
	made, connections := v.Status["threads_created"], v.Status["connections"]
	add("a thread was created", "thread_cache_size", made, connections, threadMade, fmt.Sprintf("Threads_created +%.0f, Connections +%.0f", made, connections))
	return out
}
