package tune

import "github.com/iikanji/iikanji"

// answerRuns is how many runs' time the build and the comparison of answers of a
// change of source take.
const answerRuns = 2

// extraRuns is the cost of a candidate's trial beyond its runs, in runs.
func (c Candidate) extraRuns() float64 {
	if c.rewrites() {
		return answerRuns
	}
	return 0
}

// knob reports whether a candidate is one of several values of a constant in source.
// What it is worth depends on the limit: a constant that throttles hides nothing as
// long as another limit binds.
func (c Candidate) knob() bool { return c.rewrites() && c.Remedy.Args["variant"] != "" }

// freed reports whether a change with a considerable effect was kept after an
// attempt that had no gain. The limit may then be another one although the same
// resource binds, so that a knob is tried again.
func (q *queue) freed(attempt int) bool {
	a := q.ledger.Attempts[attempt]
	if a.Verdict.Call == iikanji.Keep || a.Verdict.Reason == iikanji.Gate || a.Skipped != "" {
		return false
	}
	for i := range q.ledger.Attempts[attempt+1:] {
		later := &q.ledger.Attempts[attempt+1+i]
		if later.Verdict.Call == iikanji.Keep && later.Verdict.Effect.Mid >= leap && len(q.ledger.inForceOf(later)) > 0 {
			return true
		}
	}
	return false
}
