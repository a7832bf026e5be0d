package cause

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
)

var prepareChurn = Declare(PerDatabase, findPrepareChurn,
	Cause{Code: "DB115", Title: "prepare churn", Of: iikanji.OfStatements, Relieves: CPU | Locks | Pool,
		Line:     "statements are prepared for one execution each",
		Remedies: []Way{Plan("appenv", "", iikanji.RoleApp), Patch}})

// findPrepareChurn reports statements prepared for one execution each, by the server's
// counters, or by the Prepare lines of the slow log.
func findPrepareChurn(v *view) []iikanji.Finding {
	prepared, executed := v.status["com_stmt_prepare"], v.status["com_stmt_execute"]
	source, seconds := "status", 0.0
	for _, d := range v.digests {
		if n := float64(d.Query.Prepares); n > 0 {
			seconds += d.Query.PrepareTime.Seconds()
			if v.status["com_stmt_prepare"] == 0 {
				prepared, executed, source = prepared+n, executed+d.q.Count, "slow log"
			}
		}
		switch text := strings.ToLower(d.Key + " " + d.Query.Fingerprint); {
		case strings.Contains(text, "administrator command: prepare"), strings.Contains(text, "admin prepare"):
			seconds += d.q.Seconds
			if v.status["com_stmt_prepare"] == 0 {
				prepared, executed, source = prepared+d.q.Count, prepared+d.q.Count, "slow log"
			}
		}
	}
	if prepared < 1000 || executed > 3*prepared {
		return nil
	}
	// Round trips are work of app, server and kernel. Only the time of statements, most of
	// which is waiting where the CPU is the limit, is scaled by the ranking.
	trips := prepared * roundTrip / cmp.Or(v.weight, 1)
	f := iikanji.Finding{Code: "DB115", Where: v.self.Name,
		Claim:    fmt.Sprintf("%s statements were prepared for %s executions: each costs one more round trip, and a command to close it", people(prepared), people(executed)),
		Evidence: []iikanji.Evidence{{Source: source, Text: fmt.Sprintf("Com_stmt_prepare +%.0f, Com_stmt_execute +%.0f", prepared, executed)}},
		Gain:     iikanji.Range{Lo: round(trips/2 + seconds/2), Hi: round(trips + seconds)},
		Remedies: append(v.onApps("appenv", "let the driver insert the values into the text (Go: interpolateParams=true in the DSN)", map[string]string{"dsn": "interpolateParams=true"}),
			v.patch("prepare once and keep the statement", nil)...),
	}
	if !v.considerable(2 * prepared * costStatement) {
		return nil
	}
	return []iikanji.Finding{f}
}
