package search

import (
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/judge"
)

// A Ledger is what a search writes down beside the journal, so that the next
// search continues where this one ended. It names runs and changes by number;
// which changes are applied is in the journal.
type Ledger struct {
	Version   int                `json:"version"`
	Basis     string             `json:"basis"`                     // of the runs: see Options.Basis
	Chosen    time.Duration      `json:"chosen_short_ns,omitempty"` // Short, if a search found it to be better than its option
	Short     time.Duration      `json:"short_ns"`
	AA        []iikanji.RunID    `json:"aa"`             // calibration runs of one unchanged state
	Attempts  []Attempt          `json:"attempts"`       // in the order in which they were tried
	InForce   []iikanji.ChangeID `json:"in_force"`       // in the order in which they were applied
	Away      []iikanji.ChangeID `json:"away,omitempty"` // changes of InForce that a comparison or a drop-one check may have undone for a while
	Open      *Unconfirmed       `json:"open,omitempty"`
	Wiped     bool               `json:"wiped"`               // initialize creates the tables again
	Absorbed  bool               `json:"absorbed,omitempty"`  // other work uses what one cure saves: see Absorbs
	Untouched []iikanji.RunID    `json:"untouched,omitempty"` // runs of the untouched site
	Pairs     [][][2]int         `json:"pairs"`               // of past trials, for the noise
	Incumb    []iikanji.RunID    `json:"incumbent"`
	// Void counts the runs of changes that were not confirmed because these were void too often,
	// by the key of their attempt: their trial goes on with them.
	Void map[string]judge.Record `json:"void,omitempty"`
	// Fruitless is how many searches on this history, this one included, have proven nothing
	// since the last one that proved a gain.
	Fruitless int `json:"fruitless,omitempty"`
	Runs      int `json:"runs"`
	Voided    int `json:"voided"`
}

// An Unconfirmed is an attempt that the fast lane accepted and that later runs
// have not confirmed yet.
type Unconfirmed struct {
	Attempt int             `json:"attempt"` // index in Ledger.Attempts
	Bound   float64         `json:"bound"`
	Before  []iikanji.RunID `json:"before"`
	Since   []iikanji.RunID `json:"since"`
	// With counts the runs with it, and Without those before it, void ones included.
	With    judge.Record `json:"with,omitzero"`
	Without judge.Record `json:"without,omitzero"`
}

// Share is the share of a test's error that the tests of this search have. The error is one
// budget over all searches of a history, whatever their candidates are called: the k-th
// search in a row that proves nothing has 1/k² of it, so that all together have less than 1.65
// times that of one. A proven gain earns the whole again.
func (l *Ledger) Share() float64 {
	k := float64(max(1, l.Fruitless))
	return 1 / (k * k)
}

// ProvedSince reports whether an attempt from an index on has proven a gain that is in force.
func (l *Ledger) ProvedSince(first int) bool {
	for i := first; i < len(l.Attempts); i++ {
		a := &l.Attempts[i]
		if a.Verdict.Call == iikanji.Keep && a.Verdict.Reason == iikanji.Proven && !a.Provisional() && len(l.InForceOf(a)) > 0 {
			return true
		}
	}
	return false
}

// InForceOf are the changes of an attempt that are in force.
func (l *Ledger) InForceOf(a *Attempt) []iikanji.ChangeID {
	return slices.DeleteFunc(slices.Clone(a.Changes), func(id iikanji.ChangeID) bool { return !slices.Contains(l.InForce, id) })
}

// IsOpen reports whether a change waits for its confirmation.
func (l *Ledger) IsOpen(id iikanji.ChangeID) bool {
	return l.Open != nil && slices.Contains(l.Attempts[l.Open.Attempt].Changes, id)
}

// KeptNothing reports whether no change is in force but perhaps one that is not confirmed.
func (l *Ledger) KeptNothing() bool {
	open := 0
	if o := l.Open; o != nil && o.Attempt < len(l.Attempts) {
		open = len(l.InForceOf(&l.Attempts[o.Attempt]))
	}
	return len(l.InForce) == open
}

// ForgetRuns drops the runs, which do not compare with those of this search. An
// unconfirmed change could never be confirmed: it is undone as an interrupted trial.
func (l *Ledger) ForgetRuns() {
	l.AA, l.Incumb, l.Untouched, l.Pairs = nil, nil, nil, nil
	if l.Open == nil {
		return
	}
	a := &l.Attempts[l.Open.Attempt]
	l.InForce = slices.DeleteFunc(l.InForce, func(id iikanji.ChangeID) bool { return slices.Contains(a.Changes, id) })
	a.TryAgain("the runs that would have confirmed it are of another search")
	l.Open = nil
}

// ForgetUndone removes changes that a user has undone since. The others keep the
// ledger's order, in which they must be applied again; the journal's order shows
// the state of an interrupted comparison.
func (l *Ledger) ForgetUndone(stages map[iikanji.ChangeID]iikanji.Stage) {
	l.InForce = slices.DeleteFunc(l.InForce, func(id iikanji.ChangeID) bool {
		stage := stages[id]
		return stage != iikanji.Applied && stage != iikanji.Kept && !(stage == iikanji.Reverted && slices.Contains(l.Away, id))
	})
}

// BeginAnew updates the attempts to the changes in force; had is how many were in force
// before. A change that a user has undone is not tried again; if all of them were undone,
// the search starts over, and anew is true.
func (l *Ledger) BeginAnew(had int) (anew bool) {
	if l.Open != nil && len(l.InForceOf(&l.Attempts[l.Open.Attempt])) == 0 {
		l.Open = nil
	}
	if anew = had > 0 && len(l.InForce) == 0; anew {
		l.Attempts = nil
	}
	for i := range l.Attempts {
		if a := &l.Attempts[i]; a.Verdict.Call == iikanji.Keep && !a.Dropped && len(l.InForceOf(a)) == 0 {
			a.Undone = true
		}
	}
	return anew
}
