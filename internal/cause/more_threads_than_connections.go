package cause

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
)

var moreThreadsThanConnections = Declare(PerRun, findMoreThreadsThanConnections,
	Cause{Code: "APP224", Title: "more threads than connections", Of: iikanji.OfCPU, Inside: true, Relieves: AnyLimit,
		Line:     "all threads together may open more connections than the database takes",
		Remedies: []Way{Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findMoreThreadsThanConnections reports app servers whose threads may together open more connections than a
// database takes.
func findMoreThreadsThanConnections(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, a := range v.appServers() {
		for _, d := range v.databases {
			limit, err := strconv.Atoi(d.vars["max_connections"])
			if err != nil || limit <= 0 || a.slots <= limit-connectionsKept {
				continue
			}
			want := fmt.Sprint(a.slots + connectionsKept + limit/10)
			out = append(out, iikanji.Finding{Code: "APP224", Where: a.name,
				Claim:    fmt.Sprintf("%d processes of %d threads may open %d connections, and %s takes %d", a.Processes, a.Threads, a.slots, v.in.called(d.self.Name), limit),
				Evidence: []iikanji.Evidence{a.use(), {Source: "variable", Text: "max_connections = " + d.vars["max_connections"]}},
				Remedies: []iikanji.Remedy{d.onSelf("mysqlconf", "allow "+want+" connections if there is enough memory: each needs some megabytes", map[string]string{"max_connections": want})}})
		}
	}
	return out
}
