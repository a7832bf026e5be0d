package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// calibrate runs the site against itself until there are enough A/A pairs, or two
// runs of the present state if the noise is known.
func (r *runner) calibrate(ctx context.Context) error {
	want := r.calibrationRuns()
	// Trials begin after the calibration, so what they were judged with was enough.
	known := len(r.aa) >= want || len(r.aa) >= calibrationPairs && len(r.ledger.Attempts) > 0
	if !known && len(r.ledger.InForce) > 0 { // the noise of the present state counts
		r.aa = nil
	}
	for bad := 0; !known && len(r.aa) < want || len(r.incumbent) < 2; want = r.calibrationRuns() {
		r.show(func(v *View) {
			v.Phase, v.Doing, v.Purpose = "calibrate", "a run of the site as it is", "how much do scores differ by chance?"
			if !known {
				v.Doing = fmt.Sprintf("run %d of %d of the site as it is", len(r.aa)+1, want)
			}
		})
		if r.timeLeft() <= 0 {
			return fmt.Errorf("%w before the noise was known (%d runs of %d): more time is needed; what was run is kept", errTime, len(r.aa), want)
		}
		if err := r.restartForRun(ctx); err != nil {
			return err
		}
		run, void, err := r.bench(ctx, load.Spec{Load: r.options.Short})
		if err != nil {
			return err
		}
		r.updatePlan()
		if void != "" {
			continue
		}
		if judge.Failed(run) {
			if bad++; bad == maxFailed {
				return fmt.Errorf("%w: %s", ErrChecks, whyFailed(run))
			}
			r.say("run %d failed its checks and is repeated: %s", run.ID, whyFailed(run))
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

// restartForRun restarts before a run of the calibration what most trials restart
// before theirs, so that the noise of a restart is a part of the known noise and the
// incumbent's runs before a trial are comparable with those in it: the apps, and the
// configuration of the web servers is loaded again. Databases keep running: after
// their restart the buffer pool is empty, which lowers the score itself, and few
// changes need it.
func (r *runner) restartForRun(ctx context.Context) error {
	if r.site == nil {
		return nil
	}
	for _, s := range r.site.Target.Services {
		has := r.site.Services[s.Name]
		op := iikanji.Op{Host: has.Host, Place: s.Name}
		switch {
		case s.Role == iikanji.RoleApp && has.Restart != nil:
			op.Verb = iikanji.Restart
		case s.Role == iikanji.RoleWeb && has.Reload != nil:
			op.Verb = iikanji.Reload
		default:
			continue
		}
		if err := r.hands().Perform(ctx, op); err != nil {
			return fmt.Errorf("restarting before a run of the calibration: %w", err)
		}
	}
	return nil
}

// whyFailed is the reason of a failed run. A run that passes its checks fails by its
// score alone if that score has no logarithm.
func whyFailed(run *iikanji.Run) string {
	switch {
	case run.Clean():
		return fmt.Sprintf("its score is %g, and only scores above 0 can be compared", run.Score)
	case len(run.Reasons) == 0:
		return "no reason was given"
	}
	return strings.Join(run.Reasons, "; ")
}

// maxFailed is how many failed runs in a row, without a candidate, end the
// search. A single one may be due to a busy machine.
const maxFailed = 3

// ErrChecks is the error of a site that fails its checks without a candidate.
var ErrChecks = errors.New("the site as it is fails its checks")

// bench runs the site once. A void run is counted and reported, and not used.
func (r *runner) bench(ctx context.Context, spec load.Spec, touched ...*iikanji.Change) (*iikanji.Run, string, error) {
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
