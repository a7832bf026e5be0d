package database

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/cause/database/index"
)

var prepareChurn = cause.Declare(cause.PerDatabase, findPrepareChurn,
	cause.Cause{Code: "DB115", Title: "prepare churn", Of: iikanji.OfStatements, Relieves: cause.CPU | cause.Locks | cause.Pool,
		Line:     "statements are prepared for one execution each",
		Remedies: []cause.Way{cause.Plan("appenv", "", iikanji.RoleApp), cause.Patch}})

// findPrepareChurn reports statements prepared for one execution each, by the server's
// counters, or by the Prepare lines of the slow log.
func findPrepareChurn(v *cause.View) []iikanji.Finding {
	prepared, executed := v.Status["com_stmt_prepare"], v.Status["com_stmt_execute"]
	source, seconds := "status", 0.0
	for _, d := range v.Digests {
		if n := float64(d.Query.Prepares); n > 0 {
			seconds += d.Query.PrepareTime.Seconds()
			if v.Status["com_stmt_prepare"] == 0 {
				prepared, executed, source = prepared+n, executed+d.Totals.Count, "slow log"
			}
		}
		switch text := strings.ToLower(d.Key + " " + d.Query.Fingerprint); {
		case strings.Contains(text, "administrator command: prepare"), strings.Contains(text, "admin prepare"):
			seconds += d.Totals.Seconds
			if v.Status["com_stmt_prepare"] == 0 {
				prepared, executed, source = prepared+d.Totals.Count, prepared+d.Totals.Count, "slow log"
			}
		}
	}
	if prepared < 1000 || executed > 3*prepared {
		return nil
	}
	// Round trips are work of app, server and kernel. Only the time of statements, most of
	// which is waiting where the CPU is the limit, is scaled by the ranking.
	trips := prepared * cause.RoundTrip / cmp.Or(v.Weight, 1)
	f := iikanji.Finding{Code: "DB115", Where: v.Self.Name,
		Claim:    fmt.Sprintf("%s statements were prepared for %s executions: each costs one more round trip, and a command to close it", cause.Number(prepared), cause.Number(executed)),
		Evidence: []iikanji.Evidence{{Source: source, Text: fmt.Sprintf("Com_stmt_prepare +%.0f, Com_stmt_execute +%.0f", prepared, executed)}},
		Gain:     iikanji.Range{Lo: cause.Round(trips/2 + seconds/2), Hi: cause.Round(trips + seconds)},
		Remedies: append(v.OnApps("appenv", "let the driver insert the values into the text (Go: interpolateParams=true in the DSN)", map[string]string{"dsn": "interpolateParams=true"}),
			v.Patch("prepare once and keep the statement", nil)...),
	}
	if !v.Considerable(2 * prepared * index.CostStatement) {
		return nil
	}
	return []iikanji.Finding{f}
}
