package cause

import (
	"fmt"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

const (
	lockSamples = 5    // least samples with a waiting thread
	lockShare   = 0.02 // least share of the run for which a thread waited
)

var lockFiles = Declare(PerDatabase, findLockFiles,
	Cause{Code: "DB124", Title: "waits for lock files", Of: iikanji.OfStatements, Relieves: Disk | Locks | Pool,
		Line:     "threads wait for a lock of a whole file (flock) beside a SQLite database",
		Remedies: []Way{Patch}})

// findLockFiles reports waits for locks of whole files (flock): threads of the app wait for each
// other, readers too if the lock is exclusive. The kernel shows a waiting thread and not
// what the holder of the lock does, so the gain is wide.
func findLockFiles(v *view) []iikanji.Finding {
	var out []iikanji.Finding
	for _, w := range known[iikanji.FileLockWait](v, iikanji.TopicFileLock) {
		waited := w.Waited.Seconds()
		if v.in.Run == nil || w.Seen < lockSamples || waited < lockShare*v.in.Run.Took.Seconds() {
			continue
		}
		mode := "exclusive"
		if w.Writes == 0 {
			mode = "shared"
		}
		out = append(out, iikanji.Finding{Code: "DB124", Where: v.self.Name,
			Claim: fmt.Sprintf("threads wait %.1f s for %s locks of %s, up to %d at a time", waited, mode, plural(float64(w.Files), "file"), w.Most),
			Evidence: []iikanji.Evidence{{Source: "/proc/locks", Text: fmt.Sprintf("a thread waited in %d of %d samples; longest for %s", w.Seen, w.Samples, filepath.Base(w.Worst))},
				{Source: "/proc/locks", Text: fmt.Sprintf("%d waits for an exclusive lock and %d for a shared one in the samples", w.Writes, w.Reads)}},
			Gain: between(waited, 0.1, 0.9),
			Remedies: v.patch("use transactions of the database in place of the lock file: readers need no lock at all; or hold the lock for the write only, shared for readers",
				map[string]string{"file": w.Worst}),
		})
	}
	return out
}
