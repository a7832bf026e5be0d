package app

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

var moreThreadsThanConnections = cause.Declare(cause.PerRun, findMoreThreadsThanConnections,
	cause.Cause{Code: "APP224", Title: "more threads than connections", Of: iikanji.OfCPU, Inside: true, Relieves: cause.AnyLimit,
		Line:     "all threads together may open more connections than the database takes",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase)}})

// findMoreThreadsThanConnections reports app servers whose threads may together open more connections than a
// database takes.
func findMoreThreadsThanConnections(v *cause.View) []iikanji.Finding {
	var out []iikanji.Finding
	for _, a := range appServers(v) {
		for _, d := range v.Databases {
			limit, err := strconv.Atoi(d.Variables["max_connections"])
			if err != nil || limit <= 0 || a.slots <= limit-connectionsKept {
				continue
			}
			want := fmt.Sprint(a.slots + connectionsKept + limit/10)
			out = append(out, iikanji.Finding{Code: "APP224", Where: a.name,
				Claim:    fmt.Sprintf("%d processes of %d threads may open %d connections, and %s takes %d", a.Processes, a.Threads, a.slots, v.Input.Called(d.Self.Name), limit),
				Evidence: []iikanji.Evidence{a.use(), {Source: "variable", Text: "max_connections = " + d.Variables["max_connections"]}},
				Remedies: []iikanji.Remedy{d.OnSelf("mysqlconf", "allow "+want+" connections if there is enough memory: each needs some megabytes", map[string]string{"max_connections": want})}})
		}
	}
	return out
}
