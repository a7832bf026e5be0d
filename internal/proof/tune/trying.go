package tune

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/search"
	"github.com/iikanji/iikanji/internal/proof/trial"
)

// An onTrial is the trial under way: of one candidate, of a bundle, or of a ladder's rung.
type onTrial struct {
	trial   *trial.Trial
	before  []*iikanji.Change // applied already: they prepare what is on trial
	attempt search.Attempt
	fast    trial.Paired // the pair whose run the fast lane accepted
	until   time.Time    // the end of a rung's share of the time; zero without one
	ended   func(ctx context.Context) error
	// wiped goes on after initialize undid a change: the trial ends, or begins again with the
	// change in the schema file.
	wiped func(ctx context.Context) error
	rung  *Rung // of a ladder; nil in a search
	// stays reports whether the changes remain after the verdict, and the reason as it is
	// saved with them.
	stays func(a *search.Attempt) (bool, string)
}

func (on *onTrial) isRung() bool { return on.rung != nil }

// staysIfKept is the rule of a search: what is kept remains.
func staysIfKept(a *search.Attempt) (bool, string) {
	if a.Verdict.Call != iikanji.Keep {
		return false, a.Verdict.Why
	}
	return true, verdictText(a)
}

// newAttempt is the attempt of a candidate.
func (t *Tuner) newAttempt(c search.Candidate) search.Attempt {
	return search.Attempt{Candidate: c, Key: c.Key(), Says: c.Remedy.Says, Binding: t.book.state.Binding}
}

// tryOne begins the trial of one candidate: plan, apply, pairs, verdict, keep or undo.
func (t *Tuner) tryOne(ctx context.Context, c search.Candidate) error {
	a := t.newAttempt(c)
	return t.tryPlanned(ctx, a, t.planner.inFile(c), false)
}

// tryPlanned plans a candidate as c has it and begins its trial; again is that of a change
// that initialize undid.
func (t *Tuner) tryPlanned(ctx context.Context, a search.Attempt, c search.Candidate, again bool) error {
	plain := a.Candidate.Remedy
	planned, refused, err := t.planner.planInFile(ctx, &c)
	if err == nil && refused != nil && !again && change.InSchemaFile(c.Remedy) && !change.InSchemaFile(plain) {
		// initialize may leave this table alone: try without the file; a run shows it.
		c.Remedy = plain
		planned, refused, err = t.planner.plan(ctx, c)
	}
	if err != nil {
		return err
	}
	if refused != nil {
		a.Skipped = refused.Error()
		return t.endOne(ctx, &a)
	}
	var before []*iikanji.Change
	if planned.Prepares {
		t.display.phase("trial", planned.Says, a.Candidate.Reason())
		before = append(before, planned)
		a.Changes = append(a.Changes, planned.ID)
		if planned, refused, err = t.planner.prepared(ctx, c, planned); err != nil {
			return err
		}
		if refused != nil {
			a.Skipped = refused.Error()
			return t.endOne(ctx, &a)
		}
	}
	a.Changes, a.Says = append(a.Changes, planned.ID), planned.Says
	on := &onTrial{attempt: a, stays: staysIfKept, before: before}
	on.ended = func(ctx context.Context) error { return t.endOne(ctx, &on.attempt) }
	on.wiped = func(ctx context.Context) error {
		if again || change.InSchemaFile(c.Remedy) {
			on.attempt.Skipped = undoneByInitialize("the change") + "; its schema file cannot be edited for it"
			return t.endOne(ctx, &on.attempt)
		}
		t.book.ledger().Wiped = true
		t.display.say("%s; it goes into the schema file that initialize loads", undoneByInitialize("the change"))
		c.Remedy = change.IntoSchemaFile(c.Remedy)
		return t.tryPlanned(ctx, on.attempt, c, true)
	}
	return t.beginTrial(ctx, on, a.Key, planned)
}

// endOne ends the attempt of one candidate.
func (t *Tuner) endOne(ctx context.Context, a *search.Attempt) error {
	l := t.book.ledger()
	l.Attempts = append(l.Attempts, *a)
	if err := t.book.judged(a); err != nil {
		return err
	}
	if a.Skipped != "" {
		t.display.say("not tried: %s: %s", a.Says, firstLine(a.Skipped))
	} else {
		t.display.say("%s: %s: %s%s", strings.ToUpper(a.Result()), a.Says, a.Verdict.Why, predictedOf(a))
	}
	if err := t.noteAbsorbed(a); err != nil {
		return err
	}
	t.display.phaseOver()
	return t.book.save()
}

// tryTogether begins the trial of several candidates as one change. Parts that cannot be
// planned are reported and left out; a single part gets a trial of its own.
func (t *Tuner) tryTogether(ctx context.Context, all []search.Candidate, why string) error {
	wiped := t.book.ledger().Wiped
	cs, planned, err := t.planner.planAll(ctx, all, false)
	if err != nil || len(cs) < 2 {
		return err
	}
	a := t.newAttempt(search.Together(cs, why))
	a.Parts = search.PartsOf(cs)
	for i, c := range planned {
		a.Changes = append(a.Changes, c.ID)
		p := &a.Parts[i]
		p.Change, p.Says, p.Chance = c.ID, c.Says, t.book.state.ScreenedGain(cs[i].Key())
	}
	t.book.fresh = nil
	on := &onTrial{attempt: a, stays: staysIfKept}
	end := func(ctx context.Context) error { return t.endTogether(ctx, &on.attempt, cs, why) }
	on.ended = end
	on.wiped = func(ctx context.Context) error {
		t.book.ledger().Wiped = true
		if !wiped {
			t.display.say("%s; that part goes into the schema file that initialize loads", undoneByInitialize("a part of the bundle"))
			return t.tryTogether(ctx, all, why)
		}
		on.attempt.Skipped = undoneByInitialize("a part of the bundle")
		return end(ctx)
	}
	return t.beginTrial(ctx, on, "", planned...)
}

// endTogether ends the attempt of a bundle. One without a gain is bisected.
func (t *Tuner) endTogether(_ context.Context, a *search.Attempt, parts []search.Candidate, why string) error {
	l := t.book.ledger()
	l.Attempts = append(l.Attempts, *a)
	if err := t.book.judged(a); err != nil {
		return err
	}
	says := a.Verdict.Why
	if says == "" {
		says = a.Skipped
	}
	t.display.say("%s: %s: %s", a.Result(), a.Says, says)
	t.book.present().Bisect(a, parts, why)
	return t.book.save()
}

// setting is what a trial begins with.
func (t *Tuner) setting() trial.Setting {
	b := t.book
	return trial.Setting{Site: t.runner, Runs: t.runner, Load: t.Options.Short, Seed: t.Options.Seed, Rng: t.runner.rng, Fresh: b.fresh,
		Unconfirmed: b.ledger().Open != nil, Allow: t.Acts.Policy.Allow, Known: b.knownFaults(), Earlier: b.earlier}
}

// beginTrial begins a trial: the candidate is applied after its answers were compared. key is
// that of a single candidate.
func (t *Tuner) beginTrial(ctx context.Context, on *onTrial, key string, planned ...*iikanji.Change) error {
	s := t.book.state
	tr := trial.New(t.setting(), planned...)
	tr.Arms.Prepared = on.before
	on.trial, t.on = tr, on
	a := &on.attempt
	s.Trial = &search.Trial{Key: key, Changes: len(planned), Rung: t.rungShare(on)}
	t.display.phase("trial", a.Says, a.Candidate.Reason())
	earlier := s.Earlier(a.Candidate, a.Key)
	tr.Closed = tr.Closed || earlier.Closed || on.isRung()
	tr.Case.With = s.Ledger.Void[a.Key]
	tr.Looks = s.Judge.Looks.Scaled(earlier.Share())
	pairs, err := t.pairsOf(earlier)
	if err != nil {
		return err
	}
	tr.GoOn(pairs)
	s.Trial.Looks, s.Trial.Pairs, s.Trial.Counted = tr.Rule(s.Judge).Looks, tr.Had, tr.Had
	why, err := t.compareAnswers(ctx)
	if err == nil && why == "" && !tr.Arms.On {
		err = tr.Arms.Put(ctx, true)
	}
	if err != nil {
		return t.refused(ctx, err)
	}
	if why != "" {
		a.Verdict = iikanji.Verdict{Change: tr.Change(), Call: iikanji.Revert, Reason: iikanji.Gate, Why: why, Answered: tr.Answered}
		return t.over(ctx, tr.Arms.Away(ctx, why))
	}
	return nil
}

// pairsOf loads the pairs with which a trial goes on.
func (t *Tuner) pairsOf(e search.Earlier) ([]judge.Pair, error) {
	base, err := t.book.load(e.Base)
	if err != nil {
		return nil, err
	}
	tried, err := t.book.load(e.Tried)
	if err != nil {
		return nil, err
	}
	var pairs []judge.Pair
	for i := range base {
		pairs = append(pairs, judge.Pair{A: base[i], B: tried[i]})
	}
	return pairs, nil
}

// over ends the trial under way, whose changes are as the verdict wants them.
func (t *Tuner) over(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	on := t.on
	t.leaveTrial()
	return on.ended(ctx)
}

// leaveTrial counts the trial's runs.
func (t *Tuner) leaveTrial() {
	a, tr := &t.on.attempt, t.on.trial
	a.Runs, a.Took = a.Runs+tr.Arms.Made, a.Took+t.book.now().Sub(tr.Began)
	t.on, t.book.state.Trial = nil, nil
}

// refused ends the trial of a change that could not be applied and that the
// executor has undone. A change that could not be undone ends the search.
func (t *Tuner) refused(ctx context.Context, err error) error {
	tr, a := t.on.trial, &t.on.attempt
	tr.Arms.On = false
	if ctx.Err() != nil {
		return err
	}
	for _, c := range tr.Arms.All() {
		now, e := t.book.store.LoadChange(c.ID)
		if e != nil || now.Stage == iikanji.Stuck {
			return errors.Join(err, e)
		}
	}
	var moved *change.MovedError
	if errors.As(err, &moved) {
		return err
	}
	a.Verdict = iikanji.Verdict{Change: tr.Change(), Call: iikanji.Revert, Reason: iikanji.Gate, Why: "it could not be applied: " + firstLine(err.Error())}
	return t.over(ctx, tr.Arms.Away(ctx, a.Verdict.Why))
}

// abandonTrial undoes the candidate whose trial ended with an error. A service that died
// during it is a verdict on the candidate, which is saved for the next search.
func (t *Tuner) abandonTrial(ctx context.Context, err error) error {
	on := t.on
	a, tr := &on.attempt, on.trial
	if died := context.Cause(ctx); tr.Arms.On && died != nil && !errors.Is(died, context.Canceled) {
		a.Verdict = iikanji.Verdict{Change: tr.Change(), Call: iikanji.Revert, Reason: iikanji.Gate, Why: "while it was on trial: " + firstLine(died.Error())}
	}
	err = errors.Join(err, tr.Arms.Away(ctx, "its trial did not end"))
	t.leaveTrial()
	if a.Verdict.Call == iikanji.CallUnknown || a.IsBundle() {
		return err
	}
	l := t.book.ledger()
	l.Attempts = append(l.Attempts, *a)
	return errors.Join(err, t.book.judged(a))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// runPair runs one pair of the trial under way and asks the judge.
func (t *Tuner) runPair(ctx context.Context) error {
	on, s := t.on, t.book.state
	tr, st := on.trial, s.Trial
	if st.Judged {
		st.Counted = len(st.Verdict.Tried)
	}
	p, err := tr.RunPair(ctx, s.Judge, st.Counted, trial.Lane{Open: s.Ledger.Open == nil, Scarce: s.Scarce()})
	if err != nil {
		return err
	}
	if tr.Arms.Wiped {
		return t.replan(ctx)
	}
	if p.Back != nil && len(s.Ledger.InForce) == 0 {
		t.runner.back, t.runner.backAt = p.Back, s.Ledger.Runs
	}
	st.Judged, st.Void, st.FailedRun = false, "", 0
	if p.Fast.OK {
		if s.Scarce() {
			if v, ok := tr.Clear(s.Judge, p); ok {
				tr.Case.Pairs = append(tr.Case.Pairs, p.Pair)
				st.Over = &v
				return nil
			}
		}
		on.fast = p
		st.Over = &iikanji.Verdict{Change: tr.Change(), Call: iikanji.Keep, Reason: iikanji.Proven, Why: p.Fast.Why}
		return nil
	}
	tr.Case.Pairs = append(tr.Case.Pairs, p.Pair)
	st.Pairs, st.Void = len(tr.Case.Pairs), p.Void
	if p.Void != "" {
		return nil
	}
	if p.B != nil && judge.Failed(p.B) {
		st.FailedRun, st.FailedWhy = p.B.ID, whyFailed(p.B)
	}
	t.judgePairs()
	return nil
}

// judgePairs asks the judge what the pairs prove so far.
func (t *Tuner) judgePairs() {
	s, tr := t.book.state, t.on.trial
	st := s.Trial
	st.Verdict, st.Judged = tr.Rule(s.Judge).Decide(tr.Case), true
	st.Rung = t.rungShare(t.on)
	t.display.pairs(len(st.Verdict.Tried), st.Verdict.Effect)
}

// replan undoes changes that initialize undid, and goes on as the trial says.
func (t *Tuner) replan(ctx context.Context) error {
	on := t.on
	if err := on.trial.Arms.Away(ctx, "its trial did not end"); err != nil {
		return err
	}
	t.leaveTrial()
	return on.wiped(ctx)
}

// recalibrate voids the last pair and runs the incumbent again, because the
// environment has changed.
func (t *Tuner) recalibrate(ctx context.Context, why string) error {
	b, tr := t.book, t.on.trial
	t.display.say("%s", why)
	b.incumbent, b.past = nil, nil
	if err := tr.Recalibrate(ctx, why); err != nil {
		return err
	}
	b.aa = slices.Clone(tr.Case.Before) // older runs are of another machine
	b.learn()
	b.state.Trial.Judged, b.state.Trial.Void = false, ""
	return nil
}

// giveUp ends the trial under way because its pairs prove nothing.
func (t *Tuner) giveUp(ctx context.Context, why string) error {
	tr := t.on.trial
	// If the machine is the cause, this run is void, too, and maybe an error.
	if _, _, err := tr.Arms.Run(ctx, false); err != nil {
		return err
	}
	v := tr.GiveUp(t.book.state.Judge, why)
	t.book.state.Trial.Over = &v
	return nil
}

// settle brings the site into the verdict's state.
func (t *Tuner) settle(ctx context.Context, step search.Step) error {
	on := t.on
	a, tr := &on.attempt, on.trial
	a.Verdict, a.Fast = step.Verdict, on.fast.Fast.OK
	a.Verdict.Answered = tr.Answered
	if a.Verdict.Change == 0 {
		a.Verdict.Change = tr.Change()
	}
	if a.Fast {
		t.letIn()
		return t.over(ctx, nil)
	}
	b := t.book
	b.past = append(b.past, tr.Pairs())
	t.notePairs()
	stays, why := on.stays(a)
	if !stays {
		a.Parked, a.Deferred = a.Verdict.Call == iikanji.Inconclusive && !on.isRung(), step.Deferred
		err := tr.Arms.Away(ctx, a.Verdict.Why)
		b.learn()
		return t.over(ctx, err)
	}
	a.Stays = on.isRung()
	if err := tr.Arms.Put(ctx, true); err != nil {
		return err
	}
	if err := t.hands.keep(tr.Arms.All(), why); err != nil {
		return err
	}
	t.keptOnTrial()
	return t.over(ctx, nil)
}

// keptOnTrial makes the state of the trial the incumbent's.
func (t *Tuner) keptOnTrial() {
	b, on := t.book, t.on
	s, tr := b.state, on.trial
	if s.Scarce() { // an index of a large table takes long to be built again
		s.Switching += tr.Arms.Applying
	}
	b.forgetIncumbent()
	b.keptNow(len(s.Ledger.Attempts), b.earlier, judge.Record{})
	if on.isRung() && tr.Arms.Latest != nil { // the next rung's first A
		b.fresh = tr.Arms.Latest
	}
	s.KeptWith(on.attempt.Verdict.Effect.Mid)
	for _, p := range tr.Pairs() {
		if p.Void == "" && p.B != nil && p.B.Clean() {
			b.incumbent = append(b.incumbent, p.B)
			b.remember(p.B)
		}
	}
	b.learn()
}

// notePairs adds the pairs to the ledger, for the noise of later searches.
func (t *Tuner) notePairs() {
	var pairs [][2]int
	for _, p := range t.on.trial.Pairs() {
		if p.Void == "" && p.A != nil && p.B != nil {
			pairs = append(pairs, [2]int{int(p.A.ID), int(p.B.ID)})
		}
	}
	l := t.book.ledger()
	l.Pairs = append(l.Pairs, pairs)
}

// letIn makes the candidate the incumbent before it is proven. The run
// that the fast lane accepted was selected for its high score and is no further
// evidence: later runs of the incumbent confirm the candidate.
func (t *Tuner) letIn() {
	b, on := t.book, t.on
	l := b.ledger()
	l.Open = &search.Unconfirmed{Attempt: len(l.Attempts), Bound: on.fast.Fast.Bound, Before: ids(b.incumbent), Without: b.earlier}
	for _, c := range on.trial.Arms.All() {
		l.InForce = append(l.InForce, c.ID)
	}
	b.forgetIncumbent()
	b.state.Stale = true
}
