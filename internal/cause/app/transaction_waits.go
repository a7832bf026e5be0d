package app

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/cause"
)

// waitsInTransactions is the code of the lever for what waits in a transaction.
const waitsInTransactions = "APP227"

// transactionWaits reports what waits in transactions that the run had. The time of their
// statements shows nothing of the wait, which holds a connection and locks: a sleep counts as
// often as its statements ran.
func transactionWaits(v *cause.View) []iikanji.Finding {
	var hot []hotSite
	for _, s := range v.Sites {
		if s.Lever.Code != waitsInTransactions {
			continue
		}
		h := hotSite{Site: s}
		ran := executions(v, s)
		if !statementsSeen(v) {
			ran = requestsTo(v, s)
		}
		if ran == 0 {
			continue
		}
		h.heat.rows = ran
		for _, p := range s.Places {
			h.heat.seconds += ran * p.Waits.Seconds()
		}
		saved := h.heat.seconds
		if v.Seconds > 0 { // it is shown as a share of the statements' time
			saved = min(saved, v.Seconds)
		}
		h.gain = cause.Between(saved, s.Lever.Saved.Lo, s.Lever.Saved.Hi)
		hot = append(hot, h)
	}
	var out []iikanji.Finding
	for _, s := range oncePerSource(hot) {
		f := leverFinding(v, s, nil)
		f.Claim = fmt.Sprintf("%s; its statements ran %s", s.At().What, cause.Plural(s.heat.rows, "time"))
		if s.heat.seconds > 0 {
			f.Claim += fmt.Sprintf(", so a connection and its locks waited for up to %.1f s", s.heat.seconds)
		}
		f.Evidence = slices.Concat(reachedBy(v, s.Site), statementsOf(s.At()))
		out = append(out, f)
	}
	return out
}
