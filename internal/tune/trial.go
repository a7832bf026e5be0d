package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji/internal/judge"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/stats"
)

// A trial holds changes against the site without them, in interleaved pairs.
// More than one change is a bundle, judged as one.
type trial struct {
	*Tuner
	changes  []*iikanji.Change // in the order of application
	c        judge.Case
	on       bool         // whether they are applied
	free     *iikanji.Run // the incumbent's run of just before, to be the first A
	order    judge.Order  // of the first pair: the one that saves a switch
	began    time.Time
	runs     int
	deferred bool // given up for what promises more
	replan   bool // initialize wipes the change out: it has to go into the schema file
}

// errTime says that the budget ended in the middle of a trial.
var errTime = errors.New("the time is up")

// errNoisy says that the machine is no place for measurements now.
var errNoisy = errors.New("the machine is too noisy to prove anything")

// try gives one candidate its trial: plan, apply, pairs, verdict, keep or undo.
func (t *Tuner) try(ctx context.Context, c Candidate) (Attempt, error) {
	a := Attempt{Candidate: c, Key: c.Key(), Says: c.Remedy.Says, Binding: t.binding()}
	t.under = a.Key
	defer func() { t.under = "" }()
	plain := c.Remedy
	if t.book.Wiped {
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
	for again := false; ; again = true {
		planned, refused, err := t.planInFile(ctx, &c)
		if err == nil && refused != nil && !again && change.InSchemaFile(c.Remedy) && !change.InSchemaFile(plain) {
			// initialize may leave this table alone: try without the file; a run shows it.
			c.Remedy = plain
			planned, refused, err = t.plan(ctx, c)
		}
		if refused != nil {
			a.Skipped = refused.Error()
		}
		if err != nil || refused != nil {
			return a, err
		}
		tr := t.newTrial(planned)
		a.Changes, a.Says = append(a.Changes, planned.ID), planned.Says
		err = tr.hold(ctx, &a)
		a.Runs, a.Took = a.Runs+tr.runs, a.Took+t.Now().Sub(tr.began)
		if err != nil || !tr.replan {
			return a, err
		}
		if again || change.InSchemaFile(c.Remedy) {
			a.Skipped = "initialize creates the table anew, which undoes the change, and its schema file cannot be edited for it"
			return a, nil
		}
		t.book.Wiped = true
		t.say("initialize creates the table anew, which undoes the change: it goes into the schema file that initialize loads")
		c.Remedy = change.IntoSchemaFile(c.Remedy)
	}
}

// planInFile plans a candidate. Where several schema files create its table
// alike, WhichFile chooses between them.
func (t *Tuner) planInFile(ctx context.Context, c *Candidate) (planned *iikanji.Change, refused, err error) {
	planned, refused, err = t.plan(ctx, *c)
	var which *change.WhichFileError
	if err != nil || t.WhichFile == nil || !errors.As(refused, &which) {
		return planned, refused, err
	}
	r, ok, err := t.WhichFile(ctx, which)
	if err != nil || !ok {
		return nil, refused, err
	}
	c.Remedy = r
	return t.plan(ctx, *c)
}

// plan plans a candidate and adds the change to the history; refused is why
// there is no change.
func (t *Tuner) plan(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	if planned, refused, err = t.look(ctx, c); err != nil || refused != nil {
		return nil, refused, err
	}
	return planned, nil, t.History.AddChange(planned, change.Diff(planned))
}

// look plans a candidate without adding it to the history.
func (t *Tuner) look(ctx context.Context, c Candidate) (planned *iikanji.Change, refused, err error) {
	planned, err = change.Plan(ctx, t.Site, c.Remedy)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, change.ErrNothing):
		return nil, change.ErrNothing, nil
	case err != nil:
		return nil, err, nil
	}
	planned.Answers = c.Code
	if p, no := judge.Forbidden(planned, t.Acts.Policy.Allow); no {
		return nil, fmt.Errorf("it weakens the promise of %s, which the target's policy does not allow", p), nil
	}
	return planned, nil, nil
}

func (t *Tuner) newTrial(changes ...*iikanji.Change) *trial {
	tr := &trial{Tuner: t, changes: changes, began: t.Now(), free: t.fresh, order: judge.BA}
	if tr.free != nil || t.book.Open != nil { // what is open is confirmed by the incumbent's runs
		tr.order = judge.AB
	}
	tr.c = judge.Case{Change: bundled(changes), Worth: worthOf(changes), Allow: t.Acts.Policy.Allow, Known: t.knownFaults()}
	if len(t.incumbent) >= judge.ShiftRuns {
		tr.c.Before = slices.Clone(t.incumbent)
	}
	tr.c.Simplifies = slices.ContainsFunc(changes, func(c *iikanji.Change) bool { return c.Simplifies })
	return tr
}

func (t *Tuner) knownFaults() []iikanji.Fault {
	var all []iikanji.Fault
	for _, f := range t.known {
		all = append(all, f)
	}
	return all
}

// worthOf is the least effect on ln(score) that changes have to bring together
// to be worth keeping: what each of them has to.
func worthOf(changes []*iikanji.Change) float64 {
	least := 0.0
	for _, c := range changes {
		least += judge.Worth(c)
	}
	return least
}

// bundled is one change for the judge.
func bundled(changes []*iikanji.Change) iikanji.Change {
	one := *changes[0]
	for _, c := range changes[1:] {
		one.Weakens = append(slices.Clone(one.Weakens), c.Weakens...)
		one.Says += "; " + c.Says
	}
	return one
}

// hold runs the trial to its verdict and leaves the site as the verdict says;
// whatever ends it early undoes the candidate.
func (tr *trial) hold(ctx context.Context, a *Attempt) (err error) {
	tr.show(func(v *View) { v.Phase, v.Doing, v.Why, v.Pairs, v.Effect = "trial", a.Says, why(a.Candidate), 0, nil })
	defer func() {
		if died := context.Cause(ctx); err != nil && tr.on && died != nil && !errors.Is(died, context.Canceled) {
			a.Verdict = iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: "while it was on trial: " + firstLine(died.Error())}
		}
		if err != nil || tr.replan {
			err = errors.Join(err, tr.away(ctx, "its trial did not end"))
		}
	}()
	if err := tr.put(ctx, true); err != nil {
		return tr.refused(ctx, a, err)
	}
	fast, v, err := tr.decide(ctx)
	if err != nil || tr.replan {
		return err
	}
	a.Verdict, a.Fast = v, fast.OK
	if fast.OK {
		return tr.provisional(a, fast)
	}
	return tr.settle(ctx, a)
}

func why(c Candidate) string {
	if c.Code == "" {
		return c.Why
	}
	return string(c.Code) + ": " + c.Why
}

// refused is the end of a change that the site did not take: the executor has
// undone it. One that could not be undone ends the whole search.
func (tr *trial) refused(ctx context.Context, a *Attempt, err error) error {
	tr.on = false
	if ctx.Err() != nil {
		return err
	}
	for _, c := range tr.changes {
		now, e := tr.History.LoadChange(c.ID)
		if e != nil || now.Stage == iikanji.Stuck {
			return errors.Join(err, e)
		}
	}
	var moved *change.MovedError
	if errors.As(err, &moved) {
		return err
	}
	a.Verdict = iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Revert, Reason: iikanji.Gate, Why: "the site did not take it: " + firstLine(err.Error())}
	return tr.away(ctx, a.Verdict.Why)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// put brings the site into one arm of the trial. The same arm again gets the
// same restarts, so that no arm has the warmer caches.
func (tr *trial) put(ctx context.Context, on bool) error {
	if tr.on == on {
		return tr.notice(ctx)
	}
	tr.fresh = nil
	if on {
		tr.on = true // parts of a bundle may stand when the next one fails
		for _, c := range tr.changes {
			if err := tr.Acts.Apply(ctx, c.ID); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range slices.Backward(tr.changes) {
		if err := tr.Acts.Revert(ctx, c.ID, "the arm without it"); err != nil {
			return err
		}
	}
	tr.on = false
	return nil
}

// notice does what the change's operations do besides changing a place.
func (tr *trial) notice(ctx context.Context) error {
	done := map[string]bool{}
	for _, c := range tr.changes {
		for _, op := range c.Do {
			if (op.Verb == iikanji.Reload || op.Verb == iikanji.Restart) && !done[op.Place] {
				done[op.Place] = true
				if err := tr.Site.Perform(ctx, op); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// away undoes the candidate, also when ctx is done.
func (tr *trial) away(ctx context.Context, why string) error {
	ctx = context.WithoutCancel(ctx) // the executor bounds each operation
	var errs []error
	for _, c := range slices.Backward(tr.changes) {
		now, err := tr.History.LoadChange(c.ID)
		if err == nil && now.Stage.May(iikanji.Reverting) {
			err = tr.Acts.Revert(ctx, c.ID, why)
		}
		errs = append(errs, err)
	}
	tr.on = false
	return errors.Join(errs...)
}

// decide runs pairs until the judge has decided, or one run that is far beyond
// the incumbent's lets the candidate in for the time being.
func (tr *trial) decide(ctx context.Context) (judge.Provisional, iikanji.Verdict, error) {
	usable := 0
	for {
		p, fast, err := tr.pair(ctx, usable)
		if err != nil || tr.replan || fast.OK {
			return fast, iikanji.Verdict{Change: tr.changes[0].ID, Call: iikanji.Keep, Reason: iikanji.Proven, Why: fast.Why}, err
		}
		tr.c.Pairs = append(tr.c.Pairs, p)
		if why := tr.stuck(usable); why != "" {
			_, _, err := tr.arm(ctx, false) // is it the machine? then this is an error
			return judge.Provisional{}, tr.giveUp(why), err
		}
		if p.Void != "" {
			continue
		}
		v := tr.judge.Decide(tr.c)
		tr.show(func(w *View) { w.Pairs, w.Effect = len(v.Tried), &v.Effect })
		if v.Reason == iikanji.Shifted {
			if err := tr.recalibrate(ctx, v.Why); err != nil {
				return judge.Provisional{}, v, err
			}
			continue
		}
		if v.Call != iikanji.CallUnknown {
			return judge.Provisional{}, v, nil
		}
		usable = len(v.Tried)
		if tr.deferred = tr.better(v); tr.deferred {
			v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.TooFew, "put off, its next runs promise less than what else the time is for: "+v.Why
			return judge.Provisional{}, v, nil
		}
		if tr.timeFor() < 2*tr.cost && !tr.ahead(v) {
			v.Call, v.Reason, v.Why = iikanji.Inconclusive, iikanji.Undecided, errTime.Error()+"; "+v.Why
			return judge.Provisional{}, v, nil
		}
	}
}

// ahead says whether a trial is so likely to end in a gain that it may go on
// at the cost of the length of the last comparison's runs, which stay twice as
// long as its own.
func (tr *trial) ahead(v iikanji.Verdict) bool {
	end := time.Duration(2*tr.Options.Pairs)*(2*tr.Options.Short+tr.overhead()) + 3*tr.cost
	return v.Effect.Lo > 0 && v.Shrunk >= leap/2 && tr.timeLeft()-end > 2*tr.cost
}

// stuck says why more pairs would prove nothing: too many of them did not
// count, or the time is up.
func (tr *trial) stuck(usable int) string {
	last := tr.c.Pairs[len(tr.c.Pairs)-1]
	if bad := len(tr.c.Pairs) - usable; last.Void != "" && bad >= maxVoids {
		return fmt.Sprintf("%d of its pairs do not count, the last one because %s", bad, last.Void)
	}
	if bad := len(tr.c.Pairs) - usable; bad > maxVoids {
		return fmt.Sprintf("%d of its pairs do not count", bad)
	}
	if last.Void != "" && tr.timeFor() < 2*tr.cost {
		return errTime.Error()
	}
	return ""
}

// giveUp is the verdict on a trial that cannot be brought to its end.
func (tr *trial) giveUp(why string) iikanji.Verdict {
	v := tr.judge.Decide(tr.c)
	if v.Reason != iikanji.Gate {
		v.Call, v.Reason, v.Needed, v.Why = iikanji.Inconclusive, iikanji.Undecided, 0, why
	}
	return v
}

// pair runs one pair. The first one may take the incumbent's run of just
// before as its A; then one B far beyond it may open the fast lane.
func (tr *trial) pair(ctx context.Context, usable int) (p judge.Pair, fast judge.Provisional, err error) {
	first := len(tr.c.Pairs) == 0
	order := tr.order
	if usable%2 == 1 { // two pairs cancel a linear drift
		order = judge.AB + judge.BA - order
	}
	if first {
		p.A = tr.free
	}
	for _, on := range order.Arms() {
		if !on && p.A != nil {
			continue
		}
		run, void, err := tr.arm(ctx, on)
		if err != nil || tr.replan {
			return p, fast, err
		}
		if p.Put(on, run, void); void != "" {
			return p, fast, nil
		}
		if on && first && tr.book.Open == nil {
			if fast = tr.judge.FastLane(tr.c, tr.incumbent, run); fast.OK {
				return tr.andBack(ctx, p, fast)
			}
		}
		if on && judge.Failed(run) && p.A == nil && len(tr.incumbent) > 0 {
			p.A = tr.incumbent[len(tr.incumbent)-1] // what has failed needs no further comparison
			return p, fast, nil
		}
	}
	return p, fast, nil
}

// andBack runs the incumbent once more after a run that is beyond what it
// gives by chance: when this one is too, it is the machine that has become
// faster, and pairs decide.
func (tr *trial) andBack(ctx context.Context, p judge.Pair, fast judge.Provisional) (judge.Pair, judge.Provisional, error) {
	run, void, err := tr.arm(ctx, false)
	if err != nil {
		return p, judge.Provisional{}, err
	}
	p.A, p.Void = run, void
	if void != "" || !run.Clean() || !(run.Score > 0) || math.Log(run.Score) > fast.Bound {
		return p, judge.Provisional{}, nil
	}
	fast.Why += fmt.Sprintf("; run %d, without it right after, scored %.0f", run.ID, run.Score)
	return p, fast, tr.put(ctx, true)
}

// arm is one run of one arm.
func (tr *trial) arm(ctx context.Context, on bool) (*iikanji.Run, string, error) {
	if err := tr.put(ctx, on); err != nil {
		return nil, "", err
	}
	if on { // a candidate may be the cause itself: only the incumbent's runs tell of the machine
		tr.voids = min(tr.voids, maxVoids-2)
	}
	spec := BenchSpec{Load: tr.Options.Short, Trial: on}
	if on {
		spec.Ready = func(ctx context.Context) bool { // an error will be there after the run as well
			tr.replan, _ = tr.wiped(ctx)
			return !tr.replan
		}
	}
	run, void, err := tr.bench(ctx, spec, tr.changes...)
	if err != nil {
		return nil, "", err
	}
	tr.runs++
	if on && !tr.replan {
		tr.replan, err = tr.wiped(ctx)
	}
	if on {
		return run, void, err
	}
	if void == "" {
		tr.incumbentRan(run)
	}
	return run, void, nil
}

// wiped reports whether initialize undid one of the changes. A table that a
// later change of the bundle altered, too, is in a state foreign to the earlier.
func (tr *trial) wiped(ctx context.Context) (bool, error) {
	for _, c := range tr.changes {
		wiped, err := change.Wiped(ctx, tr.Site, c)
		if err != nil && !errors.Is(err, change.ErrForeignState) {
			return false, err
		}
		if wiped {
			return true, nil
		}
	}
	return false, nil
}

// recalibrate voids the last pair and runs the incumbent again, as the
// environment is another one now.
func (tr *trial) recalibrate(ctx context.Context, why string) error {
	tr.c.Pairs[len(tr.c.Pairs)-1].Void = why
	tr.say("%s", why)
	tr.c.Before, tr.incumbent = nil, nil
	for len(tr.c.Before) < judge.ShiftRuns {
		run, void, err := tr.arm(ctx, false)
		if err != nil {
			return err
		}
		if void == "" {
			tr.c.Before = append(tr.c.Before, run)
		}
	}
	return nil
}

// settle leaves the site as the verdict says.
func (tr *trial) settle(ctx context.Context, a *Attempt) error {
	v := &a.Verdict
	tr.past = append(tr.past, tr.c.Pairs)
	tr.notePairs()
	if v.Call != iikanji.Keep {
		a.Parked, a.Deferred = v.Call == iikanji.Inconclusive, tr.deferred
		err := tr.away(ctx, v.Why)
		tr.learn()
		return err
	}
	if err := tr.put(ctx, true); err != nil {
		return err
	}
	for _, c := range tr.changes {
		if err := tr.Acts.Keep(c.ID, a.why()); err != nil {
			return err
		}
		tr.book.InForce = append(tr.book.InForce, c.ID)
	}
	tr.incumbent, tr.fresh = nil, nil
	tr.stale, tr.moved = tr.stale || v.Effect.Mid >= leap, true
	for _, p := range tr.c.Pairs {
		if p.Void == "" && p.B != nil && p.B.Clean() {
			tr.incumbent = append(tr.incumbent, p.B)
			tr.remember(p.B)
		}
	}
	tr.learn()
	return nil
}

// leap is the effect on ln(score) from which on a keep is taken to have moved
// the bottleneck, so that a run has to be observed again.
const leap = 0.095

// better says whether another candidate promises more per run than going on
// with this trial does. Giving up early keeps nothing, so it errs to one side.
func (tr *trial) better(v iikanji.Verdict) bool {
	if tr.Options.Time <= 0 || len(v.Tried) < 1 {
		return false
	}
	sd := tr.judge.Prior.SD()
	ahead := promise(v, sd, tr.judge.Looks)
	little := len(v.Tried) > 1 && ahead < trifle // the time has other uses
	if len(tr.changes) > 1 {                     // nothing is put before a bundle
		return little
	}
	if tr.due() && tr.timeFor() < lastCall*tr.cost {
		return true
	}
	next, ok := tr.next(false)
	if !ok || slices.ContainsFunc(tr.book.Attempts, func(a Attempt) bool { return a.Key == next.Key() && a.Deferred }) {
		return little
	}
	return ahead < next.Chance*next.Gain/runsFor(next.Gain, sd)
}

// promise is what going on with a trial may bring per run: at the best of the
// looks to come, the chance that the mean of then proves a gain, times that gain.
func promise(v iikanji.Verdict, sd float64, looks stats.Looks) float64 {
	n, best := float64(len(v.Tried)), 0.0
	for _, size := range looks.Sizes {
		l := float64(size)
		if l <= n {
			continue
		}
		need := max(v.Worth, 2.12*sd/math.Sqrt(l)) // the bound of that look, about
		z := (v.Shrunk - need) / (sd * math.Sqrt(1/n-1/l))
		best = max(best, stats.NormalCDF(z)*max(v.Shrunk, need)/(2*(l-n)))
	}
	return best
}

// notePairs keeps the pairs for the noise of later searches.
func (tr *trial) notePairs() {
	var pairs [][2]int
	for _, p := range tr.c.Pairs {
		if p.Void == "" && p.A != nil && p.B != nil {
			pairs = append(pairs, [2]int{int(p.A.ID), int(p.B.ID)})
		}
	}
	tr.book.Pairs = append(tr.book.Pairs, pairs)
}

// provisional makes the candidate the incumbent before it is proven. The run
// that let it in was chosen for being good and proves nothing further: the
// confirmation is what the incumbent does from now on.
func (tr *trial) provisional(a *Attempt, fast judge.Provisional) error {
	tr.book.Open = &open{Attempt: len(tr.book.Attempts), Bound: fast.Bound, Before: ids(tr.incumbent)}
	for _, c := range tr.changes {
		tr.book.InForce = append(tr.book.InForce, c.ID)
	}
	tr.incumbent, tr.fresh, tr.stale = nil, nil, true
	return nil
}
