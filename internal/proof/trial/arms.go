package trial

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// Arms are the two states of the site in a trial, without and with its changes. They
// bring the site into one of them and run it there.
type Arms struct {
	Site    Site
	Runs    Runs
	Changes []*iikanji.Change // in the order of application
	// Prepared are applied in both arms: the changes need them, and the site does not use them
	// without these.
	Prepared []*iikanji.Change
	Load     time.Duration // of each run

	On       bool          // the changes are applied
	Made     int           // runs
	Wiped    bool          // initialize undid a change: plan it again, into the schema file
	Applying time.Duration // how long it took to apply the changes for the first time
	Latest   *iikanji.Run  // the latest run, if it had the changes applied

	rest time.Duration // before the next run
}

// Run is one run of one arm.
func (ar *Arms) Run(ctx context.Context, on bool) (*iikanji.Run, string, error) {
	if err := ar.Put(ctx, on); err != nil {
		return nil, "", err
	}
	if on {
		ar.Runs.CandidateRuns()
	}
	spec := load.Spec{Load: ar.Load, Trial: on, Rest: ar.rest}
	ar.rest = 0
	if on {
		spec.Ready = func(ctx context.Context) bool { // an error recurs after the run and is returned then
			ar.Wiped, _ = ar.Site.Wiped(ctx, ar.Changes)
			return !ar.Wiped
		}
	}
	run, void, err := ar.Site.Bench(ctx, spec, ar.Changes...)
	if err != nil {
		return nil, "", err
	}
	ar.Made++
	if ar.Latest = nil; on && void == "" && run.Clean() {
		ar.Latest = run
	}
	if on && !ar.Wiped {
		ar.Wiped, err = ar.Site.Wiped(ctx, ar.Changes)
	}
	if on {
		return run, void, err
	}
	if void == "" {
		ar.Runs.IncumbentRan(run)
	}
	return run, void, nil
}

// Put brings the site into one arm of the trial. An arm that is run twice in a
// row gets the same restarts, so that no arm has warmer caches.
func (ar *Arms) Put(ctx context.Context, on bool) error {
	if ar.On == on {
		return ar.notice(ctx)
	}
	ar.Runs.Switched()
	ar.Latest = nil
	if on {
		ar.On = true // parts of a bundle may be applied when the next one fails
		began := ar.Site.Now()
		for _, c := range ar.Changes {
			if err := ar.Site.Apply(ctx, c.ID); err != nil {
				return err
			}
		}
		ar.Applying = cmp.Or(ar.Applying, ar.Site.Now().Sub(began))
		return nil
	}
	for _, c := range slices.Backward(ar.Changes) {
		if err := ar.Site.Revert(ctx, c.ID, "the arm without it"); err != nil {
			return err
		}
	}
	ar.On = false
	return nil
}

// notice performs the reloads and restarts of the changes.
func (ar *Arms) notice(ctx context.Context) error {
	done := map[string]bool{}
	for _, c := range ar.Changes {
		for _, op := range c.Do {
			if (op.Verb == iikanji.Reload || op.Verb == iikanji.Restart) && !done[op.Location()] {
				done[op.Location()] = true
				if err := ar.Site.Perform(ctx, op); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// All are the changes with those that prepare them, in the order of application.
func (ar *Arms) All() []*iikanji.Change { return slices.Concat(ar.Prepared, ar.Changes) }

// Away undoes the candidate and what prepares it, even when ctx is done.
func (ar *Arms) Away(ctx context.Context, why string) error {
	err := ar.Site.Undo(ctx, ar.All(), why)
	ar.On = false
	return err
}

// Touch reports whether two changes alter a common place.
func Touch(a, b *iikanji.Change) bool {
	for _, x := range a.Do {
		if x.Expect != "" && slices.ContainsFunc(b.Do, func(y iikanji.Op) bool { return y.Expect != "" && y.Location() == x.Location() }) {
			return true
		}
	}
	return false
}
