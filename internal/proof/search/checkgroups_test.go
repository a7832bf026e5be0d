package search

import (
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
	"github.com/iikanji/iikanji/internal/proof/stats"
)

// checking is a state whose checks of n parts of a bundle have begun with one round each, and runs
// is the time that is left, in runs.
func checking(n int, runs float64) *State {
	s := &State{Ledger: &Ledger{}, Options: Options{Time: time.Hour, Short: 10 * time.Second, Full: 10 * time.Second, Pairs: 2}, Cost: 10 * time.Second,
		Phase: Closing, Ending: true, Judge: judge.NewJudge(stats.Prior{Var: 0.0018, DF: 7})}
	a := Attempt{Candidate: Candidate{Remedy: iikanji.Remedy{Kind: bundleKind}}, Verdict: iikanji.Verdict{Call: iikanji.Keep, Reason: iikanji.Proven}}
	s.Checks = &Checks{Load: 10 * time.Second, Rounds: 1}
	for i := range n {
		id := iikanji.ChangeID(i + 1)
		a.Changes, s.Ledger.InForce = append(a.Changes, id), append(s.Ledger.InForce, id)
		a.Parts = append(a.Parts, Part{Change: id})
		s.Checks.Arms = append(s.Checks.Arms, CheckArm{Keep: Keep{Changes: []iikanji.ChangeID{id}, Part: id}})
	}
	s.Ledger.Attempts = []Attempt{a}
	s.Spent = s.Options.Time - s.endTime() - time.Duration(runs*float64(s.Cost))
	return s
}

// shows gives an arm a pair with an effect.
func (a *CheckArm) shows(call iikanji.Call, effect float64) {
	a.Rounds, a.Fresh = a.Rounds+1, a.Fresh+1
	a.Verdict.Tried = append(a.Verdict.Tried, iikanji.RunID(a.Rounds))
	a.Verdict.Call, a.Verdict.Worth, a.Verdict.SE = call, 0.01, 0.03
	a.Verdict.Effect = iikanji.Interval{Mid: effect, Lo: effect - 0.05, Hi: effect + 0.05, Level: 0.9}
}

// TestGroupOfUseless: changes that show no gain in their first pair are left out together, and go
// together; what shows one has runs of its own.
func TestGroupOfUseless(t *testing.T) {
	s := checking(4, 40)
	for i, effect := range []float64{0.3, -0.01, 0.005, 0} {
		s.Checks.Arms[i].shows(iikanji.CallUnknown, effect)
	}
	if got := Next(*s).String(); got != "group checks together: [2] [3] [4]" {
		t.Fatal(got)
	}
	s.Checks.AddGroup(keepsOf([]*CheckArm{&s.Checks.Arms[1], &s.Checks.Arms[2], &s.Checks.Arms[3]}))
	if got := Next(*s).String(); got != "round [2 3 4] [1]" {
		t.Fatal(got)
	}
	group := &s.Checks.Arms[4]
	group.shows(iikanji.CallUnknown, 0.01)
	group.shows(iikanji.Revert, -0.02)
	if got := Next(*s).String(); got != "end check [2 3 4]: revert, dropped" {
		t.Fatal(got)
	}
	s.CheckDropped(4)
	if got := Next(*s).String(); got != "round [1]" {
		t.Error(got)
	}
}

// TestGroupMatters: a group without which the score falls is checked in halves, and a change of two
// that do the same is lost in no order.
func TestGroupMatters(t *testing.T) {
	s := checking(3, 40)
	for i := range s.Checks.Arms {
		s.Checks.Arms[i].shows(iikanji.CallUnknown, 0)
	}
	s.Checks.AddGroup(Next(*s).Groups[0])
	s.Checks.Arms[3].shows(iikanji.CallUnknown, 0.4)
	if got := Next(*s); got.Do != SplitGroup || !slices.Equal(got.Keeps[0].Changes, []iikanji.ChangeID{1, 2, 3}) {
		t.Fatal(got)
	}
	groups := s.Checks.Split(3)
	if len(groups) != 1 || len(groups[0]) != 2 || s.Checks.Arms[0].In || !s.Checks.Arms[1].In {
		t.Errorf("%v, %+v", groups, s.Checks.Arms)
	}
}

// TestFirstGroups: with time for few runs the checks begin with groups.
func TestFirstGroups(t *testing.T) {
	for _, c := range []struct {
		runs   float64
		groups int
	}{{5, 0}, {6.5, 2}, {9, 3}, {17, 3}, {20, 0}, {30, 0}} {
		s := checking(8, c.runs)
		if got := s.grouped(); len(got) != c.groups {
			t.Errorf("with time for %v runs: %d groups, want %d", c.runs, len(got), c.groups)
		}
	}
}

// TestSplitKnownHalf: a half of a group that was left out before is not left out again: its
// members are checked one by one, so that a search without a limit of time ends.
func TestSplitKnownHalf(t *testing.T) {
	s := checking(4, 40)
	keeps := make([]Keep, 4)
	for i := range keeps {
		keeps[i] = s.Checks.Arms[i].Keep
	}
	s.Checks.AddGroup(keeps[:2])
	s.Checks.AddGroup(keeps)
	if got := s.Checks.Split(5); len(got) != 1 || got[0][0].Part != 3 {
		t.Fatalf("the halves that are groups again: %v", got)
	}
	for i, in := range []bool{false, false, true, true} {
		if s.Checks.Arms[i].In != in {
			t.Errorf("change %d is checked within a group: %v, want %v", i+1, s.Checks.Arms[i].In, in)
		}
	}
}

// TestExplained: where a part that was proven alone brings what its bundle brought, the others go,
// unless their own pairs show a gain; what time leaves of a bundle does not go with the rest.
func TestExplained(t *testing.T) {
	s := checking(4, 40)
	a := &s.Ledger.Attempts[0]
	a.Verdict.Effect, a.Verdict.SE = iikanji.Interval{Mid: 0.2, Lo: 0.1, Hi: 0.3, Level: 0.9}, 0.03
	for i, effect := range []float64{0.19, 0, 0.01, 0.15} {
		s.Checks.Arms[i].shows(iikanji.CallUnknown, effect)
	}
	if s.explained(&s.Checks.Arms[1]) {
		t.Error("nothing is proven alone yet")
	}
	a.Parts[0].Alone = &iikanji.Verdict{Effect: iikanji.Interval{Mid: 0.19, Level: 0.9}, SE: 0.03}
	s.Checks.Arms[0].Done = true
	for i, want := range []bool{false, true, true, false} {
		if got := s.explained(&s.Checks.Arms[i]); got != want {
			t.Errorf("part %d is explained by the first: %v, want %v", i+1, got, want)
		}
	}
	if got := Next(*s).String(); got != "end check [2]: unknown, dropped" {
		t.Error(got)
	}
	s.Ledger.InForce = []iikanji.ChangeID{3}
	if !s.lastOfBundle(s.Checks.Arms[2].Keep) {
		t.Error("the last part of a bundle may go")
	}
}

// TestIdleGoes: a change without which no work of a request is another one goes after one pair,
// unless its score makes a gain likely, and what the pairs of others showed stays.
func TestIdleGoes(t *testing.T) {
	s := checking(3, 40)
	for i, effect := range []float64{0.25, 0.02, 0.05} {
		s.Checks.Arms[i].shows(iikanji.CallUnknown, effect)
		s.Checks.Arms[i].Work.Idle = i < 2
	}
	if got := Next(*s).String(); got != "end check [2]: unknown, dropped" {
		t.Fatal(got)
	}
	if restart := s.CheckDropped(1); len(restart) > 0 || s.Checks.Arms[2].pairs() != 1 {
		t.Errorf("checks that begin anew: %v", restart)
	}
	if got := Next(*s).String(); got != "round [3] [1]" {
		t.Error(got)
	}
}

// TestGroupLeftUndecided: the members of a group that time left undecided are judged by their own
// pairs, and the last one stays.
func TestGroupLeftUndecided(t *testing.T) {
	s := checking(4, 0)
	s.Checks.Arms[0].shows(iikanji.Keep, 0.3)
	s.Checks.Arms[0].Done = true
	s.Ledger.Attempts[0].Parts[0].Alone = &iikanji.Verdict{}
	for i, effect := range []float64{0.01, -0.01, 0.02} {
		s.Checks.Arms[i+1].shows(iikanji.CallUnknown, effect)
	}
	s.Checks.AddGroup(keepsOf([]*CheckArm{&s.Checks.Arms[1], &s.Checks.Arms[2], &s.Checks.Arms[3]}))
	s.Checks.Arms[4].shows(iikanji.CallUnknown, 0.1)
	var gone []string
	for range 12 {
		step := Next(*s)
		switch step.Do {
		case SplitGroup:
			for _, g := range s.Checks.Split(s.Checks.Arm(step.Keeps[0])) {
				s.Checks.AddGroup(g)
			}
		case EndCheck:
			gone = append(gone, step.String())
			id := step.Keeps[0].Changes[0]
			s.CheckDropped(s.Checks.Arm(step.Keeps[0]))
			s.Ledger.InForce = slices.DeleteFunc(s.Ledger.InForce, func(o iikanji.ChangeID) bool { return o == id })
		default:
			if len(gone) != 2 || len(s.Ledger.InForce) != 2 || step.Do != EndChecks {
				t.Errorf("%v, then %v; in force %v", gone, step, s.Ledger.InForce)
			}
			return
		}
	}
	t.Errorf("the checks do not end: %v", gone)
}
