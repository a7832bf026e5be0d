package cause

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
)

const (
	cacheMisses = 1000.0 // least tables opened, or threads created, in a run
	missShare   = 0.05   // least share of all look-ups in the cache
	tableOpen   = 50e-6  // seconds to open a table again
	threadMade  = 40e-6  // seconds to create a thread, without the connection itself
)

var connectionLimit = Declare(PerDatabase, findConnectionLimit,
	Cause{Code: "DB204", Title: "connection limit reached", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "clients were refused: too many connections",
		Remedies: []Way{Plan("mysqlconf", "", iikanji.RoleDatabase), Patch}})

// findConnectionLimit reports clients that were refused because max_connections was reached.
func findConnectionLimit(v *view) []iikanji.Finding {
	n := v.status["connection_errors_max_connections"]
	most, known := v.bytes("max_connections")
	if n == 0 || !known {
		return nil
	}
	want := strconv.FormatFloat(2*most, 'f', 0, 64)
	return []iikanji.Finding{{Code: "DB204", Where: v.self.Name,
		Claim: fmt.Sprintf("the server refused %s: all %.0f connections were in use", plural(n, "connection"), most),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Connection_errors_max_connections +%.0f", n)},
			{Source: "variable", Text: "max_connections = " + v.vars["max_connections"]}},
		Gain: between(n*connectionSeconds, 0.1, 1),
		Remedies: append([]iikanji.Remedy{
			v.onSelf("mysqlconf", "allow "+want+" connections if there is enough memory: each needs some megabytes", map[string]string{"max_connections": want})},
			v.patch("limit the pool of each process of the app, so that all together stay below the limit", nil)...),
	}}
}
