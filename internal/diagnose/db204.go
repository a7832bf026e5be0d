package diagnose

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
)

const (
	connectionSeconds = 0.02   // that a refused client loses: it dials again, or fails
	cacheMisses       = 1000.0 // tables opened, or threads made, in a run
	missShare         = 0.05   // of all look-ups in the cache
	tableOpen         = 50e-6  // seconds to open a table again
	threadMade        = 40e-6  // seconds to make a thread, beside the connection itself
)

// db204 reports clients that were refused because max_connections were there.
func db204(v *view) []iikanji.Finding {
	n := v.status["connection_errors_max_connections"]
	most, known := v.bytes("max_connections")
	if n == 0 || !known {
		return nil
	}
	want := strconv.FormatFloat(2*most, 'f', 0, 64)
	return []iikanji.Finding{{Code: "DB204", Where: "database",
		Claim: fmt.Sprintf("the server refused %s: %.0f were there already", plural(n, "connection"), most),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Connection_errors_max_connections +%.0f", n)},
			{Source: "variable", Text: "max_connections = " + v.vars["max_connections"]}},
		Gain: between(n*connectionSeconds, 0.1, 1),
		Remedies: []iikanji.Remedy{
			{Kind: "mysqlconf", Target: "database", Says: "allow " + want + " connections, if memory does: each takes some megabytes", Args: map[string]string{"max_connections": want}},
			{Kind: "patch", Target: "app", Says: "limit the pool of each process of the app, so that all together stay below the limit"},
		},
	}}
}

// db208 reports caches of open tables and of threads that are too small, so
// that they are opened and made again and again.
func db208(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	add := func(what, name string, misses, all, seconds float64, status string) {
		size, known := v.bytes(name)
		if !known || misses < cacheMisses || misses < missShare*all {
			return
		}
		want := strconv.FormatFloat(max(2*size, 64), 'f', 0, 64)
		out = append(out, iikanji.Finding{Code: "DB208", Where: name,
			Claim:    fmt.Sprintf("%s times %s again, because the cache holds %.0f", people(misses), what, size),
			Evidence: []iikanji.Evidence{{Source: "status", Text: status}, {Source: "variable", Text: name + " = " + v.vars[name]}},
			Gain:     between(misses*seconds, 0.3, 1),
			Remedies: []iikanji.Remedy{{Kind: "mysqlconf", Target: "database", Says: "set " + name + " to " + want, Args: map[string]string{name: want}}},
		})
	}
	misses, hits, over := v.status["table_open_cache_misses"], v.status["table_open_cache_hits"], v.status["table_open_cache_overflows"]
	if over > 0 { // else they are the first time that a table is opened
		add("a table was opened", "table_open_cache", misses, misses+hits, tableOpen,
			fmt.Sprintf("Table_open_cache_misses +%.0f, Table_open_cache_hits +%.0f, Table_open_cache_overflows +%.0f", misses, hits, over))
	}
	made, connections := v.status["threads_created"], v.status["connections"]
	add("a thread was made", "thread_cache_size", made, connections, threadMade, fmt.Sprintf("Threads_created +%.0f, Connections +%.0f", made, connections))
	return out
}
