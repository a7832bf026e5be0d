package search

import (
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
	group := keepsOf(weak)
	if len(weak) < s.count(FewestPairs) || c.had(group) {
		return nil
	}
	return [][]Keep{group}
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

// firstGroups are the groups in which the checks begin, where the time holds no round of all
// single changes and two of a group after it.
func (s *State) firstGroups(arms []*CheckArm) [][]Keep {
	if !s.bounded() || s.checkCost() <= 0 {
		return nil
	}
	runs := int(s.TailLeft() / s.checkCost())
	two := s.count(FewestPairs)
	n := runs/two - 1 // groups of which each has two pairs
	if n < two || len(arms)+1+two*two <= runs || len(arms) <= n {
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
