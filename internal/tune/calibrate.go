package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/judge"
)

// calibrate runs the site against itself until there are four A/A pairs, or two
// runs of the present state if the noise is known.
func (r *runner) calibrate(ctx context.Context) error {
	const want = 2 * calibrationPairs
	known := len(r.aa) >= want
	if !known && len(r.ledger.InForce) > 0 { // the noise of the present state counts
		r.aa = nil
	}
	for bad := 0; !known && len(r.aa) < want || len(r.incumbent) < 2; {
		r.show(func(v *View) {
			v.Phase, v.Doing, v.Purpose = "calibrate", "a run of the site as it is", "how much do scores differ by chance?"
			if !known {
				v.Doing = fmt.Sprintf("run %d of %d of the site as it is", len(r.aa)+1, want)
			}
		})
		if r.timeLeft() <= 0 {
			return fmt.Errorf("%w before the noise was known (%d runs of %d): more time is needed; what was run is kept", errTime, len(r.aa), want)
		}
		run, void, err := r.bench(ctx, BenchSpec{Load: r.options.Short})
		if err != nil {
			return err
		}
		if void != "" {
			continue
		}
		if judge.Failed(run) {
			if bad++; bad == maxFailed {
				return fmt.Errorf("%w: %s", ErrChecks, strings.Join(run.Reasons, "; "))
			}
			r.say("run %d failed its checks and is repeated: %s", run.ID, strings.Join(run.Reasons, "; "))
			continue
		}
		bad = 0
		if !known {
			r.aa = append(r.aa, run)
		}
		r.incumbentRan(run)
	}
	if len(r.untouched) == 0 {
		r.untouched = untouchedOf(r.aa)
	}
	r.learn()
	r.say("noise: the two runs of a pair differ by %.1f %% (standard deviation); score %.0f", 100*r.judge.Prior.SD(), geomean(r.incumbent))
	if r.onLine != nil { // it takes simulations
		r.say("%s", forecast{r.budget, r.evidence}.provable())
	}
	return r.save()
}

// maxFailed is how many failed runs in a row, without a candidate, end the
// search. A single one may be due to a busy machine.
const maxFailed = 3

// ErrChecks is the error of a site that fails its checks without a candidate.
var ErrChecks = errors.New("the site as it is fails its checks")

// bench runs the site once. A void run is counted and reported, and not used.
func (r *runner) bench(ctx context.Context, spec BenchSpec, touched ...*iikanji.Change) (*iikanji.Run, string, error) {
	var err error
	if spec.State, err = r.fingerprint(ctx, touched...); err != nil {
		return nil, "", err
	}
	began := r.now()
	r.fresh, spec.Accept = nil, r.accept
	run, void, err := r.field.Bench(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	r.ledger.Runs++
	if !spec.Trial {
		r.earlier.Runs++
		if judge.Failed(run) {
			r.earlier.Failed++
		}
		if void != "" {
			r.earlier.Void++
		}
	}
	r.cost = max(r.cost*9/10, r.now().Sub(began))
	if void == "" && (run.Load.Void || run.Outcome == iikanji.Void) {
		void = cmp.Or(run.Load.Why, "not a valid measurement")
	}
	if void == "" {
		r.voids = 0
		return run, "", nil
	}
	r.ledger.Voided++
	r.say("run %d does not count: %s", run.ID, void)
	if r.voids++; r.voids >= maxVoids && !r.accept {
		r.acceptAll(void)
	}
	return run, void, nil
}

// maxVoids is how many void runs in a row show that the machine is always so.
const maxVoids = 6

// acceptAll makes disturbed runs count from now on. What they add to the noise is
// measured with it, and larger effects can still be proven.
func (r *runner) acceptAll(void string) {
	r.accept = true
	r.note("%d runs in a row did not count, the last one because %s: this is how the machine is, so disturbed runs count from now on", r.voids, void)
}

// incumbentRan records a run of the incumbent, which may confirm a change that
// the fast lane accepted.
func (r *runner) incumbentRan(run *iikanji.Run) {
	r.remember(run)
	r.incumbent, r.fresh = append(r.incumbent, run), run
	if o := r.ledger.Open; o != nil {
		o.Since = append(o.Since, run.ID)
	}
}
