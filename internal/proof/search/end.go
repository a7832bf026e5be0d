package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
)

// BeginEnd begins the end phase. Of the time that the search did not need, a twelfth of
// the whole is for changes of logs and for checks, also for weak proofs that need more
// than two pairs. The rest makes the runs of the last comparison longer, up to their full
// length: many sites slow down as their data grow, which a short run does not show.
func (s *State) BeginEnd() {
	tail := s.times(TailShare, s.Options.Time) + time.Duration(s.count(TailRounds)*s.count(DebtRounds)*len(s.keeps()))*s.Cost
	tail += s.longTime()
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
	return s.Scarce() && s.oneLength() && s.Ledger.Open != nil && s.Ledger.KeptNothing() &&
		(s.TailLeft() < s.pairCost() || !s.canConfirm())
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
	case Drops: // there was nothing to check
		s.Plan.Stage = Proving
		return s.conclude()
	case Proving:
		if step, ok := s.doubted(); ok {
			return step
		}
		if s.mayResume() {
			return Step{Do: Resume, Why: "the kept changes are checked, and there is time for further candidates"}
		}
		if keeps := s.longKeeps(); len(keeps) > 0 {
			return at(Step{Do: StartChecks, Why: "there is time to leave each out of longer runs, too", Keeps: keeps, Long: true}, Drops)
		}
		if cheap := s.keptForCost(); s.Options.ScoreOnly && !s.Ladder && len(cheap) > 0 {
			return at(Step{Do: UndoCost, Why: "the policy counts the score alone", Keeps: cheap}, Proving)
		}
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

// mayResume reports whether the end phase goes back to the search: what is checked needs no
// time any more, and a candidate is left that fits the rest. Each time a candidate must have
// been tried since the last one, and no change has turned logs off. A ladder has no other candidates.
func (s *State) mayResume() bool {
	l := s.Ledger
	if !s.bounded() || s.Ladder || s.Plan.ConfirmLast || len(l.InForce) == 0 || s.Resumed > 0 && len(l.Attempts) == s.Resumed {
		return false
	}
	for i := range l.Attempts {
		if a := &l.Attempts[i]; s.isInForce(a) && a.Candidate.Traits.Blinds {
			return false
		}
	}
	again := *s
	again.BeginAgain()
	return again.explore().Do != EndSearch
}

// BeginAgain goes back to the search.
func (s *State) BeginAgain() {
	s.Ending, s.EndLoad, s.Resumed = false, 0, len(s.Ledger.Attempts)
	s.Phase, s.Plan = Searching, Plan{}
}

// confirm is the next step until the change that the fast lane let in is decided on. Without time for
// the runs that confirm it, it goes.
func (s *State) confirm() Step {
	if step, due := s.confirmDue(); due {
		return step
	}
	missing := s.count(ConfirmRuns) - len(s.Ledger.Open.Since)
	switch {
	case missing <= 0: // more runs do not help: too few were made before it
		return Step{Do: ConfirmOpen, Plan: s.Plan}
	case s.Scarce() && (!s.canConfirm() || s.TailLeft() < time.Duration(missing)*s.Cost): // they would take the time of the last comparison
		return Step{Do: ConfirmOpen, Plan: s.Plan}
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
	over := Step{Do: StartChecks, Keeps: s.toCheck(), Plan: Plan{Stage: Drops}}
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
	case c.Pairs >= s.Options.Pairs && (c.Pairs >= s.count(CalibrationPairs) || !s.bounded() || left < s.pairCost()+s.turnsTime()):
		return Step{Do: EndCompare}
	case left < 0 && c.Pairs >= s.count(FewestPairs) || left < -s.pairCost() || c.Bad >= s.count(MostVoids):
		why := c.Why
		if why == "" {
			why = timeIsUp
		}
		return Step{Do: EndCompare, Why: fmt.Sprintf("the last comparison has %d pairs of the %d that were wanted: %s", c.Pairs, s.Options.Pairs, why)}
	}
	return Step{Do: RunFinal}
}

// toCheck are the kept changes that are checked at the end: none if the last comparison alone
// decides on the only one.
func (s *State) toCheck() []Keep {
	kept := s.keeps()
	if s.Resumed > 0 || s.bounded() && s.candidatesWait() {
		kept = slices.DeleteFunc(kept, func(k Keep) bool { return !s.isWeak(k) })
	}
	if len(kept) == 1 && !s.isWeak(kept[0]) {
		return nil
	}
	return kept
}

// candidatesWait reports whether a candidate waits for its trial: the time is better used for it
// than for runs without a change whose own pairs proved it.
func (s *State) candidatesWait() bool {
	return slices.ContainsFunc(s.waiting(false), s.hasTimeFor)
}

// DroppedPart notes that a change was taken back at the end.
func (s *State) DroppedPart(k Keep) {
	a := &s.Ledger.Attempts[k.Attempt]
	a.Dropped = len(s.Ledger.InForceOf(a)) == 0
	for i := range a.Parts {
		if p := &a.Parts[i]; slices.Contains(k.Changes, p.Change) {
			p.Dropped = true
		}
	}
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
