package field

import (
	"cmp"
	"fmt"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/observe"
)

// void is why a run of a search does not count; "" if it counts. accept makes a
// disturbed run count, with a warning.
func (f *Field) void(run *iikanji.Run, accept bool) string {
	why := f.disturbed(run)
	if why == "" && (run.Load.Void || run.Outcome == iikanji.Void) {
		why = cmp.Or(run.Load.Why, "not a valid measurement")
	}
	if why == "" {
		return ""
	}
	run.Warnings = append(run.Warnings, why)
	if !accept && !f.Noisy {
		return why
	}
	if run.Environment != nil {
		run.Environment.Accepted = true
	}
	run.Load.Void = false
	if run.Outcome == iikanji.Void {
		run.Outcome = iikanji.Passed
	}
	return ""
}

// shareMachine makes a run count whose load generator woke up late because other
// programs, the hypervisor or a quota took its CPU time, if the site runs on the
// same machine and is disturbed alike. The latencies are too long and the score is
// too low, as everything on that machine is.
func shareMachine(run *iikanji.Run, env *iikanji.Environment) {
	if run.Outcome != iikanji.Void || !run.Load.Starved || !observe.Disturbed(env) || !(run.Score > 0) {
		return
	}
	why := "the load generator had too little CPU time beside what else used the machine: " + run.Load.Why
	run.Outcome, run.Load.Void, run.Reasons = iikanji.Passed, false, []string{"all checks passed"}
	if run.Deducted > 0 {
		run.Reasons[0] = fmt.Sprintf("passed with errors or timeouts, which cost %g", run.Deducted)
	}
	run.Warnings = append(run.Warnings, why+"; compare only runs that were interleaved")
}

// disturbed is how the environment of a run differs grossly from that of the
// search's runs before it; "" if it does not.
func (f *Field) disturbed(run *iikanji.Run) string {
	e := run.Environment
	if e == nil {
		return ""
	}
	why := f.usual.Check(e)
	if e.Disturbance == iikanji.DiskFull {
		why = "the disk of " + f.Dir + " is nearly full"
	}
	return why
}
