package choose

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji/internal/proof/stats"
)

// An Advice is whether to press the benchmarker's button once more with the state that was
// chosen.
type Advice struct {
	Again bool   `json:"again"`
	Why   string `json:"why"`
	// Rate is the failure rate that n clean runs of n still allow at 95 %, and More the one
	// after MoreRuns more clean ones; 0 for a state with a failed run.
	Rate     float64 `json:"failure_rate_allowed,omitempty"`
	More     float64 `json:"after_more,omitempty"`
	MoreRuns int     `json:"more_runs,omitempty"`
}

const (
	moreRuns = 5
	alpha    = 0.05
	// leastGain is the least gain in the expected score that one more press is worth.
	leastGain = 0.005
)

// advice says when to stop pressing.
func (c *Choice) advice(runs []Run) Advice {
	if c.With < 0 {
		return Advice{Again: true, Why: "no run has passed"}
	}
	row := c.Rows[c.With]
	a := Advice{}
	if n := len(row.Runs); n == row.Passed {
		a.Rate, a.More, a.MoreRuns = stats.FailureBound(n, alpha), stats.FailureBound(n+moreRuns, alpha), moreRuns
	}
	i := slices.IndexFunc(runs, func(r Run) bool { return r.ID == c.Registered })
	own := i >= 0 && runs[i].State.Key == row.Key
	switch {
	case c.Final == Best && !own:
		a.Why = "the registered score is of another state, and higher than this one's: more runs of this one do not lower it"
	case c.Final == Best:
		a.Again, a.Why = c.pressBest(row)
	case !own:
		a.Again, a.Why = true, "the last run must be of the state to end with, and pass"
	default:
		a.Again, a.Why = pressLast(row, runs[i])
	}
	return a
}

// pressLast advises where the last run registers, and is of the state to end with: one more
// run puts its score at stake.
func pressLast(row Row, last Run) (again bool, why string) {
	if hopes := row.Median * row.Passes; last.Score < hopes {
		return true, fmt.Sprintf("run %d registers less than one more run is expected to (%.0f, failures counted)", last.ID, hopes)
	}
	return false, fmt.Sprintf("run %d registers; one more run fails with a chance of %.0f %%", last.ID, 100*(1-row.Passes))
}

// pressBest advises where the highest score registers, and is of the state to end with:
// each further run raises it by selection, so that the run after the contest misses the
// floor more easily.
func (c *Choice) pressBest(row Row) (again bool, why string) {
	now, next := c.Spread.registers(row.Passed, c.Floor), c.Spread.registers(row.Passed+1, c.Floor)
	gain := row.Passes * (next/now - 1)
	if gain < leastGain {
		return false, fmt.Sprintf("one more run changes the expected result by %+.1f %%: what it adds to the highest score, the floor takes", 100*gain)
	}
	return true, fmt.Sprintf("one more run is expected to add %.1f %%, the floor considered", 100*gain)
}
