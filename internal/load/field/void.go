package field

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// void is why a run of a search does not count; "" if it counts. accept makes a
// disturbed run count, with a warning.
func (f *Field) void(run *iikanji.Run, accept bool) string {
	why := f.disturbed(run)
	if why == "" && bounded(run) {
		return ""
	}
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

// bounded makes a run count although the load generator was the limit, if it only lacked
// CPU time. Its score is what this site and this generator reach together: a lower bound
// of the site's. A difference of two states keeps its sign with it, unless a change
// alters what an answer costs the generator. Without such runs, a search would undo the
// changes that make a site faster than its generator.
func bounded(run *iikanji.Run) bool {
	if run.Outcome != iikanji.Void || !run.Load.Busy || !(run.Score > 0) {
		return false
	}
	count(run, "the load generator was the limit, so the score is a lower bound: "+run.Load.Why)
	return true
}

// count makes a void run count, with a warning.
func count(run *iikanji.Run, warning string) {
	run.Outcome, run.Load.Void, run.Reasons = iikanji.Passed, false, []string{"all checks passed"}
	if run.Deducted > 0 {
		run.Reasons[0] = fmt.Sprintf("passed with errors or timeouts, which cost %g", run.Deducted)
	}
	run.Warnings = append(run.Warnings, warning)
}

// shareMachine makes a run count whose load generator woke up late because other
// programs, the hypervisor or a quota took its CPU time, if the site runs on the
// same machine and is disturbed alike. The latencies are too long and the score is
// too low, as everything on that machine is.
func shareMachine(run *iikanji.Run, env *iikanji.Environment) {
	if run.Outcome != iikanji.Void || !run.Load.Starved || !observe.Disturbed(env) || !(run.Score > 0) {
		return
	}
	count(run, "the load generator had too little CPU time beside what else used the machine: "+run.Load.Why+"; compare only runs that were interleaved")
}

// disturbed is how the environment of a run differs grossly from that of the
// search's runs before it; "" if it does not.
func (f *Field) disturbed(run *iikanji.Run) string {
	why := ""
	if run.Environment != nil {
		why = f.usual.Check(run.Environment)
	}
	if full := observe.FullDisk(run); full != "" {
		why = full
	}
	return why
}

// disks are the folders of each machine whose disks must have room: that of the data, and those
// of the services' logs, which a load fills.
func (f *Field) disks() map[string][]string {
	all := map[string][]string{}
	add := func(on, dir string) {
		if dir != "" && !slices.Contains(all[on], dir) {
			all[on] = append(all[on], dir)
		}
	}
	add("", f.Dir)
	if f.Subject == nil {
		return all
	}
	for _, s := range f.Subject.Target().Services {
		for _, log := range s.Logs {
			add(s.Host, filepath.Dir(log.Path))
		}
		for _, dir := range s.Files {
			add(s.Host, dir)
		}
	}
	return all
}

// fullDisk makes a single run void if a disk was nearly full at its end: the database may have
// waited for space, and logs may lack lines. One whose score is not given yet stays so, and
// does not count later.
func fullDisk(run *iikanji.Run) {
	why := observe.FullDisk(run)
	if why == "" {
		return
	}
	run.Load.Void, run.Load.Why = true, why
	if run.Outcome == iikanji.Passed || run.Outcome == iikanji.Failed {
		run.Outcome = iikanji.Void
		run.Reasons = append([]string{why}, run.Reasons...)
	}
}
