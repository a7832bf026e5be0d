package tune

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// bundle tries candidates together that were parked alone with a gain that could
// not be proven: changes that unblock one another show an effect only together.
// A bundle that fails is bisected. tried is false if there was nothing to try.
func (t *Tuner) bundle(ctx context.Context) (tried bool, err error) {
	return t.together(ctx, t.parked(), "each alone was too small to prove")
}

// parked are the candidates whose last trial was parked with a gain, in the
// order in which they were tried.
func (q *queue) parked() []Candidate {
	var parts []Candidate
	seen := map[string]bool{}
	for _, a := range slices.Backward(q.ledger.Attempts) {
		if seen[a.Key] || a.Kind() == bundleKind {
			continue
		}
		seen[a.Key] = true
		if a.Parked && a.Verdict.Effect.Mid > 0 && !a.blinds() {
			parts = append(parts, a.Candidate)
		}
	}
	slices.Reverse(parts)
	return parts
}

// due reports whether a bundle of the parked candidates waits for its trial.
func (q *queue) due() bool {
	parts := q.parked()
	if len(parts) < 2 {
		return false
	}
	tried, _ := q.tried(bundleOf(parts, ""))
	return !tried
}

// mostParts bounds a bundle of candidates that were not tried alone: one part
// that fails the checks fails the whole trial.
const mostParts = 6

// middling is the expected gain on ln(score) below which a candidate is tried
// with others where the time does not suffice for a trial of each.
const middling = 0.15

// large is the expected gain on ln(score) from which a candidate is tried alone
// before a screening: it moves the bottleneck.
const large = 0.35

// handful is a candidate with the others to try in one bundle, best first, in a
// search with a bounded time; nil means to try it alone. The bundle has
// candidates whose expected gain takes more than two pairs to prove or, if there
// is no time for a trial of each, candidates whose expected gain is below
// middling. It has one remedy of each finding, and none of a proposer.
func (q *queue) handful(first Candidate, most int) []Candidate {
	if q.options.Time <= 0 {
		return nil
	}
	sd, waiting := q.judge.Prior.SD(), q.waiting(first.blinds())
	tight := time.Duration(4*len(waiting))*q.cost > q.timeFor()
	small := func(c Candidate) bool {
		if most > mostParts {
			return !c.Proposed && c.Gain < large
		}
		return !c.Proposed && (runsFor(c.Gain, sd) > 4 || tight && c.Gain < middling || c.blinds())
	}
	if first.rewrites() {
		return q.allRewrites(first)
	}
	if !small(first) {
		return nil
	}
	parts := []Candidate{first}
	for _, c := range waiting {
		same := func(o Candidate) bool { return o.cause() == c.cause() }
		if len(parts) < most && small(c) && !c.rewrites() && !slices.ContainsFunc(parts, same) {
			parts = append(parts, c)
		}
	}
	return parts
}

// bundleOf combines candidates into one.
func bundleOf(parts []Candidate, why string) Candidate {
	one := Candidate{Remedy: iikanji.Remedy{Kind: bundleKind, Target: "several", Args: map[string]string{}}, Claim: why}
	for _, p := range parts {
		one.Remedy.Args[p.Key()] = ""
		one.Remedy.Says += "; " + p.Remedy.Says
	}
	if len(parts) > 0 {
		one.Remedy.Says = "together: " + one.Remedy.Says[2:]
	}
	return one
}

// bundleKind marks the attempts that are bundles.
const bundleKind = "bundle"

// Kind is the kind of the attempt's change.
func (a Attempt) Kind() string { return a.Remedy.Kind }

// together tries parts as one change, and if that fails, both halves. Parts that
// cannot be planned are reported and left out.
func (t *Tuner) together(ctx context.Context, parts []Candidate, why string) (tried bool, err error) {
	if len(parts) < 2 {
		return false, nil
	}
	if tried, _ := t.tried(bundleOf(parts, why)); tried {
		return false, nil
	}
	all, wiped := parts, t.ledger.Wiped
	parts, planned, err := t.planAll(ctx, parts, false)
	if err != nil {
		return true, err
	}
	if len(parts) < 2 {
		return true, nil // refused parts were reported; a single part gets a trial of its own
	}
	one := bundleOf(parts, why)
	a := Attempt{Candidate: one, Key: one.Key(), Says: one.Remedy.Says, Binding: t.binding()}
	for i, c := range planned {
		a.Changes, a.Parts, a.Causes = append(a.Changes, c.ID), append(a.Parts, c.Says), append(a.Causes, parts[i].cause())
		a.Alone = append(a.Alone, t.alone(parts[i], c))
	}
	t.fresh = nil
	tr := newTrial(t.runner, t.queue, planned...)
	err = tr.hold(ctx, &a)
	a.Runs, a.Took = tr.runs, t.Now().Sub(tr.began)
	if err != nil {
		return true, err
	}
	if tr.replan {
		t.ledger.Wiped = true
		if !wiped {
			t.say("%s; that part goes into the schema file that initialize loads", undoneByInitialize("a part of the bundle"))
			return t.together(ctx, all, why)
		}
		a.Skipped = undoneByInitialize("a part of the bundle")
	}
	t.ledger.Attempts = append(t.ledger.Attempts, a)
	if err := t.judged(a); err != nil {
		return true, err
	}
	t.say("%s: %s: %s", callOf(a), a.Says, cmp.Or(a.Verdict.Why, a.Skipped))
	if err := t.confirm(ctx, 2); err != nil {
		return true, err
	}
	if err := t.save(); err != nil || a.Verdict.Call == iikanji.Keep || a.Deferred || t.scarce() {
		return true, err
	}
	for _, half := range [][]Candidate{parts[:len(parts)/2], parts[len(parts)/2:]} {
		if t.enough() != "" || !t.fits(half[0]) || t.rewriteNext() {
			break
		}
		if _, err := t.together(ctx, half, why); err != nil {
			return true, err
		}
	}
	return true, nil
}

// rewriteNext reports whether rewrites of source come before the halves of a bundle that had
// no gain.
func (q *queue) rewriteNext() bool {
	if !q.vain() {
		return false
	}
	c, ok := q.next(false)
	return ok && c.rewrites() && !c.knob()
}

// planAll plans parts in order. A part that touches a place of an earlier part is
// planned on the state that the earlier part leaves: the earlier parts are
// applied for that, and undone afterwards. Parts that cannot be planned are
// recorded as not tried and left out. With inOrder, a part that is refused is planned
// once more on the state that the earlier parts leave.
func (pl *planner) planAll(ctx context.Context, parts []Candidate, inOrder bool) (left []Candidate, planned []*iikanji.Change, err error) {
	defer func() {
		if e := pl.undo(ctx, planned, "planned as a part of a bundle"); err == nil {
			err = e
		}
	}()
	applied := 0 // how many of the planned changes are applied
	for _, p := range parts {
		tried := p
		if pl.ledger.Wiped {
			tried.Remedy = change.IntoSchemaFile(tried.Remedy)
		}
		c, refused, err := pl.look(ctx, tried)
		again := inOrder && refused != nil
		if err == nil && refused == nil {
			again = slices.ContainsFunc(planned[applied:], func(o *iikanji.Change) bool { return touch(o, c) })
		}
		if err == nil && again && applied < len(planned) {
			if applied, refused, err = pl.applyFrom(ctx, planned, applied); err == nil && refused == nil {
				c, refused, err = pl.look(ctx, tried)
			}
		}
		if err != nil {
			return nil, planned, err
		}
		if refused != nil {
			pl.say("not tried: %s: %s", p.Remedy.Says, firstLine(refused.Error()))
			pl.ledger.Attempts = append(pl.ledger.Attempts, Attempt{Candidate: p, Key: p.Key(), Says: p.Remedy.Says, Binding: pl.binding(), Skipped: refused.Error()})
			continue
		}
		if err := pl.store.AddChange(c, change.Diff(c)); err != nil {
			return nil, planned, err
		}
		left, planned = append(left, p), append(planned, c)
	}
	return left, planned, nil
}

// applyFrom applies the changes from an index on; refused is the change that
// could not be applied.
func (pl *planner) applyFrom(ctx context.Context, changes []*iikanji.Change, from int) (applied int, refused, err error) {
	for i := from; i < len(changes); i++ {
		err := pl.acts.Apply(ctx, changes[i].ID)
		if err == nil {
			continue
		}
		if now, e := pl.store.LoadChange(changes[i].ID); ctx.Err() == nil && e == nil && now.Stage == iikanji.Reverted {
			return i, fmt.Errorf("another part of the bundle could not be applied (%s): %s", changes[i].Says, firstLine(err.Error())), nil
		}
		return i, nil, err
	}
	return len(changes), nil, nil
}

// touch reports whether two changes alter a common place.
func touch(a, b *iikanji.Change) bool {
	for _, x := range a.Do {
		if x.Expect != "" && slices.ContainsFunc(b.Do, func(y iikanji.Op) bool { return y.Expect != "" && y.Location() == x.Location() }) {
			return true
		}
	}
	return false
}
