package loop

import (
	"context"
	"slices"

	"github.com/iikanji/iikanji"
)

// bundle tries together what was parked alone with a gain that could not be
// proven: changes that unblock one another show only so. A bundle that fails
// is bisected. tried is false when there was nothing to try.
func (t *Tuner) bundle(ctx context.Context) (tried bool, err error) {
	return t.together(ctx, t.parts())
}

// parts are the candidates whose last trial was parked with a gain, in the
// order in which they were tried.
func (t *Tuner) parts() []Candidate {
	var parts []Candidate
	seen := map[string]bool{}
	for _, a := range slices.Backward(t.book.Attempts) {
		if seen[a.Key] || a.Kind() == bundleKind {
			continue
		}
		seen[a.Key] = true
		if a.Parked && a.Verdict.Effect.Mid > 0 && !blinds(a.Remedy) {
			parts = append(parts, a.Candidate)
		}
	}
	slices.Reverse(parts)
	return parts
}

// due says whether a bundle of what is parked waits for its trial.
func (t *Tuner) due() bool {
	parts := t.parts()
	if len(parts) < 2 {
		return false
	}
	tried, _ := t.tried(bundleOf(parts))
	return !tried
}

// bundleOf is several candidates as one.
func bundleOf(parts []Candidate) Candidate {
	one := Candidate{Remedy: iikanji.Remedy{Kind: bundleKind, Target: "several", Args: map[string]string{}}, Why: "each alone was too small to prove"}
	for _, p := range parts {
		one.Remedy.Args[p.Key()] = ""
		one.Remedy.Says += "; " + p.Remedy.Says
	}
	one.Remedy.Says = "together: " + one.Remedy.Says[2:]
	return one
}

// bundleKind marks the attempts that are bundles.
const bundleKind = "bundle"

// Kind is the kind of the attempt's change.
func (a Attempt) Kind() string { return a.Remedy.Kind }

// together tries parts as one change, and on failure both halves.
func (t *Tuner) together(ctx context.Context, parts []Candidate) (tried bool, err error) {
	if len(parts) < 2 {
		return false, nil
	}
	one := bundleOf(parts)
	if tried, _ := t.tried(one); tried {
		return false, nil
	}
	a := Attempt{Candidate: one, Key: one.Key(), Says: one.Remedy.Says, Binding: t.binding()}
	planned, why, err := t.planAll(ctx, parts)
	if err != nil {
		return true, err
	}
	t.fresh = nil
	if a.Skipped = why; why == "" {
		tr := t.newTrial(planned...)
		for _, c := range planned {
			a.Changes = append(a.Changes, c.ID)
		}
		err = tr.hold(ctx, &a)
		a.Runs, a.Took = tr.runs, t.Now().Sub(tr.began)
		if err != nil {
			return true, err
		}
		if tr.replan {
			t.book.Wiped = true
			a.Skipped = "initialize makes a table anew and wipes a part of it out"
		}
	}
	t.book.Attempts = append(t.book.Attempts, a)
	if err := t.judged(a); err != nil {
		return true, err
	}
	t.say("%s: %s: %s", callOf(a), a.Says, orElse(a.Verdict.Why, a.Skipped))
	if err := t.confirm(ctx, 2); err != nil {
		return true, err
	}
	if err := t.save(); err != nil || a.Verdict.Call == iikanji.Keep {
		return true, err
	}
	for _, half := range [][]Candidate{parts[:len(parts)/2], parts[len(parts)/2:]} {
		if t.enough() != "" {
			break
		}
		if _, err := t.together(ctx, half); err != nil {
			return true, err
		}
	}
	return true, nil
}

// planAll plans parts one on the other: each is planned on the ground that the
// ones before it leave, so they are applied for it and taken away again.
func (t *Tuner) planAll(ctx context.Context, parts []Candidate) (planned []*iikanji.Change, why string, err error) {
	var last *iikanji.Change
	for _, p := range parts {
		if last != nil {
			if err = t.Acts.Apply(ctx, last.ID); err != nil {
				if now, e := t.History.LoadChange(last.ID); ctx.Err() == nil && e == nil && now.Stage == iikanji.Reverted {
					why, err = "the site did not take a part of it: "+firstLine(err.Error()), nil
				}
				break
			}
		}
		if t.book.Wiped {
			p.Remedy = intoSchemaFile(p.Remedy)
		}
		var c *iikanji.Change
		if c, why, err = t.plan(ctx, p); err != nil || why != "" {
			break
		}
		planned, last = append(planned, c), c
	}
	undo := &trial{Tuner: t, changes: planned}
	if e := undo.away(ctx, "planned as a part of a bundle"); err == nil {
		err = e
	}
	return planned, why, err
}
