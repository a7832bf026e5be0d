package search

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// An Attempt is one candidate's trial, or the reason why it had none. That of a bundle
// has several parts.
type Attempt struct {
	Candidate Candidate
	Key       string
	// Changes are what was planned for it, in the order of application: one change for each
	// part of a bundle, and for a single candidate that was planned twice the earlier one too.
	Changes []iikanji.ChangeID
	Parts   []Part // of a bundle
	Says    string
	Verdict iikanji.Verdict
	// Skipped is why there was no trial; "" if there was one.
	Skipped string
	// Parked: the trial decided nothing. The candidate is tried again when another
	// resource than Binding is the limit, or when a kept change raises its expected gain.
	Parked  bool
	Binding string
	// Deferred attempts were ended early, for a candidate that promised more or because their
	// pairs did not count, and are tried again when no other is left.
	Deferred bool
	Fast     bool
	// Again is the verdict of the check at the end, with pairs of their own.
	Again   *iikanji.Verdict
	Dropped bool   // kept first, taken back by a drop-one check
	Undone  bool   // kept first, taken back by a person since
	Rung    string // of a ladder, whose changes may stay without a proof
	Stays   bool   // a rung's changes stayed after its trial
	Runs    int
	Took    time.Duration
}

// Kind is the kind of the attempt's change.
func (a *Attempt) Kind() string { return a.Candidate.Remedy.Kind }

// IsBundle reports whether the attempt is of a bundle, also of one candidate of a ladder.
func (a *Attempt) IsBundle() bool { return a.Kind() == bundleKind }

// Planned are the parts of a bundle that have a change.
func (a *Attempt) Planned() []Part {
	return slices.DeleteFunc(slices.Clone(a.Parts), func(p Part) bool { return !p.planned() })
}

// HasSeveral reports whether the attempt tried several changes as one.
func (a *Attempt) HasSeveral() bool { return len(a.Planned()) > 1 }

// PartOf is the part of the attempt that has a change; nil if there is none.
func (a *Attempt) PartOf(id iikanji.ChangeID) *Part {
	if i := slices.IndexFunc(a.Parts, func(p Part) bool { return p.Change == id }); i >= 0 {
		return &a.Parts[i]
	}
	return nil
}

// doubtOf is the probability that a change of a kept attempt has no gain.
func (a *Attempt) doubtOf(id iikanji.ChangeID) float64 {
	if !a.HasSeveral() {
		return a.Verdict.Doubt
	}
	p := a.PartOf(id)
	switch {
	case p != nil && p.Alone != nil:
		return p.Alone.Doubt
	case p != nil && p.Chance > 0:
		return 1 - p.Chance
	}
	return 1. / 2 // nothing is known, and each is as likely
}

// hasPart reports whether a bundle has the candidate with a key as a part.
func (a *Attempt) hasPart(key string) bool {
	return slices.ContainsFunc(a.Parts, func(p Part) bool { return p.Key() == key })
}

// candidates are what the attempt tried: the parts of a bundle, or its candidate.
func (a *Attempt) candidates() []Candidate {
	if !a.IsBundle() {
		return []Candidate{a.Candidate}
	}
	var all []Candidate
	for _, p := range a.Parts {
		all = append(all, p.candidate())
	}
	return all
}

// rewritesSource reports whether the attempt is of rewrites of source other than knobs.
func (a *Attempt) rewritesSource() bool {
	return slices.ContainsFunc(a.candidates(), func(c Candidate) bool { return c.Traits.Rewrites && !c.knob() })
}

// answersFor reports whether the attempt's changes, if they are in force, leave nothing for a
// candidate to do: they answer its finding, or have its fixes.
func (a *Attempt) answersFor(c Candidate) bool {
	ofItsFinding := func(p Part) bool { return p.Cause == c.Cause() }
	return a.Candidate.Cause() == c.Cause() || slices.ContainsFunc(a.Planned(), ofItsFinding) ||
		c.Traits.Rewrites && slices.ContainsFunc(a.candidates(), func(part Candidate) bool { return part.hasFixesOf(c) })
}

// Provisional reports whether the fast lane let the attempt in, and nothing has confirmed
// it yet.
func (a *Attempt) Provisional() bool { return a.Fast && len(a.Verdict.Base) == 0 }

// TriedAlone reports whether the trial of a single change ended without a proof of a gain
// and without a fault.
func (a *Attempt) TriedAlone() bool {
	noGain := a.Verdict.Call == iikanji.Revert && a.Verdict.Reason == iikanji.NoGain
	return a.Skipped == "" && !a.HasSeveral() && (a.Parked || noGain)
}

// TryAgain marks an attempt to be tried again because its proof no longer holds.
func (a *Attempt) TryAgain(why string) {
	a.Parked, a.Deferred, a.Fast, a.Binding = true, false, false, "of another state"
	a.Verdict = iikanji.Verdict{Change: a.Verdict.Change, Call: iikanji.Inconclusive, Reason: iikanji.Undecided, Why: why}
}

// continues reports whether a trial has the pairs of a deferred one. A deferred trial
// without pairs cost no error.
func (a *Attempt) continues(deferred *Attempt) bool {
	base := deferred.Verdict.Base
	return len(base) == 0 || slices.Contains(a.Verdict.Base, base[0])
}

// Result is the attempt's result in a word: keep, revert, inconclusive, parked,
// provisional, dropped, undone or not tried.
func (a *Attempt) Result() string {
	switch {
	case a.Skipped != "":
		return "not tried"
	case a.Dropped:
		return "dropped"
	case a.Undone:
		return "undone"
	case a.Verdict.Call == iikanji.Keep && a.Provisional():
		return "provisional"
	case a.Parked:
		return "parked"
	}
	return a.Verdict.Call.String()
}

// PredictedText is what was predicted of the attempt, beside what was measured; "" without a
// prediction.
func (a *Attempt) PredictedText() string {
	p := a.Candidate.Predicted
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("predicted ×%.2f (%.2f to %.2f)", p.Ratio, p.Range.Lo, p.Range.Hi)
	if e := a.Verdict.Effect; e.Level > 0 {
		text += fmt.Sprintf(", measured ×%.2f (%.2f to %.2f)", math.Exp(e.Mid), math.Exp(e.Lo), math.Exp(e.Hi))
	}
	return text
}
