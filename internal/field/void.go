package field

import (
	"cmp"

	"github.com/iikanji/iikanji"
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
