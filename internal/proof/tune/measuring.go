package tune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/load"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// ErrChecks is the error of a site that fails its checks without a candidate.
var ErrChecks = errors.New("the site as it is fails its checks")

// errTime is the end of the time in the middle of something.
var errTime = errors.New("the time is up")

// beginMeasuring begins the calibration.
func (t *Tuner) beginMeasuring() {
	s := t.book.present()
	if s.BeginMeasuring(); !s.Known && len(s.Ledger.InForce) > 0 { // the noise of the present state counts
		t.book.aa = nil
	}
}

// calibrate runs the site as it is once, for the noise.
func (t *Tuner) calibrate(ctx context.Context, doing string) error {
	b, s := t.book, t.book.state
	t.display.show(func(v *View) {
		v.Phase, v.Doing, v.Purpose = "calibrate", doing, "how much do scores differ by chance?"
	})
	if err := t.runner.restartForRun(ctx); err != nil {
		return err
	}
	run, void, err := t.runner.Bench(ctx, load.Spec{Load: t.Options.Short})
	if err != nil {
		return err
	}
	t.display.updatePlan()
	switch {
	case void != "":
	case judge.Failed(run):
		s.Failed++
		t.runner.failure = whyFailed(run)
		if s.Failed < int(search.MostFailed.Value()) {
			t.display.say("run %d failed its checks and is repeated: %s", run.ID, whyFailed(run))
		}
	default:
		s.Failed = 0
		if !s.Known {
			b.aa = append(b.aa, run)
		}
		b.IncumbentRan(run)
	}
	return nil
}

// aborted is the error of a search that cannot go on.
func (t *Tuner) aborted(why string) error {
	if t.book.state.Failed > 0 && strings.HasPrefix(why, ErrChecks.Error()) {
		return fmt.Errorf("%w: %s", ErrChecks, t.runner.failure)
	}
	return fmt.Errorf("%w%s", errTime, strings.TrimPrefix(why, errTime.Error()))
}

// measured ends the calibration: the search begins.
func (t *Tuner) measured() error {
	b := t.book
	if len(b.untouched) == 0 {
		b.untouched = untouchedOf(b.aa)
	}
	b.learn()
	s := b.present()
	s.Phase = search.Searching
	if s.Known = s.Known || s.NoiseIsKnown(); !s.Known {
		t.display.say("score %.0f in %d runs of the site as it is; what promises much is tried before the noise is known well", judge.MeanScore(b.incumbent), len(b.aa))
		return b.save()
	}
	t.display.say("noise: the two runs of a pair differ by %.1f %% (standard deviation); score %.0f", 100*b.state.Judge.Prior.SD(), judge.MeanScore(b.incumbent))
	if t.display.onLine != nil { // it takes simulations
		t.display.say("%s", b.present().Forecast().Provable())
	}
	return b.save()
}

// restartForRun restarts before a run of the calibration what most trials restart
// before theirs, so that the noise of a restart is a part of the known noise and the
// incumbent's runs before a trial are comparable with those in it: the apps, and the
// configuration of the web servers is loaded again. Databases keep running: after
// their restart the buffer pool is empty, which lowers the score itself, and few
// changes need it.
func (r *runner) restartForRun(ctx context.Context) error {
	site := r.hands.site
	if site == nil {
		return nil
	}
	for _, s := range site.Target.Services {
		has := site.Services[s.Name]
		op := iikanji.Op{Host: has.Host, Place: s.Name}
		switch {
		case s.Role == iikanji.RoleApp && has.Running != nil:
			op.Verb = iikanji.Restart
		case s.Role == iikanji.RoleWeb && has.Reloads:
			op.Verb = iikanji.Reload
		default:
			continue
		}
		if err := r.hands.ops().Perform(ctx, op); err != nil {
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
