package search

import (
	"math"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// Many kept changes without a gain cost a check each. Left out together, they cost one: where
// the score stays, all of them go at once, and where it falls, they are checked in halves. Of
// two changes that do the same, each is useless only beside the other, which the run without
// both shows.

// isGroup reports whether the arm leaves out several changes together.
func (a CheckArm) isGroup() bool { return len(a.Group) > 0 }

// grouped are the changes to leave out together from now on; nil if there is nothing to gain.
func (s *State) grouped() [][]Keep {
	c := s.Checks
	if s.Long {
		return nil
	}
	var all, weak []*CheckArm
	begun := false
	for i := range c.Arms {
		a := &c.Arms[i]
		begun = begun || a.Rounds > 0
		if a.Done || a.In || a.isGroup() || !s.isWeak(a.Keep) {
			continue
		}
		all = append(all, a)
		if a.showsNoGain() {
			weak = append(weak, a)
		}
	}
	if !begun {
		return s.firstGroups(all)
	}
	if s.round() == nil { // a group without a run decides nothing
		return nil
	}
	var groups [][]Keep
	for _, group := range s.byBundle(keepsOf(weak)) {
		if len(group) >= s.count(FewestPairs) && !c.had(group) {
			groups = append(groups, group)
		}
	}
	return groups
}

// byBundle divides changes: the parts of one bundle together, so that what is proven of some of
// them tells of the others, and all single ones.
func (s *State) byBundle(keeps []Keep) (groups [][]Keep) {
	of := map[int]int{}
	for _, k := range keeps {
		bundle := -1
		if k.Part != 0 {
			bundle = k.Attempt
		}
		at, seen := of[bundle]
		if !seen {
			at, of[bundle] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], k)
	}
	return groups
}

// explained reports whether a part of a bundle, or several together, go because other parts that
// were proven alone explain what the bundle brought: what is left is not likely a gain, and their
// own pairs showed none. Where one part needs another, that one explains both, and the pairs of the
// first show its gain.
func (s *State) explained(a *CheckArm) bool {
	if a.Done || a.In || a.Keep.Part == 0 && !a.isGroup() || a.pairs() > 0 && !a.showsNoGain() {
		return false
	}
	members := a.Group
	if !a.isGroup() {
		members = []Keep{a.Keep}
	}
	bundle := &s.Ledger.Attempts[a.Keep.Attempt]
	for _, k := range members {
		if at := s.Checks.Arm(k); a.Rounds == 0 && (at < 0 || s.Checks.Arms[at].Rounds == 0) {
			return false // no pair says that it brings nothing
		}
		if p := bundle.PartOf(k.Part); k.Attempt != a.Keep.Attempt || p == nil || p.Chance > 0 || p.Alone != nil {
			return false
		}
	}
	v := bundle.Verdict
	rest, variance, proven := v.Effect.Mid, v.SE*v.SE, false
	for _, p := range bundle.Parts {
		if p.Alone != nil {
			rest, variance, proven = rest-p.Alone.Effect.Mid, variance+p.Alone.SE*p.Alone.SE, true
		}
	}
	if !proven || v.SE <= 0 {
		return false
	}
	return judge.Effects{Share: 1 - bundle.doubtOf(members[0].Part), Tau: s.constant(UsualEffect)}.Gain(rest, math.Sqrt(variance)) < s.constant(LeastChance)
}

// showsNoGain reports whether the pairs of an arm leave a gain doubtful: it is not above the least
// one worth keeping by a standard error.
func (a *CheckArm) showsNoGain() bool {
	v := a.Verdict
	return a.pairs() > 0 && v.Effect.Mid < v.Worth+v.SE
}

// had reports whether some changes were left out together before: some of them are needed.
func (c *Checks) had(group []Keep) bool {
	var changes []iikanji.ChangeID
	for _, k := range group {
		changes = append(changes, k.Changes...)
	}
	return slices.ContainsFunc(c.Arms, func(a CheckArm) bool { return a.isGroup() && slices.Equal(a.Keep.Changes, changes) })
}

// firstGroups are the groups in which the checks begin, where the time does not hold two rounds of
// all single changes and the work of a request does not tell which of them do nothing. Of n changes there are √n groups, of as many members: one that matters costs
// as much as the groups did until its members are known.
func (s *State) firstGroups(arms []*CheckArm) [][]Keep {
	if !s.bounded() || s.checkCost() <= 0 {
		return nil
	}
	runs := int(s.TailLeft() / s.checkCost())
	two := s.count(FewestPairs)
	if s.workDecides() { // one run without each shows which of them do nothing
		return nil
	}
	n := min(int(math.Ceil(math.Sqrt(float64(len(arms))))), runs/two-1) // each has two pairs
	if n < two || two*(len(arms)+1) <= runs || len(arms) <= n {
		return nil
	}
	s.byDoubt(arms)
	var groups [][]Keep
	for part := range slices.Chunk(arms, (len(arms)+n-1)/n) {
		if len(part) > 1 {
			groups = append(groups, keepsOf(part))
		}
	}
	return groups
}

func keepsOf(arms []*CheckArm) (all []Keep) {
	for _, a := range arms {
		all = append(all, a.Keep)
	}
	return all
}

// AddGroup adds an arm that leaves out several changes together.
func (c *Checks) AddGroup(group []Keep) {
	one := CheckArm{Group: group, Keep: Keep{Attempt: group[0].Attempt}}
	for _, k := range group {
		one.Keep.Changes = append(one.Keep.Changes, k.Changes...)
		if i := c.Arm(k); i >= 0 {
			c.Arms[i].In = true
		}
	}
	c.Arms = append(c.Arms, one)
}

// matters reports whether a run without a group shows that one of its changes is needed: its
// members are then checked in halves.
func (s *State) matters(a *CheckArm) bool {
	v := a.Verdict
	if !a.isGroup() || a.Done || a.pairs() == 0 {
		return false
	}
	return v.Call == iikanji.Keep || v.Call == iikanji.Inconclusive && v.Effect.Mid >= v.Worth || v.Effect.Mid > v.Worth+s.constant(SureErrors)*v.SE
}

// Split ends the check of a group, whose halves are checked next. It returns the halves that
// are groups again. The members of a half that was left out before are checked one by one.
func (c *Checks) Split(arm int) [][]Keep {
	group := c.Arms[arm].Group
	c.Arms[arm].Done = true
	half := len(group) / 2
	var groups [][]Keep
	for _, part := range [][]Keep{group[:half], group[half:]} {
		if len(part) > 1 && !c.had(part) {
			groups = append(groups, part)
			continue
		}
		for _, k := range part {
			if i := c.Arm(k); i >= 0 {
				c.Arms[i].In = false
			}
		}
	}
	return groups
}

// doubtfulGroup reports whether a group that time left undecided goes: it more likely than not
// has no gain.
func (s *State) doubtfulGroup(a *CheckArm) bool {
	v := a.Verdict
	if v.Effect.Level == 0 || v.SE <= 0 {
		return false
	}
	return judge.Effects{Share: 1 - s.constant(PriorMargin), Tau: s.constant(UsualEffect)}.Gain(v.Effect.Mid, v.SE) < s.constant(LeastChance)
}

// undecidedGroup is a group that time left undecided and that likely has a gain: its members are
// judged by the pairs that they have themselves. nil if there is none.
func (s *State) undecidedGroup() *CheckArm {
	for i := range s.Checks.Arms {
		if a := &s.Checks.Arms[i]; a.isGroup() && !a.Done && !s.doubtfulGroup(a) {
			return a
		}
	}
	return nil
}

// lastOfGroup reports whether a change is all that is left in force of a group that was split: the
// runs without the group showed that one of it matters, or left that likely.
func (s *State) lastOfGroup(k Keep) bool {
	inForce := func(o Keep) bool { return slices.Contains(s.Ledger.InForce, o.Changes[0]) }
	for i := range s.Checks.Arms {
		a := &s.Checks.Arms[i]
		of := func(o Keep) bool { return slices.Equal(o.Changes, k.Changes) }
		if !a.Done || a.pairs() == 0 || !slices.ContainsFunc(a.Group, of) {
			continue
		}
		if !slices.ContainsFunc(a.Group, func(o Keep) bool { return !of(o) && inForce(o) }) {
			return true
		}
	}
	return false
}
