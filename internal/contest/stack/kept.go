package stack

import "github.com/iikanji/iikanji/internal/machine/process"

// The latest programs of a service are kept, and the one that was built from the same
// files is offered to the go command as the program of an earlier build. The go command
// compares the build ID in it with its own digest of the compiler, the flags, the
// environment and all sources. It links anew unless they are equal, so a kept program is
// used only if it is what the build would make. It does not read the rest of the program.
const (
	keptDir = ".kept" // in bin/; no service has this name
	// mostKept is the number of programs of a service. A comparison that switches n changes of
	// the source, one after the other, goes through n+1 sources each time.
	mostKept = 16
)

func (f folder) kept() process.Programs {
	return process.Programs{Dir: f.path(binDir, keptDir), Most: mostKept}
}
