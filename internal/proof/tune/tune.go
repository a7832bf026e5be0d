package tune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iikanji/iikanji/internal/proof/search"
)

// Tune searches for changes that make the site faster, keeps what interleaved
// runs prove, and measures at the end what it came to. It continues an interrupted search;
// what comes next is decided by search.Next.
//
// When ctx is done, the candidate under trial is undone, kept changes stay, and
// the outcome so far is returned with the error of ctx.
func (t *Tuner) Tune(ctx context.Context) (*Outcome, error) {
	if err := t.openLedger(); err != nil {
		return nil, err
	}
	t.book.ledger().Fruitless++ // until it proves a gain
	t.book.learn()
	return t.close(t.search(ctx))
}

func (t *Tuner) search(ctx context.Context) error {
	if err := t.hands.resume(ctx); err != nil {
		return err
	}
	t.display.showPlan()
	t.book.state.Eager, t.book.state.Options.ScoreOnly = true, t.Acts.Policy.ScoreOnly
	t.beginMeasuring()
	return t.follow(ctx, func(step search.Step) bool { return step.Do == search.End })
}

// Judge gives one candidate its trial and nothing else: it continues the search
// of this history, or measures the noise first, runs interleaved pairs, and keeps
// what they prove or undoes it to the byte. A change that the fast lane let in is
// confirmed by further runs before Judge returns. The attempt's Skipped is set if
// the candidate could not be planned.
func (t *Tuner) Judge(ctx context.Context, c search.Candidate) (search.Attempt, error) {
	if err := t.openLedger(); err != nil {
		return search.Attempt{}, err
	}
	at, err := t.judgeOne(ctx, c)
	err = errors.Join(err, t.book.save())
	if l := t.book.ledger(); at < len(l.Attempts) {
		return l.Attempts[at], err
	}
	return search.Attempt{Candidate: c}, err
}

// judgeOne returns the index of the attempt in the ledger. It is known after resume,
// which drops the attempts of a search whose changes were all reverted since.
func (t *Tuner) judgeOne(ctx context.Context, c search.Candidate) (at int, err error) {
	l := t.book.ledger()
	if err := t.hands.resume(ctx); err != nil {
		return len(l.Attempts), err
	}
	if err := t.measure(ctx); err != nil {
		return len(l.Attempts), err
	}
	at = len(l.Attempts)
	c.Traits = traitsOf(c.Remedy)
	if err := t.tryOne(ctx, c); err != nil {
		return at, err
	}
	if err := t.finishTrial(ctx); err != nil {
		return at, err
	}
	return at, t.confirmNow(ctx)
}

// follow performs the steps of the search until one that ends it.
func (t *Tuner) follow(ctx context.Context, ends func(search.Step) bool) error {
	for {
		step := t.next()
		t.book.state.Plan = step.Plan
		if err := t.perform(ctx, step); err != nil {
			return t.abandon(ctx, err)
		}
		if ends(step) {
			return nil
		}
	}
}

// next decides on the next step.
func (t *Tuner) next() search.Step {
	s := *t.book.present()
	step := search.Next(s)
	if t.Trace != nil {
		t.Trace(s, step)
	}
	return step
}

// finishTrial performs the steps of the trial under way.
func (t *Tuner) finishTrial(ctx context.Context) error {
	for t.on != nil {
		if err := t.perform(ctx, t.next()); err != nil {
			return t.abandon(ctx, err)
		}
	}
	return nil
}

// measure performs the steps of the calibration.
func (t *Tuner) measure(ctx context.Context) error {
	t.beginMeasuring()
	return t.follow(ctx, func(step search.Step) bool { return step.Do == search.Measured })
}

// perform does one step.
func (t *Tuner) perform(ctx context.Context, step search.Step) error {
	switch step.Do {
	case search.Calibrate:
		return t.calibrate(ctx, step.Why)
	case search.Measured:
		return t.measured()
	case search.Observe:
		return t.observe(ctx)
	case search.RunLonger:
		return t.runLonger(ctx, step)
	case search.SettleLength:
		return t.settleLength(step)
	case search.TryOne:
		return t.tryOne(ctx, step.Parts[0])
	case search.TryTogether:
		return t.tryTogether(ctx, step.Parts, step.Why)
	case search.NoteSweep:
		t.book.state.Swept(step.Parts)
		return nil
	case search.RunPair:
		return t.runPair(ctx)
	case search.Recalibrate:
		return t.recalibrate(ctx, step.Why)
	case search.GiveUp:
		return t.giveUp(ctx, step.Why)
	case search.Settle:
		return t.settle(ctx, step)
	case search.Screen:
		return t.screen(ctx, step.Parts)
	case search.RunRow:
		return t.runRow(ctx, step.Row, step.Why)
	case search.EndScreen:
		return t.endScreen(ctx, step)
	case search.ConfirmRun:
		return t.confirmRun(ctx)
	case search.ConfirmOpen:
		return t.confirmOpen(ctx)
	case search.Doubt:
		return t.doubt(ctx, step)
	}
	return t.performEnd(ctx, step)
}

// performEnd does one step of the end phase.
func (t *Tuner) performEnd(ctx context.Context, step search.Step) error {
	switch step.Do {
	case search.EndSearch:
		t.display.note("the search ended: %s", step.Why)
		if t.book.present().BeginEnd(); t.book.state.Plan.ConfirmLast {
			t.display.note("the runs of the last comparison also confirm what was kept: there was no time for other runs")
		}
		return nil
	case search.StartChecks:
		if step.Why != "" {
			t.display.note("%s", step.Why)
		}
		return t.startChecks(step.Keeps, step.Long)
	case search.RunRound:
		return t.runRound(ctx, step.Keeps)
	case search.GroupChecks:
		return t.groupChecks(step.Groups)
	case search.SplitGroup:
		return t.groupChecks(t.book.state.Checks.Split(t.book.state.Checks.Arm(step.Keeps[0])))
	case search.EndCheck:
		return t.endCheck(ctx, step)
	case search.EndChecks:
		return t.endChecks(step.Why)
	case search.Resume:
		t.display.note("the search goes on: %s", step.Why)
		t.book.present().BeginAgain()
		return nil
	case search.UndoCost:
		return t.undoCost(ctx, step)
	case search.Rehearse:
		return t.rehearse(ctx)
	case search.Compare:
		return t.compare(ctx)
	case search.RunFinal:
		return t.runFinal(ctx)
	case search.AcceptAll:
		t.book.state.Final.Disturbed = false
		t.runner.acceptAll(step.Why)
		return nil
	case search.EndCompare:
		return t.endCompare(ctx, step.Why)
	case search.UndoHarm:
		return t.undoHarm(ctx, step.Why)
	case search.ClearFinal:
		t.clearFinal(step.Why)
		return nil
	case search.Abort:
		return t.aborted(step.Why)
	case search.End:
		t.noteNothing(step.Why)
		return t.book.save()
	}
	return fmt.Errorf("the search has no step %q", step.Do)
}

// noteNothing notes why nothing is compared.
func (t *Tuner) noteNothing(why string) {
	if why == "" {
		return
	}
	s := t.book.present()
	if len(s.Ledger.Attempts) == 0 && s.Options.Time > 0 {
		t.display.note("the time may have been too short for a trial: a run takes %s here", s.Cost.Round(time.Second))
	}
	t.display.note("%s", why)
}

// abandon leaves what is under way when a step failed: a candidate is undone, and the site
// is brought back into its final state.
func (t *Tuner) abandon(ctx context.Context, err error) error {
	switch {
	case t.on != nil:
		return t.abandonTrial(ctx, err)
	case t.design != nil:
		return errors.Join(err, t.design.Undo(ctx))
	case t.star != nil:
		return errors.Join(err, t.hands.allBack(context.WithoutCancel(ctx)))
	case t.final != nil:
		return errors.Join(err, t.leaveFinal(ctx))
	}
	return err
}
