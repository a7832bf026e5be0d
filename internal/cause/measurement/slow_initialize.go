package measurement

import (
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// tightShare is the share of the time for initialize from which on a slower run, or the
// reboot before the last one, may exceed it.
const tightShare = 0.7

var slowInitialize = cause.Declare(cause.PerRun, findSlowInitialize,
	cause.Cause{Code: "BEN108", Title: "initialize is near its limit", Doubt: true, Relieves: cause.AnyLimit,
		Line:     "initialize takes most of the time that it may take",
		Remedies: []cause.Way{cause.Person}})

// findSlowInitialize reports an initialize that takes most of its time. The benchmarker's own
// words have priority over what the access log showed.
func findSlowInitialize(v *cause.View) []iikanji.Finding {
	run := v.Input.Run
	if run == nil {
		return nil
	}
	var phase iikanji.PhaseStat
	for _, p := range run.Phases {
		if p.Phase == "initialize" {
			phase = p
		}
	}
	took, limit := phase.Took.Seconds(), phase.Limit.Seconds()
	words := said(v, iikanji.MeansInit)
	for _, m := range words {
		if m.Value > 0 {
			took = m.Value
		}
		if m.Limit > 0 {
			limit = m.Limit
		}
	}
	if limit <= 0 || took < tightShare*limit {
		return nil
	}
	f := iikanji.Finding{Code: "BEN108", Where: "POST /initialize", Evidence: evidenceOf(words),
		Claim:    fmt.Sprintf("initialize takes %.3g of %.3g s", took, limit),
		Remedies: []iikanji.Remedy{iikanji.ByPerson("app", "move work out of initialize: load the data with indexes in place, prepare files and caches once at deploy, and do not wait for what the load can wait for")}}
	if phase.Since > 0 {
		f.Claim += fmt.Sprintf(", and more since run %d: %.3g s before", phase.Since, phase.Usual.Seconds())
		f.Remedies[0].Says = fmt.Sprintf("see what changed with run %d (iikanji history diff); ", phase.Since) + f.Remedies[0].Says
	}
	return []iikanji.Finding{f}
}
