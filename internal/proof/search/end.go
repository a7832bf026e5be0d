package search

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// BeginEnd begins the end phase. Of the time that the search did not need, a twelfth of
// the whole is for changes of logs and for checks, also for weak proofs that need more
// than two pairs. The rest makes the runs of the last comparison longer, up to their full
// length: many sites slow down as their data grow, which a short run does not show.
func (s *State) BeginEnd() {
	tail := s.times(TailShare, s.Options.Time) + s.tailTime()
	s.Ending = true
	if s.bounded() {
		s.EndLoad = s.FullIn(s.TimeLeft() - tail - s.times(SpareRuns, s.Cost))
	}
	s.Phase, s.Plan = Closing, Plan{ConfirmLast: s.confirmsLast()}
	if s.Plan.ConfirmLast {
		s.Plan.Stage = Proving
	}
}

// confirmsLast reports whether the runs of the last comparison confirm the change that
// the fast lane let in: a scarce search has no time for runs of its own, the runs have
// one length, and no other change is in force.
func (s *State) confirmsLast() bool {
	return s.Scarce() && s.Options.Full == s.Options.Short && s.Ledger.Open != nil && s.Ledger.KeptNothing() &&
		(s.TailLeft() < 2*s.Cost || !s.canConfirm())
}

// conclude is the next step of the end phase, after which the result is reliable and can be
// exported.
func (s *State) conclude() Step {
	at := func(step Step, stage Stage) Step {
		step.Plan = s.Plan
		step.Plan.Stage = stage
		return step
	}
	switch s.Plan.Stage {
	case Confirming:
		if s.Ledger.Open != nil {
			return s.confirm()
		}
		s.Plan.Stage = Logs
		return s.conclude()
	case Logs:
		return s.logs()
	case Drops:
		return s.dropOne()
	case Proving:
		if len(s.Ledger.InForce) == 0 {
			return at(Step{Do: End, Why: "nothing was kept: there is nothing to compare"}, Finished)
		}
		return at(Step{Do: Rehearse, Why: "does it all come back?"}, Comparing)
	case Comparing:
		return at(Step{Do: Compare, Why: "interleaved full runs are the headline"}, Harmful)
	case Harmful:
		if r := s.Ratio; r.Hi > 0 && r.Hi < 1 && len(s.Ledger.InForce) > 0 { // 0: too few pairs for an interval
			return at(Step{Do: UndoHarm, Why: "the last comparison proved that the site is slower with what was kept"}, Last)
		}
		s.Plan.Stage = Last
		return s.conclude()
	case Last:
		switch {
		case !s.Plan.ConfirmLast:
		case s.Ledger.Open != nil:
			return s.confirm()
		case len(s.Ledger.InForce) == 0:
			return at(Step{Do: ClearFinal, Why: "the last comparison did not confirm what was kept: it is undone"}, Finished)
		}
	}
	return at(Step{Do: End}, Finished)
}

// confirm is the next step until the change that the fast lane let in is decided on.
func (s *State) confirm() Step {
	if step, due := s.confirmDue(); due {
		return step
	}
	return s.confirmRun()
}

// logs tries the changes that turn logs off, once no diagnosis needs them.
func (s *State) logs() Step {
	if step, due := s.confirmDue(); due {
		return step
	}
	if step, ok := s.half(); ok {
		return step
	}
	s.Plan.Halves = nil
	if s.Ledger.Open != nil {
		return s.confirmRun()
	}
	over := Step{Do: StartDrops, Plan: Plan{Stage: Drops}}
	if s.TailLeft() <= s.times(CheckRuns, s.Cost)+s.weakTime() {
		return over
	}
	c, ok := s.next(true)
	if !ok {
		return over
	}
	parts := s.handful(c, s.count(MostParts))
	if need := s.provingTime(c, parts); need > s.TailLeft() {
		over.Why = fmt.Sprintf("logs stay as they are: to prove the gain that is expected would take %s", need.Round(time.Second))
		return over
	}
	step := tryOne(c)
	if s.isNewBundle(parts) {
		step = s.bundle(parts, "logs are no longer needed for a diagnosis")
	}
	step.Plan.Stage = Logs
	return step
}

// provingTime is how long the trial of a candidate, or of a bundle of parts, takes
// that has the expected effect; 0 in a search without a limit.
func (s *State) provingTime(c Candidate, parts []Candidate) time.Duration {
	if !s.bounded() {
		return 0
	}
	if len(parts) == 0 {
		parts = []Candidate{c}
	}
	return time.Duration(s.runsFor(task{parts: parts}.expected())) * s.Cost
}

// StartDrops plans the drop-one checks: the site without each kept change, the least
// certain first, while there is time.
func (s *State) StartDrops() { s.Plan = Plan{Stage: Drops, Checks: s.keeps()} }

// dropOne is the next drop-one check. A change without a gain worth keeping is undone, and
// so is one whose weak proof is not repeated.
func (s *State) dropOne() Step {
	plan := s.Plan
	kept, checked := plan.Checks, plan.Checked
	if checked >= len(kept) || len(kept) == 1 && !s.isWeak(kept[0]) {
		s.Plan = Plan{Stage: Proving}
		return s.conclude()
	}
	if s.hasTimeToCheck(kept[checked:]) {
		plan.Checked++
		return Step{Do: DropOne, Why: "is it still needed?", Keeps: kept[checked : checked+1], Plan: plan}
	}
	why := fmt.Sprintf("drop-one checks: %d of %d kept changes; there was no time for the others", checked, len(kept))
	return Step{Do: UndoDoubtful, Why: why, Keeps: s.doubtful(kept[checked:]), Plan: Plan{Stage: Proving}}
}

// hasTimeToCheck reports whether there is time to check the first of the keeps that are
// left. Other changes than those with a weak proof are checked if there is time for
// half of them: a few checks of many say little about the final state, and the time
// makes the runs of the last comparison longer.
func (s *State) hasTimeToCheck(left []Keep) bool {
	least := s.times(CheckRuns, s.Cost)
	if k := left[0]; k.Part != 0 || !s.isWeak(k) {
		least = max(least, time.Duration(2*len(left))*s.Cost)
	}
	return s.TailLeft() >= least
}

// doubtful are the changes that more likely have no effect than one, if their proof cannot
// be repeated.
func (s *State) doubtful(left []Keep) []Keep {
	var all []Keep
	for _, k := range left {
		a := &s.Ledger.Attempts[k.Attempt]
		if k.Part == 0 && s.hasWeakProof(a) && a.Verdict.Doubt >= s.constant(MostDoubt) {
			all = append(all, k)
		}
	}
	return all
}

// A Check is what the next step of a drop-one check under way depends on.
type Check struct {
	Keep    Keep            `json:"keep"`
	Pairs   int             `json:"pairs"`
	Verdict iikanji.Verdict `json:"verdict"` // after the latest pair that counts
}

// inCheck is the next step of the drop-one check under way: pairs until the judge decides
// whether the change is still worth keeping.
func (s *State) inCheck() Step {
	k := s.Check
	v := k.Verdict
	if v.Call == iikanji.CallUnknown && k.Pairs-len(v.Tried) < s.count(MostVoids) && s.TailLeft() >= 3*s.Cost {
		return Step{Do: RunWithout}
	}
	return Step{Do: EndCheck, Why: v.Why, Verdict: v, Keeps: []Keep{k.Keep}, Drop: s.drops(k.Keep, v)}
}

// drops reports whether a check ends with the change undone. What is known of a single
// change then rests on the pairs of both trials.
func (s *State) drops(k Keep, v iikanji.Verdict) bool {
	if v.Call == iikanji.Revert || !s.isWeak(k) {
		return v.Call == iikanji.Revert
	}
	pooled := s.Ledger.Attempts[k.Attempt].Verdict
	if v.Effect.Level > 0 {
		s.Judge.Effects.Pool(&pooled, v)
	}
	return isUnproven(v) || v.Call != iikanji.Keep && k.Part == 0 && pooled.Doubt >= s.constant(MostDoubt)
}

// isUnproven reports whether a second trial failed to prove a gain. One that the end
// of the time cut off speaks against the change only if its pairs do.
func isUnproven(v iikanji.Verdict) bool {
	return v.Call == iikanji.Inconclusive || v.Call == iikanji.CallUnknown && len(v.Tried) > 0 && v.Effect.Mid <= 0
}

// A Comparison is what the next step of the last comparison under way depends on.
type Comparison struct {
	Pairs int    `json:"pairs"` // that count
	Bad   int    `json:"bad,omitempty"`
	Why   string `json:"why,omitempty"` // why the latest pair does not count
	// Disturbed: the latest pair does not count because the machine was busy, and disturbed
	// runs do not count yet.
	Disturbed bool `json:"disturbed,omitempty"`
}

// inComparison is the next step of the last comparison: pairs of the untouched and the final
// site, of which void ones are repeated while there is time.
func (s *State) inComparison() Step {
	c, left := s.Final, s.TimeLeft()
	switch {
	case c.Disturbed && c.Bad == s.count(MostBadPairs): // a headline with its noise is better than none
		return Step{Do: AcceptAll, Why: c.Why}
	case c.Pairs >= s.Options.Pairs:
		return Step{Do: EndCompare}
	case left < 0 && c.Pairs >= 2 || left < -2*s.Cost || c.Bad >= s.count(MostVoids):
		why := c.Why
		if why == "" {
			why = timeIsUp
		}
		return Step{Do: EndCompare, Why: fmt.Sprintf("the last comparison has %d pairs of the %d that were wanted: %s", c.Pairs, s.Options.Pairs, why)}
	}
	return Step{Do: RunFinal}
}

// CheckedAgain notes what a check found of a change that it measured alone: of a single
// change, what is known then rests on the pairs of both trials.
func (s *State) CheckedAgain(k Keep, v iikanji.Verdict) {
	a := &s.Ledger.Attempts[k.Attempt]
	if k.Part == 0 {
		a.Again = &v
		s.Judge.Effects.Pool(&a.Verdict, v)
		return
	}
	if p := a.PartOf(k.Part); p != nil && v.Call == iikanji.Keep {
		v.Why = "tried alone at the end: " + v.Why
		p.Alone = &v
	}
}
