package trial

import (
	"context"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// A Site is what trials change and run.
type Site interface {
	// Apply and Revert make and undo a planned change; the journal has it first.
	Apply(ctx context.Context, id iikanji.ChangeID) error
	Revert(ctx context.Context, id iikanji.ChangeID, why string) error
	// Undo undoes the changes that are applied, the latest first, even when ctx is done.
	Undo(ctx context.Context, changes []*iikanji.Change, why string) error
	// Perform does one operation that changes nothing, as a restart.
	Perform(ctx context.Context, op iikanji.Op) error
	// Wiped reports whether initialize undid one of the changes.
	Wiped(ctx context.Context, changes []*iikanji.Change) (bool, error)
	// Bench runs the site once. void is why the run does not count; "" if it counts.
	Bench(ctx context.Context, spec load.Spec, touched ...*iikanji.Change) (run *iikanji.Run, void string, err error)
	Now() time.Time
}

// Runs are what earlier runs have shown, and take what a trial's runs show.
type Runs interface {
	// Incumbent are the runs of the present state.
	Incumbent() []*iikanji.Run
	// IncumbentRan records a run of it.
	IncumbentRan(run *iikanji.Run)
	// Switched: the site was brought into another state, so that the incumbent's latest run
	// was not made right before.
	Switched()
	// CandidateRuns: the next run is of a candidate, which may be the cause if it is void.
	CandidateRuns()
}
