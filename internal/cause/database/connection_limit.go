package database

import (
	"fmt"
	"strconv"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

const (
	cacheMisses = 1000.0 // least tables opened, or threads created, in a run
	missShare   = 0.05   // least share of all look-ups in the cache
	tableOpen   = 50e-6  // seconds to open a table again
	threadMade  = 40e-6  // seconds to create a thread, without the connection itself
)

var connectionLimit = cause.Declare(cause.PerDatabase, findConnectionLimit,
	cause.Cause{Code: "DB204", Title: "connection limit reached", Of: iikanji.OfStatements, Relieves: cause.AnyLimit,
		Line:     "clients were refused: too many connections",
		Remedies: []cause.Way{cause.Plan("mysqlconf", "", iikanji.RoleDatabase), cause.Patch}})

// findConnectionLimit reports clients that were refused because max_connections was reached.
func findConnectionLimit(v *cause.View) []iikanji.Finding {
	n := v.Status["connection_errors_max_connections"]
	most, known := bytes(v, "max_connections")
	if n == 0 || !known {
		return nil
	}
	want := strconv.FormatFloat(2*most, 'f', 0, 64)
	return []iikanji.Finding{{Code: "DB204", Where: v.Self.Name,
		Claim: fmt.Sprintf("the server refused %s: all %.0f connections were in use", cause.Plural(n, "connection"), most),
		Evidence: []iikanji.Evidence{{Source: "status", Text: fmt.Sprintf("Connection_errors_max_connections +%.0f", n)},
			{Source: "variable", Text: "max_connections = " + v.Variables["max_connections"]}},
		Gain: cause.Between(n*cause.ConnectionSeconds, 0.1, 1),
		Remedies: append([]iikanji.Remedy{
			v.OnSelf("mysqlconf", "allow "+want+" connections if there is enough memory: each needs some megabytes", map[string]string{"max_connections": want})},
			v.Patch("limit the pool of each process of the app, so that all together stay below the limit", nil)...),
	}}
}
