package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// Checks are the drop-one checks under way, which pay the debts of a search: in each round the
// final site runs once, and once without each of some kept changes. Each change is judged by
// its own pairs of such runs, which differ in nothing else: no interaction of others can look
// like its effect, and the run of the final site serves all.
type Checks struct {
	Arms []CheckArm `json:"arms"`
	// Load is that of each run.
	Load   time.Duration `json:"load_ns,omitempty"`
	Rounds int           `json:"rounds,omitempty"`
	Voids  int           `json:"voids,omitempty"` // rounds in a row whose run of the final site does not count
}

// A CheckArm is one kept change that is checked, or a group that is left out together.
type CheckArm struct {
	Keep    Keep            `json:"keep"`              // of a group: all of its changes
	Group   []Keep          `json:"group,omitempty"`   // its members
	In      bool            `json:"in,omitempty"`      // a group has the change, and has the runs
	Weakens int             `json:"weakens,omitempty"` // promises that the change weakens
	Rounds  int             `json:"rounds,omitempty"`
	Fresh   int             `json:"fresh,omitempty"`  // pairs that count since the final site last changed, where there was time for more
	Since   int             `json:"since,omitempty"`  // pairs that count since it last changed
	Verdict iikanji.Verdict `json:"verdict,omitzero"` // after the latest pair that counts
	Done    bool            `json:"done,omitempty"`   // nothing more is asked of it
	Proven  bool            `json:"proven,omitempty"` // its own pairs prove its gain
	// Work is what the pairs say of the work of a request.
	Work judge.WorkSays `json:"work,omitzero"`
}

func (a CheckArm) pairs() int { return len(a.Verdict.Tried) }

// inChecks is the next step of the drop-one checks: what the latest round decides, one change
// at a time and the most harmful first; then the next round, while there is time.
func (s *State) inChecks() Step {
	arms := s.Checks.Arms
	worst := -1
	for i := range arms {
		if s.mustGo(&arms[i]) && (worst < 0 || arms[i].Verdict.Effect.Mid < arms[worst].Verdict.Effect.Mid) {
			worst = i
		}
	}
	for i := range arms {
		if s.idles(&arms[i]) {
			step := endCheck(&arms[i], true)
			step.Why = "no work of a request is another one without it, and its pairs prove no gain: " + step.Why
			return step
		}
	}
	for i := range arms {
		if s.explained(&arms[i]) {
			step := endCheck(&arms[i], true)
			step.Why = "others that were proven alone explain what it was kept with"
			return step
		}
	}
	if groups := s.grouped(); groups != nil && (worst < 0 || !Loses(arms[worst].Verdict)) {
		return Step{Do: GroupChecks, Why: "each alone shows no gain", Groups: groups}
	}
	if worst >= 0 {
		return endCheck(&arms[worst], true)
	}
	for i := range arms {
		switch a := &arms[i]; {
		case s.matters(a):
			return Step{Do: SplitGroup, Why: a.Verdict.Why, Keeps: []Keep{a.Keep}}
		case !a.Done && !a.isGroup() && s.mayStay(a):
			return endCheck(a, false)
		}
	}
	if s.leavesToLong() {
		return Step{Do: EndChecks, Why: "the next runs without a change are full ones", Plan: Plan{Stage: Proving}}
	}
	if round := s.round(); round != nil {
		return Step{Do: RunRound, Why: "is each still needed?", Keeps: round}
	}
	if a := s.undecidedGroup(); a != nil {
		return Step{Do: SplitGroup, Why: timeIsUp + " for them together", Keeps: []Keep{a.Keep}}
	}
	if a := s.mostDoubtful(); a != nil {
		step := endCheck(a, true)
		step.Why = "its gain is doubtful, and there was no time to prove it alone: " + cmp.Or(step.Why, "no pair was run without it")
		return step
	}
	return Step{Do: EndChecks, Why: s.debts(), Plan: Plan{Stage: Proving}}
}

// mostDoubtful is the arm that goes next where no time is left for a round; nil if none does.
func (s *State) mostDoubtful() (worst *CheckArm) {
	least := 1.0
	for i := range s.Checks.Arms {
		a := &s.Checks.Arms[i]
		switch {
		case a.Done || a.In:
		case a.isGroup():
			if s.doubtfulGroup(a) {
				return a
			}
		case s.isWeak(a.Keep) && s.isDoubtful(a) && !s.lastOfBundle(a.Keep) && !s.lastOfGroup(a.Keep):
			if chance := s.chanceOf(a); worst == nil || chance < least {
				worst, least = a, chance
			}
		}
	}
	return worst
}

// lastOfBundle reports whether a change is all that is left of a bundle: what that brought must come
// from it. Of two parts that do the same, each looks useless beside the other.
func (s *State) lastOfBundle(k Keep) bool {
	if k.Part == 0 {
		return false
	}
	a := &s.Ledger.Attempts[k.Attempt]
	return len(s.Ledger.InForceOf(a)) == 1
}

func endCheck(a *CheckArm, drop bool) Step {
	return Step{Do: EndCheck, Why: a.Verdict.Why, Verdict: a.Verdict, Keeps: []Keep{a.Keep}, Drop: drop}
}

// mustGo reports whether the pairs of a change say that it goes: a gain that is worth keeping
// is unlikely, or its proof could not be repeated. Two pairs must be of the present final
// site: of two changes that do the same, each is useless only beside the other.
func (s *State) mustGo(a *CheckArm) bool {
	v := a.Verdict
	switch {
	case s.harms(a):
		return true
	case a.Done || a.In || a.Fresh < s.count(FewestPairs):
		return false
	case !a.isGroup() && a.Since == 0 && s.lastOfBundle(a.Keep): // its pairs are beside others that are gone
		return false
	case !Loses(v) && s.bundleSpeaksFor(a):
		return false
	case !a.isGroup() && s.Ledger.Attempts[a.Keep.Attempt].Verdict.Reason == iikanji.Cheaper:
		return Loses(v)
	case v.Call == iikanji.Revert:
		return true
	}
	return v.Call == iikanji.Inconclusive && (a.isGroup() && v.Effect.Mid < v.Worth || !a.isGroup() && s.isWeak(a.Keep))
}

// idles reports whether a change that is not proven alone goes because it alters no work of a
// request: the score of its pairs does not make a gain likely either. What does the same work
// with it and without it may still wait less, which only the score shows.
func (s *State) idles(a *CheckArm) bool {
	switch {
	case a.Done || a.In || !a.Work.Idle || a.Fresh == 0 || a.Verdict.Call == iikanji.Keep:
		return false
	case a.isGroup():
		return a.showsNoGain()
	}
	return s.isWeak(a.Keep) && 2*s.chanceOf(a) < 1
}

// harms reports whether the latest pairs of full runs show that a change harms in them: a longer
// run costs so much that one pair decides, if its difference is that certain.
func (s *State) harms(a *CheckArm) bool {
	n := float64(a.pairs())
	return s.Long && s.Checks.Load > s.Options.Short && !a.Done && a.Fresh > 0 &&
		a.Verdict.Effect.Mid < -s.constant(SureErrors)*s.sd()/math.Sqrt(n)
}

// mayStay reports whether no more is asked of a change: its pairs prove its gain, or, where
// that was proven before, show no harm.
func (s *State) mayStay(a *CheckArm) bool {
	v := a.Verdict
	if v.Call == iikanji.Keep {
		return true
	}
	least := s.count(FewestPairs)
	if s.Long { // a longer run costs much, and harm is what is looked for
		least = 1
	}
	return !s.isWeak(a.Keep) && (v.Call == iikanji.Inconclusive || a.pairs() >= least && v.Effect.Mid > 0)
}

// round are the changes of the next round: those whose checks have begun, then those that are
// not proven alone, the most doubtful first. nil if there is no time for one.
func (s *State) round() []Keep {
	c := s.Checks
	if c.Voids >= s.count(MostVoidRounds) {
		return nil
	}
	var left, weak []*CheckArm
	begun := false
	for i := range c.Arms {
		if a := &c.Arms[i]; !a.Done && !a.In && a.Rounds-a.pairs() < s.count(MostVoids) {
			left, begun = append(left, a), begun || a.Rounds > 0
			if a.isGroup() || s.isWeak(a.Keep) {
				weak = append(weak, a)
			}
		}
	}
	if s.bounded() && !s.Long && len(weak) > 0 { // a change that its own pairs proved waits for these
		left = weak
	}
	s.byDoubt(left)
	most := len(left)
	if s.bounded() {
		left := s.TailLeft()
		if s.Long {
			left = s.longLeft()
		}
		runs := float64(left) / float64(max(s.checkCost(), 1))
		if !begun {
			switch {
			case s.Long:
			case s.workDecides(): // what alters no work goes after one pair
				if runs < s.constant(FewestPairs) {
					return nil
				}
			case runs < s.constant(CheckRuns):
				return nil
			default:
				runs /= s.constant(FewestPairs)
			}
		}
		most = min(most, int(runs)-1)
	}
	var round []Keep
	for _, a := range left[:max(0, most)] {
		round = append(round, a.Keep)
	}
	return round
}

// byDoubt sorts arms: groups, those whose checks have begun, those that are not proven alone, the
// most doubtful first, and of the equally doubtful those that weaken more promises, then those that
// promised less.
func (s *State) byDoubt(arms []*CheckArm) {
	weak := func(a *CheckArm) int { return bit(!a.isGroup() && s.isWeak(a.Keep)) }
	chance := func(a *CheckArm) float64 {
		if a.isGroup() {
			return 0
		}
		return s.chanceOf(a)
	}
	slices.SortStableFunc(arms, func(a, b *CheckArm) int {
		return cmp.Or(cmp.Compare(bit(b.isGroup()), bit(a.isGroup())), cmp.Compare(bit(b.Rounds > 0), bit(a.Rounds > 0)),
			cmp.Compare(weak(b), weak(a)), cmp.Compare(chance(a), chance(b)), cmp.Compare(b.Weakens, a.Weakens),
			cmp.Compare(s.promisedBy(a), s.promisedBy(b)))
	})
}

// promisedBy is the gain that was expected of a part; 0 of what is none.
func (s *State) promisedBy(a *CheckArm) float64 {
	if p := s.Ledger.Attempts[a.Keep.Attempt].PartOf(a.Keep.Part); a.Keep.Part != 0 && p != nil {
		return p.Gain
	}
	return 0
}

// workDecides reports whether one pair of runs shows that a change alters no work of a request.
func (s *State) workDecides() bool { return s.Judge.Work.Known() }

// checkCost is the time of a run of the checks.
func (s *State) checkCost() time.Duration {
	return s.Cost + max(0, s.Checks.Load-s.Options.Short)
}

// isDoubtful reports whether a change more likely than it may be has no gain. Of a part of a
// bundle that neither a design nor a pair without it has measured nothing is known but that
// the whole helps: it stays, and is named. So does a part in a scarce search, whose design
// chose the whole for its gain: few runs leave each part doubtful, also the large ones. What is
// seen to save work stays, unless its score points to a loss.
func (s *State) isDoubtful(a *CheckArm) bool {
	p := s.Ledger.Attempts[a.Keep.Attempt].PartOf(a.Keep.Part)
	if a.Keep.Part != 0 && a.pairs() == 0 && (p == nil || p.Chance == 0 || s.Scarce()) {
		return false
	}
	if v := a.Verdict; a.Work.Saves && v.Effect.Mid > -v.SE {
		return false
	}
	return s.chanceOf(a) < s.constant(LeastChance)
}

// chanceOf is the probability that a kept change has a gain: by what was known when it was
// kept with others, and by its own pairs.
func (s *State) chanceOf(a *CheckArm) float64 {
	k := s.Ledger.Attempts[a.Keep.Attempt]
	v := a.Verdict
	if a.Keep.Part == 0 && v.Effect.Level > 0 {
		pooled := k.Verdict
		s.Judge.Effects.Pool(&pooled, v)
		return judge.WithOdds(1-pooled.Doubt, a.Work.Odds())
	}
	before := 1 - k.doubtOf(a.Keep.Changes[0])
	if v.Effect.Level == 0 || v.SE <= 0 {
		return before
	}
	usual, margin := s.constant(UsualEffect), s.constant(PriorMargin)
	share := judge.WithOdds(min(1-margin, max(margin, before)), a.Work.Odds())
	e, ok := s.withBundle(a)
	if !ok {
		e = estimate{v.Effect.Mid, v.SE}
	}
	return judge.Effects{Share: share, Tau: usual}.Gain(e.mid, e.se)
}

// Dropped notes that the check of an arm ended with its change undone: the final site is
// another one. It returns the arms whose pairs are of another question now. After a harmful
// change these are all; otherwise those that showed no gain beside it, and those whose last
// look was undecided: no later pair of theirs is looked at. Where there is no time for another
// round, what their pairs showed is all that will be known: they are judged by it. A change that
// alters no work leaves the site as it was.
func (s *State) CheckDropped(arm int) (restart []int) {
	c, more := s.Checks, s.round() != nil
	v := c.Arms[arm].Verdict
	c.Arms[arm].Done = true
	for _, k := range c.Arms[arm].Group {
		if i := c.Arm(k); i >= 0 {
			c.Arms[i].Done = true
		}
	}
	for i := range c.Arms {
		a := &c.Arms[i]
		harmful := Loses(v)
		if !c.Arms[arm].Work.Idle {
			a.Since = 0
		}
		if i == arm || a.Done && !(harmful && a.Proven) || !more && !harmful || c.Arms[arm].Work.Idle && !harmful {
			continue
		}
		a.Fresh = 0
		if harmful || a.Verdict.Effect.Mid < a.Verdict.Worth || a.Verdict.Call == iikanji.Inconclusive {
			a.Verdict, a.Done, a.Proven, a.Rounds = iikanji.Verdict{}, false, false, min(a.Rounds, 1)
			restart = append(restart, i)
		}
	}
	return restart
}

// arm is the index of the arm of a kept change.
func (c *Checks) Arm(k Keep) int {
	return slices.IndexFunc(c.Arms, func(a CheckArm) bool { return slices.Equal(a.Keep.Changes, k.Changes) })
}

// debts is what the checks leave unproven, and the time that would prove it; "" if nothing.
func (s *State) debts() string {
	n := 0
	for _, a := range s.Checks.Arms {
		if !a.Done && !a.isGroup() && s.isWeak(a.Keep) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	need := time.Duration(s.count(DebtRounds)*(n+1)) * s.checkCost()
	return fmt.Sprintf("%d kept changes are unproven alone: about %s more would decide on them", n, Brief(need))
}

// debtRuns is how many runs the debts of the kept changes take: those that are not proven
// alone, or weakly.
func (s *State) debtRuns() int {
	n := s.Debts()
	if n == 0 {
		return 0
	}
	return s.count(DebtRounds) * (n + 1)
}

// Debts is how many kept changes are not proven alone, or weakly.
func (s *State) Debts() int {
	n := 0
	for _, k := range s.keeps() {
		n += bit(s.isWeak(k))
	}
	return n
}
