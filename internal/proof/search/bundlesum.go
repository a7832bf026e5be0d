package search

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
)

// A bundle was kept by a comparison of the site with all of its parts and without them. The pairs
// of each part at the end are few, and by themselves they leave all of them doubtful. So a part is
// judged by both: what its own pairs say, and what the bundle brought beyond what its other parts
// explain. Four rewrites that brought 34 % together are not all useless, whatever the pairs of each
// say.

// An estimate is an effect on ln(score) with its standard error.
type estimate struct{ mid, se float64 }

// withBundle is the effect of a part of a bundle by its own pairs and by the trial of the bundle.
// The effects of the parts are taken to add up to the bundle's, and what their pairs leave of it is
// shared by them, the more by those of which less is known. Where another change with a considerable
// effect was kept since, the limit may be another one, and nothing adds up: ok is false.
func (s *State) withBundle(a *CheckArm) (e estimate, ok bool) {
	bundle := &s.Ledger.Attempts[a.Keep.Attempt]
	v := bundle.Verdict
	if a.isGroup() || a.Keep.Part == 0 || a.Verdict.SE <= 0 || v.SE <= 0 || v.Effect.Level == 0 || s.limitMovedAfter(a.Keep.Attempt) {
		return e, false
	}
	own := estimate{a.Verdict.Effect.Mid, a.Verdict.SE}
	rest, variance := v.Effect.Mid, v.SE*v.SE
	for _, p := range bundle.Planned() {
		of := s.partEstimate(a.Keep.Attempt, p)
		rest, variance = rest-of.mid, variance+of.se*of.se
	}
	share := own.se * own.se / variance
	return estimate{own.mid + share*rest, own.se * math.Sqrt(max(0, 1-share))}, true
}

// partEstimate is what is known of a part of a bundle but by the bundle itself: by its pairs at the
// end, or else that effects are usually so large.
func (s *State) partEstimate(attempt int, p Part) estimate {
	k := Keep{Attempt: attempt, Changes: []iikanji.ChangeID{p.Change}, Part: p.Change}
	if i := s.Checks.Arm(k); i >= 0 && s.Checks.Arms[i].Verdict.SE > 0 {
		v := s.Checks.Arms[i].Verdict
		return estimate{v.Effect.Mid, v.SE}
	}
	if p.Alone != nil && p.Alone.SE > 0 {
		return estimate{p.Alone.Effect.Mid, p.Alone.SE}
	}
	return estimate{0, s.constant(UsualEffect)}
}

// limitMovedAfter reports whether a change with a considerable effect was kept after an attempt.
func (s *State) limitMovedAfter(attempt int) bool {
	l := s.Ledger
	return slices.ContainsFunc(l.Attempts[attempt+1:], func(a Attempt) bool {
		return a.Verdict.Call == iikanji.Keep && s.movedLimit(&a) && s.isInForce(&a)
	})
}

// bundleSpeaksFor reports whether the trial of its bundle makes a part worth keeping whose own pairs
// say that it goes: more pairs decide.
func (s *State) bundleSpeaksFor(a *CheckArm) bool {
	e, ok := s.withBundle(a)
	return ok && e.mid >= a.Verdict.Worth && a.pairs() < s.count(MostPairs)
}
