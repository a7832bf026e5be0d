package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/judge"
)

// Tune searches for changes that make the site faster, keeps what interleaved
// runs prove, and measures at the end what it came to:
//
//  1. go on where an earlier search was cut off; otherwise
//  2. run the untouched site against itself: that is the noise (A/A);
//  3. observe a run and find causes; order their remedies by what they may bring;
//  4. try one at a time; after each keep the bottleneck has moved: go to 3;
//  5. what was parked alone may help together: bundles, bisected when they fail;
//  6. at the end: what turns logs off, drop-one checks, a restart rehearsal,
//     and the untouched site against the final one in full runs.
//
// When ctx is done the candidate under trial is undone, what was kept stays,
// and the outcome so far is returned with ctx's error.
func (t *Tuner) Tune(ctx context.Context) (*Outcome, error) {
	if err := t.open(); err != nil {
		return nil, err
	}
	out := &Outcome{Full: t.Options.Full, Untouched: []iikanji.RunID{}, Final: []iikanji.RunID{}}
	err := t.circle(ctx, out)
	out.Attempts = append([]Attempt{}, t.book.Attempts...)
	out.Runs, out.Voided = t.book.Runs-t.before[0], t.book.Voided-t.before[1]
	out.Short = [2]float64{geomean(t.untouched), geomean(t.incumbent)}
	out.Noise, out.Notes, out.Took = t.judge.Prior.SD(), t.notes, t.Now().Sub(t.began)
	out.Partial = err != nil
	return out, errors.Join(err, t.save())
}

func (t *Tuner) circle(ctx context.Context, out *Outcome) error {
	if err := t.stand(ctx); err != nil {
		return err
	}
	if err := t.calibrate(ctx); err != nil {
		return err
	}
	if err := t.search(ctx); err != nil {
		return err
	}
	return t.finish(ctx, out)
}

// calibrate runs the site against itself until there are four A/A pairs, as
// the method wants, or, in a state whose noise is known, two runs of it.
func (t *Tuner) calibrate(ctx context.Context) error {
	const want = 2 * calibrationPairs
	known := len(t.aa) >= want
	if !known && len(t.book.InForce) > 0 { // the noise of what is there now, then
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
		t.untouched = t.ofUntouched(t.aa)
	}
	t.learn()
	t.say("noise: the two runs of a pair differ by %.1f %% (standard deviation); score %.0f", 100*t.judge.Prior.SD(), geomean(t.incumbent))
	return t.save()
}

// maxFailed in a row of the site as it is end the search: one may be an
// accident of a busy machine.
const maxFailed = 3

// ErrChecks says that the site failed its checks with no candidate on it.
var ErrChecks = errors.New("the site as it is fails its checks")

// bench runs the site once. A void run is counted, named, and of no use.
func (t *Tuner) bench(ctx context.Context, spec BenchSpec, touched ...*iikanji.Change) (*iikanji.Run, string, error) {
	var err error
	if spec.State, err = t.fingerprint(ctx, touched...); err != nil {
		return nil, "", err
	}
	began := t.Now()
	t.fresh = nil
	run, void, err := t.Field.Bench(ctx, spec)
	if err != nil {
		return nil, "", err
	}
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	t.book.Runs++
	t.cost = max(t.cost*9/10, t.Now().Sub(began))
	if void == "" && (run.Load.Void || run.Outcome == iikanji.Void) {
		void = cmp.Or(run.Load.Why, "not a valid measurement")
	}
	if void == "" {
		t.voids = 0
		return run, "", nil
	}
	t.book.Voided++
	t.say("run %d does not count: %s", run.ID, void)
	if t.voids++; t.voids >= maxVoids {
		return nil, "", fmt.Errorf("%w: %d runs in a row do not count; the last one because %s", errNoisy, t.voids, void)
	}
	return run, void, nil
}

// maxVoids in a row end the search: waiting for a quiet machine is a person's choice.
const maxVoids = 6

// incumbentRan notes a run of the site as it stands; it may be what confirms
// a change that the fast lane let in.
func (t *Tuner) incumbentRan(run *iikanji.Run) {
	t.remember(run)
	t.incumbent, t.fresh = append(t.incumbent, run), run
	if o := t.book.Open; o != nil {
		o.Since = append(o.Since, run.ID)
	}
}

// binding is the resource that the latest diagnosis found to be the limit.
func (t *Tuner) binding() string {
	if t.diagnosis == nil {
		return ""
	}
	return t.diagnosis.Binding
}

// search tries candidates until there are none, or no budget for them.
func (t *Tuner) search(ctx context.Context) error {
	for {
		if why := t.enough(); why != "" {
			t.note("the search ended: %s", why)
			return nil
		}
		if t.stale {
			if err := t.observe(ctx); err != nil {
				return err
			}
			t.stale = false
		}
		c, ok := t.next(false)
		_, again := t.tried(c)
		if again || t.timeFor() < lastCall*t.cost { // what was put off may be enough together
			if tried, err := t.bundle(ctx); err != nil {
				return err
			} else if tried {
				continue
			}
		}
		if !ok && t.moved {
			t.moved, t.stale = false, true // small keeps may have moved it as well
			continue
		}
		if !ok {
			tried, err := t.bundle(ctx)
			if err != nil {
				return err
			}
			if !tried {
				t.note("the search ended: no candidates are left")
				return nil
			}
			continue
		}
		if tried, err := t.together(ctx, t.handful(c), "each alone would take long to prove"); err != nil {
			return err
		} else if tried {
			continue
		}
		if err := t.attempt(ctx, c); err != nil {
			return err
		}
	}
}

// lastCall is how many runs before the end of the search the bundle of all
// that was parked has its trial.
const lastCall = 10

// attempt tries one candidate, tells the end of it and settles what is open.
func (t *Tuner) attempt(ctx context.Context, c Candidate) error {
	a, err := t.try(ctx, c)
	if err != nil && a.Verdict.Call == iikanji.CallUnknown {
		return err
	}
	t.book.Attempts = append(t.book.Attempts, a)
	if err := errors.Join(err, t.judged(a)); err != nil { // a service died with it: the next search knows
		return err
	}
	if a.Skipped != "" {
		t.say("not tried: %s: %s", a.Says, firstLine(a.Skipped))
	} else {
		t.say("%s: %s: %s", strings.ToUpper(callOf(a)), a.Says, a.Verdict.Why)
	}
	if err := t.confirm(ctx, 2); err != nil {
		return err
	}
	t.show(func(v *View) { v.Doing, v.Why, v.Pairs, v.Effect = "", "", 0, nil })
	return t.save()
}

// judged keeps the verdict of an attempt with each of its changes.
func (t *Tuner) judged(a Attempt) error {
	if a.Verdict.Call == iikanji.CallUnknown || a.Fast && len(a.Verdict.Base) == 0 { // none yet
		return nil
	}
	for _, id := range a.Changes {
		v := a.Verdict
		v.Change, v.Why = id, a.why()
		if err := t.History.SaveVerdict(id, &v); err != nil {
			return err
		}
	}
	return nil
}

// why is the sentence of the verdict, for each of the changes that it is of.
func (a Attempt) why() string {
	if n := len(a.Changes); len(a.Parts) > 0 && n > 1 {
		return fmt.Sprintf("tried as one with %d others: %s", n-1, a.Verdict.Why)
	}
	return a.Verdict.Why
}

// callOf is the end of an attempt in a word.
func callOf(a Attempt) string {
	switch {
	case a.Skipped != "":
		return "not tried"
	case a.Dropped:
		return "dropped"
	case a.Undone:
		return "undone"
	case a.Verdict.Call == iikanji.Keep && a.Fast && len(a.Verdict.Base) == 0:
		return "provisional"
	case a.Parked:
		return "parked"
	}
	return a.Verdict.Call.String()
}

// confirm decides on a change that the fast lane let in once there are enough
// runs with it.
func (t *Tuner) confirm(ctx context.Context, least int) error {
	o := t.book.Open
	if o == nil || len(o.Since) < least {
		return nil
	}
	before, err := t.load(o.Before)
	if err != nil {
		return err
	}
	since, err := t.load(o.Since)
	if err != nil {
		return err
	}
	a := &t.book.Attempts[o.Attempt]
	stand := t.standing(a)
	changes, err := t.changes(stand)
	if err != nil {
		return err
	}
	v := t.judge.Confirm(changes[0].ID, worthOf(changes), judge.Provisional{OK: true, Bound: o.Bound}, before, since)
	a.Verdict = v
	if err := t.judged(*a); err != nil {
		return err
	}
	t.say("%s: %s: %s", strings.ToUpper(callOf(*a)), a.Says, v.Why)
	if v.Call != iikanji.Keep {
		a.Parked, t.stale = true, true
		return t.takeBack(ctx, stand, v.Why)
	}
	for _, id := range stand {
		if err := t.Acts.Keep(id, v.Why); err != nil {
			return err
		}
	}
	t.book.Open = nil
	return t.save()
}

// changes loads changes by their numbers.
func (t *Tuner) changes(ids []iikanji.ChangeID) ([]*iikanji.Change, error) {
	var out []*iikanji.Change
	for _, id := range ids {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// takeBack undoes changes that are in force. What came later and stands on the
// same places goes with them, and gets another trial.
func (t *Tuner) takeBack(ctx context.Context, gone []iikanji.ChangeID, why string) error {
	above, err := t.above(gone)
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(t.book.InForce) {
		says := why
		switch {
		case slices.Contains(above, id):
			says = "it stands on a change that is undone: " + why
		case !slices.Contains(gone, id):
			continue
		}
		if err := t.Acts.Revert(ctx, id, says); err != nil {
			return err
		}
	}
	all := slices.Concat(gone, above)
	t.book.InForce = slices.DeleteFunc(t.book.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(all, id) })
	for i := range t.book.Attempts {
		a := &t.book.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && slices.ContainsFunc(a.Changes, func(id iikanji.ChangeID) bool { return slices.Contains(above, id) }) {
			t.say("to be tried again: %s: what it stood on is undone", a.Says)
			a.again("what it stood on was undone: to be tried again")
		}
	}
	t.book.Open, t.incumbent, t.fresh = nil, nil, nil
	return t.save()
}

// above are changes in force that were made later than some others, on a
// place of theirs or of one that is above them itself.
func (t *Tuner) above(below []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	var above []iikanji.ChangeID
	places := map[string]bool{}
	for _, id := range t.book.InForce {
		c, err := t.History.LoadChange(id)
		if err != nil {
			return nil, err
		}
		on := slices.ContainsFunc(c.Do, func(op iikanji.Op) bool { return op.Expect != "" && places[op.Place] })
		if on && !slices.Contains(below, id) {
			above = append(above, id)
		}
		if on || slices.Contains(below, id) {
			for _, op := range c.Do {
				places[op.Place] = places[op.Place] || op.Expect != ""
			}
		}
	}
	return above, nil
}

// observe runs the site with every sensor on and makes the queue anew.
func (t *Tuner) observe(ctx context.Context) error {
	t.show(func(v *View) {
		v.Phase, v.Doing, v.Why = "observe", "a run with every sensor on", "where does the time go now?"
	})
	t.fresh = nil
	state, err := t.fingerprint(ctx)
	if err != nil {
		return err
	}
	d, known, err := t.Field.Observe(ctx, BenchSpec{Load: t.Options.Watch, State: state})
	if err != nil {
		return err
	}
	t.diagnosis, t.moved = d, false
	older := t.queue
	found, refused := Candidates(d)
	t.queue = slices.DeleteFunc(found, t.cured)
	t.refuse(refused)
	t.say("observed: %d causes, %d remedies that need no patch; the limit is %s", len(d.Findings), len(t.queue), cmp.Or(d.Binding, "none of the machine's resources"))
	t.carry(older)
	if t.Propose == nil {
		return nil
	}
	more, err := t.Propose(ctx, d, known, t.book.Attempts)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.note("the proposer was of no use: %s", err)
		return nil
	}
	for _, c := range more {
		c.Proposed = true
		act, _ := change.Match(c.Remedy) // an error: the trial reports why it cannot be planned
		c.Chance, c.Gain = max(act.Belief.Chance, 0.1), max(act.Belief.Gain, 0.05, c.Gain)
		if !slices.ContainsFunc(t.queue, func(o Candidate) bool { return o.Key() == c.Key() }) {
			t.queue = append(t.queue, c)
		}
	}
	return nil
}

// refuse reports remedies that cannot be tried: as attempts that were skipped,
// but for those that wait for a patch, of which there are many in a diagnosis.
func (t *Tuner) refuse(refused []Refusal) {
	var patches []string
	for _, r := range refused {
		if errors.Is(r.Err, change.ErrNoDiff) {
			if code := string(r.Code); !slices.Contains(patches, code) {
				patches = append(patches, code)
			}
			continue
		}
		if tried, _ := t.tried(r.Candidate); tried {
			continue
		}
		t.say("not tried: %s: %s", r.Remedy.Says, firstLine(r.Err.Error()))
		t.book.Attempts = append(t.book.Attempts, Attempt{Candidate: r.Candidate, Key: r.Key(), Says: r.Remedy.Says, Binding: t.binding(), Skipped: r.Err.Error()})
	}
	if len(patches) > 0 {
		t.say("not tried: remedies of %s: %s", strings.Join(patches, ", "), change.ErrNoDiff)
	}
}

// faded is what is left of a candidate's chance once its cause no longer shows:
// a bottleneck may hide it.
const faded = 0.7

// carry keeps candidates of earlier diagnoses that this one does not have.
//
// Of a cause that was cured they are other cures: it would show if it were there.
func (t *Tuner) carry(older []Candidate) {
	for _, c := range older {
		if t.cured(c) {
			continue
		}
		if !slices.ContainsFunc(t.queue, func(o Candidate) bool { return o.Key() == c.Key() }) {
			c.Chance *= faded
			t.queue = append(t.queue, c)
		}
	}
}

// cured says whether another remedy of the same finding is in force. Logs that
// are written better may still be turned off.
func (t *Tuner) cured(c Candidate) bool {
	return c.Code != "" && !blinds(c.Remedy) && slices.ContainsFunc(t.book.Attempts, func(a Attempt) bool {
		return (a.cause() == c.cause() || slices.Contains(a.Causes, c.cause())) && len(t.standing(&a)) > 0
	})
}

// next takes the best candidate that has not had its trial under this
// bottleneck, of those that blind the sensors or of the others.
func (t *Tuner) next(blind bool) (Candidate, bool) {
	again := Candidate{}
	for _, c := range Ranked(t.queue, t.judge.Prior.SD()) {
		if blinds(c.Remedy) != blind || c.Key() == t.under || t.trifling(c) {
			continue
		}
		switch tried, deferred := t.tried(c); {
		case !tried:
			return c, true
		case deferred && again.Key() == (Candidate{}).Key():
			again = c
		}
	}
	return again, again.Remedy.Kind != ""
}

// trifle is the expected gain on ln(score), its chance taken into account,
// below which a candidate is not worth any of a bounded time.
const trifle = 0.004

func (t *Tuner) trifling(c Candidate) bool {
	return t.Options.Time > 0 && !blinds(c.Remedy) && c.Chance*c.Gain < trifle
}

// tried says whether a candidate has had its trial, and whether that was put
// off. What was parked comes back when the bottleneck has moved.
func (t *Tuner) tried(c Candidate) (tried, deferred bool) {
	for _, a := range slices.Backward(t.book.Attempts) {
		if a.Key == c.Key() {
			return !a.Parked || a.Binding == t.binding(), a.Deferred
		}
		if _, part := a.Remedy.Args[c.Key()]; part && a.Kind() == bundleKind && len(t.standing(&a)) > 0 {
			return true, false
		}
	}
	return false, false
}

// enough says why the search has to end; "" while it may go on.
func (t *Tuner) enough() string {
	first, now := geomean(t.untouched), geomean(t.incumbent)
	switch {
	case t.Options.Runs > 0 && t.book.Runs-t.before[0] >= t.Options.Runs:
		return fmt.Sprintf("%d runs were allowed", t.Options.Runs)
	case t.Options.Until > 0 && first > 0 && now >= first*t.Options.Until:
		return fmt.Sprintf("the score is %.1f × the first one, ×%g was wanted", now/first, t.Options.Until)
	case t.timeFor() < 4*t.cost:
		return "the rest of the time is for the last comparison"
	}
	return ""
}

// timeLeft is what is left of all the time.
func (t *Tuner) timeLeft() time.Duration {
	if t.Options.Time <= 0 {
		return math.MaxInt64
	}
	return t.Options.Time - t.Now().Sub(t.began)
}

// timeFor is what is left for searching.
func (t *Tuner) timeFor() time.Duration { return t.tailLeft() - t.tailTime() }

// LeastTime is the least time that a search is worth beginning with: for the
// noise, one look around, one trial of two pairs and the last comparison, each
// run taking two seconds beyond its load.
func (o TuneOptions) LeastTime() time.Duration {
	const beyond = 2 * time.Second
	runs := 2*calibrationPairs + 4 + 2*o.Pairs + 3
	return time.Duration(runs)*(o.Short+beyond) + o.Watch + beyond
}

// fullLoad is how long a full run may be so that the last comparison has at
// most 28 % of the time.
func (t *Tuner) fullLoad() time.Duration {
	if t.Options.Time <= 0 {
		return t.Options.Full
	}
	return t.fullIn(t.Options.Time * 28 / 100)
}

// fullIn is how long the runs of a last comparison may be that takes no more than d.
func (t *Tuner) fullIn(d time.Duration) time.Duration {
	each := d/time.Duration(2*t.Options.Pairs) - t.overhead()
	return max(t.Options.Short, min(t.Options.Full, each.Truncate(time.Second)))
}

// overhead is what a run takes beyond its load.
func (t *Tuner) overhead() time.Duration { return max(2*time.Second, t.cost-t.Options.Short) }

// endTime is what the rehearsal and the last comparison will take.
func (t *Tuner) endTime() time.Duration {
	return time.Duration(2*t.Options.Pairs)*(t.fullLoad()+t.overhead()) + 3*t.cost
}

// tailTime is what turning logs off and drop-one checks are given.
func (t *Tuner) tailTime() time.Duration {
	if t.Options.Time <= 0 || t.ending {
		return 0
	}
	return t.Options.Time / 12
}
