package tune

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A runner runs the site and adds each run to the book. It is the trial.Site and the
// trial.Runs of every trial.
type runner struct {
	book    *book
	display *display
	hands   *hands
	field   Field
	rng     *rand.Rand // of the order of runs and their rests
	voids   int        // in a row
	accept  bool       // disturbed runs count
	failure string     // why the latest run of the site as it is failed
	// back is the run of the untouched site right after a run of a candidate that the
	// fast lane accepted, backAt the number of runs until then.
	back   *iikanji.Run
	backAt int
}

// Bench runs the site once. A void run is counted and reported, and not used.
func (r *runner) Bench(ctx context.Context, spec load.Spec, touched ...*iikanji.Change) (*iikanji.Run, string, error) {
	var err error
	if spec.State, err = r.hands.fingerprint(ctx, touched...); err != nil {
		return nil, "", err
	}
	s, began := r.book.state, r.book.now()
	r.book.fresh, spec.Accept = nil, r.accept
	run, void, err := r.field.Bench(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	s.Ledger.Runs++
	r.record(spec.Trial, run, void)
	s.Took(r.book.now().Sub(began) - max(0, spec.Load-s.Options.Short)) // of a short run
	if void == "" && (run.Load.Void || run.Outcome == iikanji.Void) {
		void = cmp.Or(run.Load.Why, "not a valid measurement")
	}
	if void == "" {
		r.voids = 0
		return run, "", nil
	}
	s.Ledger.Voided++
	r.display.say("run %d does not count: %s", run.ID, void)
	if r.voids++; r.voids >= mostVoids() && !r.accept {
		r.acceptAll(void)
	}
	return run, void, nil
}

// record counts a run of the incumbent, or one with a change that is not confirmed yet.
func (r *runner) record(candidate bool, run *iikanji.Run, void string) {
	l, of := r.book.ledger(), &r.book.earlier
	switch {
	case l.Open != nil && len(l.Away) == 0:
		of = &l.Open.With
	case candidate:
		return
	}
	of.Count(run, void)
	if l.Open == nil && len(l.Away) == 0 {
		for i := range r.book.state.Kept {
			r.book.state.Kept[i].Since.Count(run, void)
		}
	}
}

// mostVoids is how many void runs in a row show that the machine is always so.
func mostVoids() int { return int(search.MostVoids.Value()) }

// acceptAll makes disturbed runs count from now on. What they add to the noise is
// measured with it, and larger effects can still be proven.
func (r *runner) acceptAll(void string) {
	r.accept = true
	r.display.note("%d runs in a row did not count, the last one because %s: this is how the machine is, so disturbed runs count from now on", r.voids, void)
}

// Apply makes a change.
func (r *runner) Apply(ctx context.Context, id iikanji.ChangeID) error {
	return r.hands.acts.Apply(ctx, id)
}

// Revert undoes a change.
func (r *runner) Revert(ctx context.Context, id iikanji.ChangeID, why string) error {
	return r.hands.acts.Revert(ctx, id, why)
}

// Undo undoes the changes that are applied.
func (r *runner) Undo(ctx context.Context, changes []*iikanji.Change, why string) error {
	return r.hands.undo(ctx, changes, why)
}

// Perform does one operation.
func (r *runner) Perform(ctx context.Context, op iikanji.Op) error {
	return r.hands.ops().Perform(ctx, op)
}

// Wiped reports whether initialize undid one of the changes.
func (r *runner) Wiped(ctx context.Context, changes []*iikanji.Change) (bool, error) {
	return r.hands.wiped(ctx, changes)
}

// Now is the time.
func (r *runner) Now() time.Time { return r.book.now() }

// Incumbent are the runs of the present state.
func (r *runner) Incumbent() []*iikanji.Run { return r.book.incumbent }

// IncumbentRan records a run of it.
func (r *runner) IncumbentRan(run *iikanji.Run) { r.book.IncumbentRan(run) }

// Switched forgets that the incumbent's latest run was made right before.
func (r *runner) Switched() { r.book.fresh = nil }

// CandidateRuns: the candidate may be the cause of void runs, so that only the incumbent's
// show what the machine is like. Two that are void, those of a pair, are needed then.
func (r *runner) CandidateRuns() { r.voids = min(r.voids, mostVoids()-2) }
