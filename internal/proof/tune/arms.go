package tune

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
)

// arms are the two states of the site in a trial, without and with its changes. They
// bring the site into one of them and run it there.
type arms struct {
	*runner
	changes  []*iikanji.Change // in the order of application
	on       bool              // the changes are applied
	runs     int
	wait     time.Duration // before the next run
	replan   bool          // initialize undid the change: plan it again, into the schema file
	applying time.Duration // how long it took to apply the changes for the first time
	latest   *iikanji.Run  // the latest run, if it had the changes applied
}

// arm is one run of one arm.
func (ar *arms) arm(ctx context.Context, on bool) (*iikanji.Run, string, error) {
	if err := ar.put(ctx, on); err != nil {
		return nil, "", err
	}
	if on { // the candidate may be the cause of void runs: only the incumbent's show what the machine is like
		ar.voids = min(ar.voids, maxVoids-2)
	}
	spec := load.Spec{Load: ar.options.Short, Trial: on, Rest: ar.wait}
	ar.wait = 0
	if on {
		spec.Ready = func(ctx context.Context) bool { // an error recurs after the run and is returned then
			ar.replan, _ = ar.wiped(ctx, ar.changes)
			return !ar.replan
		}
	}
	run, void, err := ar.bench(ctx, spec, ar.changes...)
	if err != nil {
		return nil, "", err
	}
	ar.runs++
	if ar.latest = nil; on && void == "" && run.Clean() {
		ar.latest = run
	}
	if on && !ar.replan {
		ar.replan, err = ar.wiped(ctx, ar.changes)
	}
	if on {
		return run, void, err
	}
	if void == "" {
		ar.incumbentRan(run)
	}
	return run, void, nil
}

// put brings the site into one arm of the trial. An arm that is run twice in a
// row gets the same restarts, so that no arm has warmer caches.
func (ar *arms) put(ctx context.Context, on bool) error {
	if ar.on == on {
		return ar.notice(ctx)
	}
	ar.fresh, ar.latest = nil, nil
	if on {
		ar.on = true // parts of a bundle may be applied when the next one fails
		began := ar.now()
		for _, c := range ar.changes {
			if err := ar.acts.Apply(ctx, c.ID); err != nil {
				return err
			}
		}
		ar.applying = cmp.Or(ar.applying, ar.now().Sub(began))
		return nil
	}
	for _, c := range slices.Backward(ar.changes) {
		if err := ar.acts.Revert(ctx, c.ID, "the arm without it"); err != nil {
			return err
		}
	}
	ar.on = false
	return nil
}

// notice performs the reloads and restarts of the changes.
func (ar *arms) notice(ctx context.Context) error {
	done := map[string]bool{}
	for _, c := range ar.changes {
		for _, op := range c.Do {
			if (op.Verb == iikanji.Reload || op.Verb == iikanji.Restart) && !done[op.Location()] {
				done[op.Location()] = true
				if err := ar.hands().Perform(ctx, op); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// away undoes the candidate, even when ctx is done.
func (ar *arms) away(ctx context.Context, why string) error {
	err := ar.undo(ctx, ar.changes, why)
	ar.on = false
	return err
}
