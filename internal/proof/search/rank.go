package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// runsFor is how many runs a trial of an expected effect costs: three runs with the fast
// lane, two pairs for a large effect, more for a small one, and never more than the last
// look.
func (s *State) runsFor(gain float64) float64 {
	sd := s.sd()
	if sd <= 0 {
		sd = s.constant(UsualNoise)
	}
	if gain > s.constant(FastGain)*sd {
		return s.constant(FastRuns)
	}
	return 2 * min(s.constant(MostPairs), max(s.constant(FewestPairs), s.constant(PairsFactor)*sd*sd/(gain*gain)))
}

// Usual is what is known of the noise of a pair: where few runs have measured it, that of other
// sites counts, too. Few are fewer than the least number of runs of a calibration, of which one
// is the mean's.
func (s *State) Usual(p stats.Prior) stats.Prior {
	if p.DF >= float64(s.count(CalibrationPairs)-1) {
		return p
	}
	usual, as := s.constant(UsualNoise), s.constant(UsualFreedom)
	df := p.DF + as
	return stats.Prior{Var: (p.DF*p.Var + as*usual*usual) / df, DF: df}
}

// GainOf is the gain on ln(score) of a remedy that saves a share of the binding resource: it
// makes room for 1/(1−share) of the work.
func (s *State) GainOf(share float64) float64 {
	return -math.Log(1 - min(s.constant(MostSaved), share))
}

// Unthrottled is the chance of a remedy that does more of the work that a site leaves out, in a
// site whose run used up no resource: nothing else limits it, as when a rewrite has moved the limit.
func (s *State) Unthrottled(chance float64) float64 { return min(1, chance*s.constant(KnobChance)) }

// extraRuns is the cost of a candidate's trial beyond its runs, in runs.
func (s *State) extraRuns(c Candidate) float64 {
	switch {
	case c.Traits.Rewrites:
		return s.constant(AnswerRuns)
	case c.Traits.Prepared:
		return s.constant(PrepareRuns)
	}
	return 0
}

// ranked are candidates by expected gain per run, best first. Candidates that blind
// sensors come last: later diagnoses need the logs.
func (s *State) ranked(cs []Candidate) []Candidate {
	cs = slices.Clone(cs)
	worth := func(c Candidate) float64 { return c.Chance * c.Gain / (s.runsFor(c.Gain) + s.extraRuns(c)) }
	slices.SortStableFunc(cs, func(a, b Candidate) int {
		switch {
		case a.Traits.Blinds && !b.Traits.Blinds:
			return 1
		case b.Traits.Blinds && !a.Traits.Blinds:
			return -1
		}
		return cmp.Compare(worth(b), worth(a))
	})
	return cs
}

// Ranked sorts candidates as a search with this noise of a pair would, best first.
func Ranked(cs []Candidate, sd float64) []Candidate {
	s := State{}
	s.Judge.Prior.Var = sd * sd
	return s.ranked(cs)
}

// rankedNow are the candidates of the diagnosis with what screenings and trials have shown
// of them, best first.
func (s *State) rankedNow() []Candidate { return s.ranked(s.believed(s.Candidates)) }

// believed are candidates with their chance and gain as screenings and trials have shown
// them.
func (s *State) believed(cs []Candidate) []Candidate {
	cs = slices.Clone(cs)
	for i := range cs {
		c := &cs[i]
		if found, ok := s.screened(c.Key()); ok {
			c.Chance, c.Gain = found.Gain, max(0, found.Size)
		}
		if c.Traits.Rewrites {
			c.Chance *= s.rewriteProspects(*c)
		}
		c.Chance *= s.chanceOfAnotherTrial(*c)
	}
	return cs
}

// rewriteProspects is the factor on the chance of a rewrite by what trials have shown since
// the diagnosis. A rewrite that had no gain together with others hardly has one alone. A
// knob has twice its chance once a rewrite with a considerable effect is in force. It has
// less after each trial without a gain of another of its values: while something else is the
// limit, no value shows a gain.
func (s *State) rewriteProspects(c Candidate) float64 {
	part := 1.0
	for i := range s.Ledger.Attempts {
		a := &s.Ledger.Attempts[i]
		switch {
		case !c.knob():
			if a.IsBundle() && a.hasPart(c.Key()) && a.Verdict.Reason == iikanji.NoGain {
				part *= s.constant(Without)
			}
		default:
			if s.movedLimit(a) && a.rewritesSource() && s.isInForce(a) {
				part = max(part, s.constant(KnobChance))
			}
			if a.Key != c.Key() && isValueOfSame(&a.Candidate, &c) && a.Skipped == "" && a.Verdict.Call != iikanji.Keep && !s.limitMovedSince(i) {
				part *= s.constant(Sibling)
			}
		}
	}
	return part
}

// isValueOfSame reports whether two knobs are values of the same constant in source.
func isValueOfSame(a, b *Candidate) bool {
	same := a.Remedy.Target == b.Remedy.Target && a.knob()
	for _, arg := range []string{"file", "func", "place"} {
		same = same && a.Remedy.Args[arg] == b.Remedy.Args[arg]
	}
	return same
}

// movedLimit reports whether an attempt's effect is so considerable, or its gain so high
// above what chance explains, that another limit may bind since.
func (s *State) movedLimit(a *Attempt) bool {
	return a.Verdict.Effect.Mid >= s.constant(Leap) || a.Provisional()
}

// limitMovedSince reports whether a change with a considerable effect was kept after an
// attempt that had no gain, if only provisionally. The limit may then be another one
// although the same resource binds, so that a knob is tried again, and an undecided
// candidate that promises more.
func (s *State) limitMovedSince(attempt int) bool {
	a := &s.Ledger.Attempts[attempt]
	if a.Verdict.Call == iikanji.Keep || a.Verdict.Reason == iikanji.Gate || a.Skipped != "" {
		return false
	}
	for i := range s.Ledger.Attempts[attempt+1:] {
		later := &s.Ledger.Attempts[attempt+1+i]
		if later.Verdict.Call == iikanji.Keep && s.movedLimit(later) && s.isInForce(later) {
			return true
		}
	}
	return false
}

// Regains reports whether a candidate whose trial was undecided promises more now,
// because a change with a considerable effect was kept since. That is so if its expected
// gain has grown, or if it is large and its trial was ended early.
func (s *State) Regains(c Candidate, attempt int) bool {
	a := &s.Ledger.Attempts[attempt]
	if !a.Parked || a.IsBundle() || !s.limitMovedSince(attempt) {
		return false
	}
	return c.Gain >= s.constant(Grown)*a.Candidate.Gain && c.Gain >= s.constant(Leap) || a.Deferred && c.Gain >= s.constant(Large)
}

// chanceOfAnotherTrial is the factor on the chance of a candidate that was tried under
// other limits.
func (s *State) chanceOfAnotherTrial(c Candidate) float64 {
	part := 1.0
	for i := range s.Ledger.Attempts {
		if s.Ledger.Attempts[i].Key == c.Key() && s.Regains(c, i) {
			part *= s.constant(UndecidedBefore)
		}
	}
	return part
}

// likelyEffect is the effect to expect of a change of a kind that mostly has one. What is
// shown to users is more careful.
func (s *State) likelyEffect(v iikanji.Verdict) float64 {
	usual := s.constant(UsualEffect)
	return v.Effect.Mid * usual * usual / (usual*usual + v.SE*v.SE)
}
