package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

var sqliteTrace = Declare(PerDatabase, findSqliteTrace,
	Cause{Code: "DB132", Title: "trace of SQLite statements", Of: iikanji.OfStatements, Relieves: AnyLimit,
		Line:     "the app writes a line for each statement",
		Remedies: []Way{Plan("appenv", "", iikanji.RoleApp)}})

// findSqliteTrace reports the trace that an app writes of its statements in SQLite files: a line
// for each statement, by the thread that executes it.
func findSqliteTrace(v *view) []iikanji.Finding {
	if !v.files() {
		return nil
	}
	lines := 0.0
	for _, d := range v.digests {
		lines += d.q.Count
	}
	f := iikanji.Finding{Code: "DB132", Where: "trace",
		Claim:    fmt.Sprintf("the app writes a line of its trace for each of %s statements in SQLite files", people(lines)),
		Evidence: []iikanji.Evidence{{Source: "trace", Text: fmt.Sprintf("%.0f lines", lines)}},
		Gain:     iikanji.Range{Lo: round(lines * printed.Lo), Hi: round(lines * printed.Hi)},
		Remedies: v.onApps("appenv", "write no trace of the statements (observability)", map[string]string{"trace": "off"}),
	}
	if lines < leastLines*v.requests() || !v.worth(f.Gain) {
		return nil
	}
	return []iikanji.Finding{f}
}
