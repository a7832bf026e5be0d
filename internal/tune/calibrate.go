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
func (t *Tuner) calibrate(ctx context.Context) error {
	const want = 2 * calibrationPairs
	known := len(t.aa) >= want
	if !known && len(t.ledger.InForce) > 0 { // the noise of the present state counts
		t.aa = nil
	}
	for bad := 0; !known && len(t.aa) < want || len(t.incumbent) < 2; {
		t.show(func(v *View) {
			v.Phase, v.Doing, v.Why = "calibrate", "a run of the site as it is", "how much do scores differ by chance?"
			if !known {
				v.Doing = fmt.Sprintf("run %d of %d of the site as it is", len(t.aa)+1, want)
			}
		})
		if t.timeLeft() <= 0 {
			return fmt.Errorf("%w before the noise was known (%d runs of %d): more time is needed; what was run is kept", errTime, len(t.aa), want)
		}
		if err := t.restartForRun(ctx); err != nil {
			return err
		}
		run, void, err := t.bench(ctx, BenchSpec{Load: t.Options.Short})
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
			t.say("run %d failed its checks and is repeated: %s", run.ID, strings.Join(run.Reasons, "; "))
			continue
		}
		bad = 0
		if !known {
			t.aa = append(t.aa, run)
		}
		t.incumbentRan(run)
	}
	if len(t.untouched) == 0 {
		t.untouched = untouchedOf(t.aa)
	}
	t.learn()
	t.say("noise: the two runs of a pair differ by %.1f %% (standard deviation); score %.0f", 100*t.judge.Prior.SD(), geomean(t.incumbent))
	if t.Say != nil { // it takes simulations
		t.say("%s", t.provable())
	}
	return t.save()
}

// restartForRun restarts before a run of the calibration what most trials restart
// before theirs, so that the noise of a restart is a part of the known noise and the
// incumbent's runs before a trial are comparable with those in it: the apps, and the
// configuration of the web servers is loaded again. Databases keep running: after
// their restart the buffer pool is empty, which lowers the score itself, and few
// changes need it.
func (t *Tuner) restartForRun(ctx context.Context) error {
	if t.Site == nil {
		return nil
	}
	for _, s := range t.Site.Target.Services {
		has := t.Site.Services[s.Name]
		op := iikanji.Op{Host: has.Host, Place: s.Name}
		switch {
		case s.Role == iikanji.RoleApp && has.Restart != nil:
			op.Verb = iikanji.Restart
		case s.Role == iikanji.RoleWeb && has.Reload != nil:
			op.Verb = iikanji.Reload
		default:
			continue
		}
		if err := t.hands().Perform(ctx, op); err != nil {
			return fmt.Errorf("restarting before a run of the calibration: %w", err)
		}
	}
	return nil
}

// maxFailed is how many failed runs in a row, without a candidate, end the
// search. A single one may be due to a busy machine.
const maxFailed = 3

// ErrChecks is the error of a site that fails its checks without a candidate.
var ErrChecks = errors.New("the site as it is fails its checks")

// bench runs the site once. A void run is counted and reported, and not used.
func (t *Tuner) bench(ctx context.Context, spec BenchSpec, touched ...*iikanji.Change) (*iikanji.Run, string, error) {
	var err error
	if spec.State, err = t.fingerprint(ctx, touched...); err != nil {
		return nil, "", err
	}
	began := t.Now()
	t.fresh, spec.Accept = nil, t.accept
	run, void, err := t.Field.Bench(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	t.ledger.Runs++
	if !spec.Trial {
		t.earlier.Runs++
		if judge.Failed(run) {
			t.earlier.Failed++
		}
		if void != "" {
			t.earlier.Void++
		}
	}
	t.cost = max(t.cost*9/10, t.Now().Sub(began))
	if void == "" && (run.Load.Void || run.Outcome == iikanji.Void) {
		void = cmp.Or(run.Load.Why, "not a valid measurement")
	}
	if void == "" {
		t.voids = 0
		return run, "", nil
	}
	t.ledger.Voided++
	t.say("run %d does not count: %s", run.ID, void)
	if t.voids++; t.voids >= maxVoids && !t.accept {
		t.acceptAll(void)
	}
	return run, void, nil
}

// maxVoids is how many void runs in a row show that the machine is always so.
const maxVoids = 6

// acceptAll makes disturbed runs count from now on. What they add to the noise is
// measured with it, and larger effects can still be proven.
func (t *Tuner) acceptAll(void string) {
	t.accept = true
	t.note("%d runs in a row did not count, the last one because %s: this is how the machine is, so disturbed runs count from now on", t.voids, void)
}

// incumbentRan records a run of the incumbent, which may confirm a change that
// the fast lane accepted.
func (t *Tuner) incumbentRan(run *iikanji.Run) {
	t.remember(run)
	t.incumbent, t.fresh = append(t.incumbent, run), run
	if o := t.ledger.Open; o != nil {
		o.Since = append(o.Since, run.ID)
	}
}
