package search

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// Next is what a search does next in a state. It reads no clock and does no I/O: the same
// state always has the same next step.
//
//  1. The noise is measured on the site as it is (A/A), at first in two runs: large gains are
//     tried before the others.
//  2. A run is observed, and its causes have candidates, ranked by expected gain.
//  3. One candidate is tried at a time, or many as one change where time is scarce or where
//     other work uses what one saves, or many in a screening; a kept one moves the limit: 2.
//  4. Undecided candidates are tried as a bundle; a bundle without a gain is bisected.
//  5. In the end: changes that turn logs off, drop-one checks, a restart rehearsal, and the
//     untouched site against the final one in full runs.
func Next(s State) Step {
	under := func(step Step) Step { // the plan stays while something is under way
		if step.Do != EndChecks { // the plan after them is the step's own
			step.Plan = s.Plan
		}
		return step
	}
	switch {
	case s.Trial != nil:
		return under(s.inTrial())
	case s.Design != nil:
		return under(s.inDesign())
	case s.Checks != nil:
		return under(s.inChecks())
	case s.Final != nil:
		return under(s.inComparison())
	case s.Phase == Measuring:
		return s.measure()
	case s.Phase == Closing:
		return s.conclude()
	}
	return s.explore()
}

// measure is the next step of the calibration: runs of the site as it is until there are
// enough, or two of the present state if the noise is known.
func (s *State) measure() Step {
	want := s.calibrationRuns()
	if s.Eager {
		want = min(want, s.count(ScarceCalibration))
	}
	switch {
	case s.Failed >= s.count(MostFailed):
		return s.failing()
	case (s.Known || s.AA >= want) && s.Incumbent >= min(s.count(ConfirmRuns), want):
		return Step{Do: Measured}
	case s.TimeLeft() <= 0:
		return Step{Do: Abort, Why: fmt.Sprintf("%s before the noise was known (%d runs of %d): more time is needed; what was run is kept",
			timeIsUp, s.AA, want)}
	case s.Known:
		return Step{Do: Calibrate, Why: "a run of the site as it is"}
	}
	return Step{Do: Calibrate, Why: fmt.Sprintf("run %d of %d of the site as it is", s.AA+1, want)}
}

// failing ends the search.
func (s *State) failing() Step { return Step{Do: Abort, Why: "the site as it is fails its checks"} }

// measureOn is the next step of a calibration that goes on before a candidate which promises no
// large gain, or if there is none.
func (s *State) measureOn(c Candidate, ok bool) (Step, bool) {
	if !s.Eager || s.Known || ok && s.leaps(c) {
		return Step{}, false
	}
	had, want := s.AA+s.NoiseRuns, s.calibrationRuns()
	switch {
	case s.Failed >= s.count(MostFailed):
		return s.failing(), true
	case had >= want || s.pairsTellNoise() || s.runsLeft() < 1+s.leastTrial():
		return Step{Do: Measured, Plan: s.Plan}, true
	}
	return Step{Do: Calibrate, Why: fmt.Sprintf("run %d of %d of the site as it is", had+1, want), Plan: s.Plan}, true
}

// NoiseIsKnown reports whether the calibration has all of its runs, or no time for more.
func (s *State) NoiseIsKnown() bool {
	return s.AA+s.NoiseRuns >= s.calibrationRuns() || s.Observed
}

// pairsTellNoise reports whether trials, which are under way before the calibration is over, have
// measured the noise as well as the calibration would.
func (s *State) pairsTellNoise() bool {
	return s.bounded() && s.Judge.Prior.DF >= float64(s.calibrationRuns()-1)
}

// leaps reports whether a candidate promises so much that it is tried before the noise is known
// well: its own pairs measure that, too.
func (s *State) leaps(c Candidate) bool {
	tried, _ := s.HasTried(c)
	return !tried && c.Gain >= s.constant(Large) && !c.Traits.Rewrites && !c.Traits.Blinds && !c.Proposed && !s.sweeps()
}

// BeginMeasuring notes whether earlier runs suffice for the noise. Trials begin after the
// calibration, so what they were judged with was enough.
func (s *State) BeginMeasuring() {
	s.Phase = Measuring
	s.Known = s.AA >= s.calibrationRuns() || s.AA >= s.count(CalibrationPairs) && len(s.Ledger.Attempts) > 0
}

// explore is the next step of the search itself: candidates until none is left, or no time
// for them.
func (s *State) explore() Step {
	if step, ok := s.confirmDue(); ok {
		return step
	}
	if step, ok := s.doubted(); ok {
		return step
	}
	if step, ok := s.half(); ok {
		return step
	}
	switch favoured := s.favoured(s.Plan.Screened); {
	case s.isNewBundle(favoured):
		return s.bundle(favoured, "the screening favours each")
	case s.isNewBundle(s.Plan.Set) && s.enough() == "":
		return s.bundle(s.Plan.Set, "a run with all of these scored more than the site without them does by chance")
	case s.Plan.Sweep != nil:
		return Step{Do: NoteSweep, Parts: s.Plan.Sweep}
	case s.Plan.Confirm && s.Ledger.Open != nil:
		return s.confirmRun()
	case s.Plan.Chosen != nil:
		return s.pursue(*s.Plan.Chosen)
	}
	// These runs serve the next design, or measure the noise, too.
	if (s.Scarce() || s.Eager && !s.Known) && s.canConfirm() && s.runsLeft() >= s.constant(ConfirmRuns)+s.leastTrial() {
		return s.confirmRun()
	}
	if !s.Plan.Looked {
		if why := s.enough(); why != "" {
			return Step{Do: EndSearch, Why: why}
		}
		if s.Stale && s.worthObserving() {
			return look()
		}
	}
	c, ok := s.next(false)
	if step, measures := s.measureOn(c, ok); measures {
		return step
	}
	if step, measures := s.longer(); measures {
		return step
	}
	_, deferred := s.HasTried(c)
	undecided := s.undecided()
	switch { // deferred candidates may prove a gain together
	case (deferred || s.TimeFor() < time.Duration(s.count(LastCall))*s.Cost) && s.isNewBundle(undecided):
		return s.bundle(undecided, tooSmall)
	case !ok && s.Moved && s.runsLeft() >= s.leastObserved(): // several small effects may have moved the limit, too
		return look()
	case !ok && s.isNewBundle(undecided):
		return s.bundle(undecided, tooSmall)
	case !ok && s.isNewBundle(s.needing()):
		return s.bundle(s.needing(), oneNeeds)
	case !ok && s.canConfirm(): // if it is not confirmed, pairs decide
		return s.confirmRun()
	case !ok:
		return Step{Do: EndSearch, Why: s.whyNoneLeft()}
	}
	if step, ok := s.lead(c); ok {
		return step
	}
	if s.Scarce() && !s.Ledger.Absorbed {
		if parts := s.factors(c); parts != nil {
			return s.design(c, parts)
		}
	}
	if parts := s.sweep(c); s.isNewBundle(parts) {
		step := s.bundle(parts, s.whySweep())
		step.Sweep, step.Plan.Sweep = true, parts
		return step
	}
	if s.longFirst(c) {
		return Step{Do: EndSearch, Why: "the rest of the time is for the kept changes: is each still needed, also in longer runs?"}
	}
	if s.logsFirst(c) {
		return Step{Do: EndSearch, Why: "the rest of the time is for changes that turn logs off"}
	}
	if parts := s.factors(c); parts != nil {
		return s.design(c, parts)
	}
	return s.pursue(c)
}

// lead is the trial of what comes before designs: the changes that promise much, and in a scarce
// search the rewrites of source.
func (s *State) lead(c Candidate) (Step, bool) {
	if s.confirmsBySame() { // an observation after them would take a third of its runs
		return Step{}, false
	}
	if s.Scarce() && !s.Judge.Work.Counted() { // its runs are for one design: nothing else tells the parts apart
		return Step{}, false
	}
	parts, why := s.leaders(c), "each promises much, and another limit may bind after them"
	if len(parts) == 1 {
		return tryOne(c), true
	}
	if parts == nil && s.Scarce() && !s.Ledger.Absorbed {
		parts, why = s.leadingRewrites(s.factors(c)), "together they promise more than a design of all"
	}
	if !s.isNewBundle(parts) {
		return Step{}, false
	}
	step := s.bundle(parts, why)
	if s.sweeps() {
		step.Sweep, step.Plan.Sweep = true, parts
	}
	return step, true
}

// design begins a design of several candidates, of which c is the first.
func (s *State) design(c Candidate, parts []Candidate) Step {
	return Step{Do: Screen, Why: "each run has some of the candidates, so that all are measured at once", Parts: parts, Plan: Plan{Chosen: &c}}
}

// look observes the site.
func look() Step {
	return Step{Do: Observe, Why: "where does the time go now?", Plan: Plan{Looked: true}}
}

const (
	tooSmall = "each alone was too small to prove"
	oneNeeds = "each alone had no gain, and one may need the other"
)

// whySweep is why candidates are swept.
func (s *State) whySweep() string {
	if s.Ledger.Absorbed {
		return "one alone shows nothing where other work uses what it saves"
	}
	return "there is no time for a trial of each"
}

// pursue tries a candidate with few others, or alone.
func (s *State) pursue(c Candidate) Step {
	if parts := s.unscreened(c); s.isNewBundle(parts) {
		return s.bundle(parts, "each alone would take long to prove")
	}
	return tryOne(c)
}

// bundle tries candidates as one change.
func (s *State) bundle(parts []Candidate, why string) Step {
	return Step{Do: TryTogether, Why: why, Parts: parts, Plan: Plan{Decide: true}}
}

// tryOne tries one candidate.
func tryOne(c Candidate) Step {
	return Step{Do: TryOne, Why: c.Reason(), Parts: []Candidate{c}, Plan: Plan{Decide: true}}
}

// confirmDue decides on the change that the fast lane let in once there are enough runs with
// it.
func (s *State) confirmDue() (Step, bool) {
	ready := s.Plan.Decide || s.Plan.Confirm || s.Phase == Closing
	if !ready || !s.canConfirm() || len(s.Ledger.Open.Since) < s.count(ConfirmRuns) {
		return Step{}, false
	}
	plan := s.Plan
	plan.Confirm, plan.Decide, plan.Looked = false, false, false
	return Step{Do: ConfirmOpen, Plan: plan}, true
}

// canConfirm reports whether a change waits for its confirmation and there are runs before it
// to compare with.
func (s *State) canConfirm() bool {
	return s.Ledger.Open != nil && len(s.Ledger.Open.Before) >= s.count(ConfirmRuns)
}

// confirmRun runs the site with that change, until there are enough runs.
func (s *State) confirmRun() Step {
	plan := s.Plan
	plan.Confirm, plan.Looked = true, false
	return Step{Do: ConfirmRun, Why: "confirming changes kept by the fast lane", Plan: plan}
}

// half is the trial of the next half of a bundle without a gain, unless the time is up or
// rewrites of source come first. A half that cannot be tried ends the bisection at its
// level.
func (s *State) half() (Step, bool) {
	levels := s.Plan.Halves
	for len(levels) > 0 {
		last := len(levels) - 1
		groups := levels[last]
		if len(groups) == 0 || s.enough() != "" || !s.hasTimeFor(groups[0][0]) || s.rewritesComeFirst() {
			levels = levels[:last:last]
			continue
		}
		parts := groups[0]
		levels = append(levels[:last:last], groups[1:])
		if s.isNewBundle(parts) {
			plan := s.Plan
			plan.Halves, plan.Decide = levels, true
			return Step{Do: TryTogether, Why: plan.Why, Parts: parts, Plan: plan}, true
		}
	}
	return Step{}, false
}

// Bisect plans the halves of a bundle that has ended with an attempt. A bundle with a gain
// needs none, and a scarce search has no time for them.
func (s *State) Bisect(a *Attempt, parts []Candidate, why string) {
	if a.Verdict.Call == iikanji.Keep || a.Deferred || s.Scarce() {
		return
	}
	s.Plan.Halves, s.Plan.Why = append(s.Plan.Halves, [][]Candidate{parts[:len(parts)/2], parts[len(parts)/2:]}), why
}

// rewritesComeFirst reports whether rewrites of source come before the halves of a bundle
// that had no gain.
func (s *State) rewritesComeFirst() bool {
	if !s.latestBundleWasVain() {
		return false
	}
	c, ok := s.next(false)
	return ok && c.Traits.Rewrites && !c.knob()
}

// worthObserving reports whether a new observation may change what is tried next. One
// that leaves too little time for a trial does not, and neither does one before the
// trial of a knob that promises much: no sensor measures what it admits, and the site is
// observed after it.
func (s *State) worthObserving() bool {
	if !s.Observed {
		return true
	}
	c, ok := s.next(false)
	return s.runsLeft() >= s.leastObserved() && !(ok && c.knob() && c.promise() >= s.constant(Leap))
}

// enough is the reason to end the search; "" to continue.
func (s *State) enough() string {
	first, now := s.Score[0], s.Score[1]
	switch o := s.Options; {
	case o.Runs > 0 && s.Runs >= o.Runs:
		return fmt.Sprintf("%d runs were allowed", o.Runs)
	case o.Until > 0 && first > 0 && now >= first*o.Until:
		return fmt.Sprintf("the score is %.1f × the first one; the goal was ×%g", now/first, o.Until)
	case s.runsLeft() < s.leastTrial():
		return "the rest of the time is for the last comparison"
	}
	return ""
}
