package search

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Some changes help at first and harm in a longer run. Before the last comparison, which shows the
// whole only, each kept change is left out of one full run, where there is time.

// longKeeps are the kept changes that are left out of full runs before the last comparison: all, or
// where the time does not hold so many, those with the smallest gains, which harm takes first. nil
// if there is no time for one, if they had their runs, or if the last comparison shows the same.
func (s *State) longKeeps() []Keep {
	all := s.keeps()
	if s.Ladder || s.longTime() == 0 {
		return nil
	}
	if !s.bounded() {
		return all
	}
	n := int(s.longLeft()/s.runTime(s.Options.Full)) - 1
	if n >= len(all) {
		return all
	}
	small := s.smallOf(all)
	return small[:max(0, min(n, len(small)))]
}

// smallOf are the kept changes whose gain is not solid, the smallest first.
func (s *State) smallOf(keeps []Keep) []Keep {
	small := slices.DeleteFunc(slices.Clone(keeps), func(k Keep) bool { return s.gainOf(k) >= s.constant(Solid) })
	slices.SortStableFunc(small, func(a, b Keep) int { return cmp.Compare(s.gainOf(a), s.gainOf(b)) })
	return small
}

// gainOf is the effect on ln(score) by which a change was kept; 0 if only that of a bundle is known.
func (s *State) gainOf(k Keep) float64 {
	a := &s.Ledger.Attempts[k.Attempt]
	if k.Part == 0 {
		return a.Verdict.Effect.Mid
	}
	if p := a.PartOf(k.Part); p != nil && p.Alone != nil {
		return p.Alone.Effect.Mid
	}
	return 0
}

// longTime is the time of one round of full runs without each kept change that has no solid gain; 0
// if there is none to make.
func (s *State) longTime() time.Duration {
	o, keeps := s.Options, s.keeps()
	if s.Long || s.Scarce() || s.Plan.ConfirmLast || o.Full <= o.Short || len(keeps) < s.count(FewestPairs) {
		return 0
	}
	return time.Duration(max(1, len(s.smallOf(keeps)))+1) * s.runTime(o.Full)
}

// leavesToLong reports whether the short checks end for the full runs: these would have no time
// after another round. What a proof usually takes was run.
func (s *State) leavesToLong() bool {
	if !s.bounded() || s.Checks.Rounds < s.count(DebtRounds) || s.longTime() == 0 {
		return false
	}
	left := s.longLeft()
	return left >= s.longTime() && left-s.pairCost() < s.longTime()
}

// PairsTold notes what the pairs of checks that end told of parts that they left undecided.
func (s *State) PairsTold() {
	for i := range s.Checks.Arms {
		a := &s.Checks.Arms[i]
		if a.Done || a.isGroup() || a.pairs() == 0 {
			continue
		}
		if p := s.Ledger.Attempts[a.Keep.Attempt].PartOf(a.Keep.Part); a.Keep.Part != 0 && p != nil && p.Alone == nil {
			p.Chance = s.chanceOf(a)
		}
	}
}

// longLeft is the time for full runs without each kept change. They may take of that of the last
// comparison, whose runs are then as long as those of the search: what a longer run shows of each
// change says more than what it shows of all.
func (s *State) longLeft() time.Duration {
	if !s.bounded() {
		return s.TailLeft()
	}
	return s.TimeLeft() - time.Duration(2*s.Options.Pairs)*s.runTime(s.Options.Short) - s.spare() - s.turnsTime()
}

// longFirst reports whether the rest of the search is better used for full runs without each kept
// change than for a candidate: there is no time for both, and the candidate promises little.
func (s *State) longFirst(c Candidate) bool {
	need := s.longTime()
	if !s.bounded() || need == 0 || c.promise() >= s.constant(Considerable) {
		return false
	}
	rest := s.longLeft() - s.debtTime() - need
	return rest >= 0 && rest < s.times(LeastTrial, s.Cost)
}

// Unseen is what no run without a change has shown, as the checks were short; "" if they were
// not.
func (s *State) Unseen() string {
	o, n := s.Options, len(s.keeps())
	if s.Long {
		n = s.Unchecked
	}
	if o.Full <= o.Short || len(s.keeps()) < 2 || n == 0 {
		return ""
	}
	what := "no change was"
	if s.Long {
		what = fmt.Sprintf("%d changes with larger gains were not", n)
	}
	return fmt.Sprintf("%s left out of a run longer than %s: one that helps at first and harms later would show in the last comparison as a whole only", what, Brief(o.Short))
}
