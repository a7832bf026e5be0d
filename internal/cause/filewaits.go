package cause

import (
	"fmt"

	"github.com/iikanji/iikanji"
)

// fileWaits is the time for which threads waited for lock files beside a database, in
// seconds, where waiting may be the limit; 0 where the CPU or the load generator is, and
// where only few samples show it.
func (in Input) fileWaits(database iikanji.Service) float64 {
	if b := in.Binding(); in.Run == nil || b.Resource == "cpu" || b.Resource == "generator" {
		return 0
	}
	waited := 0.0
	for _, f := range in.Facts {
		w, ok := decode[iikanji.FileLockWait](f, iikanji.TopicFileLock)
		if ok && f.Target == database.Name && w.Seen >= lockSamples && w.Waited.Seconds() >= lockShare*in.Run.Took.Seconds() {
			waited += w.Waited.Seconds()
		}
	}
	return waited
}

// LockFileSeconds is the time for which threads waited for lock files beside any
// database, in seconds of the binding resource. It adds to the time of the statements:
// a thread that holds such a lock runs statements, and others wait for their end.
func (in Input) LockFileSeconds() float64 {
	in = in.settle()
	sum := 0.0
	for _, s := range in.Target.WithRole(iikanji.RoleDatabase) {
		sum += in.fileWaits(s)
	}
	return sum
}

// heldFor is the part of the waits for lock files that some seconds of a database's
// statements cause at most: their share of the time of all its statements. Which of them
// run under a lock is not known.
func (v *view) heldFor(seconds float64) (waited float64, evidence []iikanji.Evidence) {
	all := v.in.fileWaits(v.self)
	if all == 0 || v.seconds <= 0 || seconds <= 0 {
		return 0, nil
	}
	share := min(1, seconds/v.seconds)
	return all * share, []iikanji.Evidence{{Source: "/proc/locks",
		Text: fmt.Sprintf("threads waited %.1f s for lock files; holders of the locks spend up to %.0f %% of their statements' time here", all, 100*share)}}
}
