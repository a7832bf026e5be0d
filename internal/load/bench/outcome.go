package bench

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// An ending holds everything on which the outcome of a run depends.
type ending struct {
	fatal            []string
	interrupted      bool
	loaded           bool // there was a load phase
	took, loadTime   time.Duration
	why              string // why the generator was the limit
	score            scenario.Score
	failAtZero       bool
	errors, timeouts int64
}

// judge returns the outcome and its reasons. A fatal fault of the target always
// fails the run. A run that the generator limited says nothing about the score,
// so it is void before its score can fail it.
func judge(e ending) (iikanji.Outcome, []string) {
	switch {
	case len(e.fatal) > 0:
		return iikanji.Failed, e.fatal
	case e.interrupted && e.loaded:
		return iikanji.Interrupted, []string{fmt.Sprintf("stopped after %v of %v of load", round(e.took), e.loadTime)}
	case e.interrupted:
		return iikanji.Interrupted, []string{"stopped before the load began"}
	case !e.loaded:
		return iikanji.Passed, []string{"all checks passed; there was no load"}
	case e.why != "":
		return iikanji.Void, []string{"the load generator was the limit: " + e.why}
	case e.failAtZero && e.score.Final <= 0:
		return iikanji.Failed, []string{fmt.Sprintf("the score is not above 0: %g − %g", e.score.Raw, e.score.Deducted)}
	case e.errors+e.timeouts > 0:
		return iikanji.Passed, []string{fmt.Sprintf("passed with %d errors and %d timeouts, which cost %g", e.errors, e.timeouts, e.score.Deducted)}
	}
	return iikanji.Passed, []string{"all checks passed"}
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }
