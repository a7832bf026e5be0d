package search

import (
	"cmp"
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
)

// A Step is what a search does next, and why.
type Step struct {
	Do Action `json:"do"`
	// Why is the reason, for people; "" if it is what is under way.
	Why string `json:"why,omitempty"`
	// Parts are the candidates: one of a Trial, several of a Bundle or a Screening.
	Parts []Candidate `json:"parts,omitempty"`
	// Sweep: the bundle is of all promising candidates. If a run fails its checks, its parts
	// become suspects.
	Sweep bool `json:"sweep,omitempty"`
	// Verdict ends a trial or a check.
	Verdict iikanji.Verdict `json:"verdict,omitzero"`
	// Deferred: the trial ends without a verdict because another candidate promises more,
	// because the time is up, or because its pairs did not count in a search without a limit of
	// time.
	Deferred bool `json:"deferred,omitempty"`
	// Keeps are the changes to check, or to undo.
	Keeps []Keep `json:"keeps,omitempty"`
	// Groups are changes that are left out together.
	Groups [][]Keep `json:"groups,omitempty"`
	// Load is that of the run, or of all runs from now on.
	Load time.Duration `json:"load_ns,omitempty"`
	// Long: the checks are in full runs.
	Long bool `json:"long,omitempty"`
	// Drop: the check found no effect worth keeping.
	Drop bool `json:"drop,omitempty"`
	// Row is which parts of the design the next run has; at its end, which of them stay.
	Row []bool `json:"row,omitempty"`
	// Plan is what the search intends after this step.
	Plan Plan `json:"plan,omitzero"`
}

// String is the decision in a line, without its reason.
func (s Step) String() string {
	text := string(s.Do)
	for i, on := range s.Row {
		text += map[bool]string{true: " ", false: ""}[i == 0] + string("01"[bit(on)])
	}
	for i, c := range s.Parts {
		text += map[bool]string{true: ": ", false: "; "}[i == 0] + cmp.Or(c.Remedy.Says, c.Key())
	}
	for _, k := range s.Keeps {
		text += fmt.Sprintf(" %d", k.Changes)
	}
	for _, group := range s.Groups {
		text += " together:"
		for _, k := range group {
			text += fmt.Sprintf(" %d", k.Changes)
		}
	}
	if s.Do == Settle || s.Do == EndCheck {
		text += ": " + s.Verdict.Call.String()
	}
	for _, is := range []struct {
		it   bool
		word string
	}{{s.Sweep, "sweep"}, {s.Deferred, "deferred"}, {s.Drop, "dropped"}} {
		if is.it {
			text += ", " + is.word
		}
	}
	return text
}

// An Action is what a Step does.
type Action string

// The actions of a search, in the order of its phases.
const (
	Calibrate    Action = "calibrate"     // run the site as it is
	Measured     Action = "measured"      // the noise is known
	RunLonger    Action = "longer run"    // a longer run of the site as it is
	SettleLength Action = "settle length" // the length of the search's runs is known
	Observe      Action = "observe"       // run with every sensor on, and find causes

	TryOne      Action = "trial"     // begin the trial of one candidate
	TryTogether Action = "bundle"    // begin the trial of several as one change
	Screen      Action = "screening" // begin a design
	NoteSweep   Action = "swept"     // note what a sweep said of its parts

	RunPair     Action = "pair"        // run one pair of the trial under way
	Recalibrate Action = "recalibrate" // run the incumbent: the machine has changed
	GiveUp      Action = "give up"     // end the trial: its pairs prove nothing
	Settle      Action = "settle"      // keep or undo what is on trial

	RunRow    Action = "screening row" // run one row of the design under way
	EndScreen Action = "end screening"

	ConfirmRun  Action = "confirm"      // run the incumbent for the change that is not confirmed
	ConfirmOpen Action = "confirmation" // decide on that change

	Doubt Action = "doubt" // take a kept change back whose runs are void more often; pairs decide anew

	EndSearch   Action = "end search"      // begin the end phase
	StartChecks Action = "drop-one checks" // begin them
	RunRound    Action = "round"           // run the final site, and without each of some changes
	GroupChecks Action = "group checks"    // leave some changes out together from now on
	SplitGroup  Action = "split group"     // check the halves of a group instead
	EndCheck    Action = "end check"       // undo the change, or keep it
	EndChecks   Action = "end checks"
	Resume      Action = "resume the search" // the end phase has time left, and candidates are
	UndoCost    Action = "undo what only saves work"
	Rehearse    Action = "restart rehearsal"
	Compare     Action = "last comparison" // begin it
	RunFinal    Action = "final pair"      // run one pair of it
	AcceptAll   Action = "accept all"      // disturbed runs count from now on
	EndCompare  Action = "end comparison"
	UndoHarm    Action = "undo harm" // undo all that the last comparison proved to be harmful
	ClearFinal  Action = "clear"     // forget a comparison that did not confirm what was kept
	End         Action = "end"
	Abort       Action = "abort" // the search cannot go on
)

// A Plan is what a search intends beyond its next step.
type Plan struct {
	// Halves are the groups of a bundle without a gain that are left to try, by the level of
	// the bisection, the deepest last.
	Halves [][][]Candidate `json:"halves,omitempty"`
	// Why is the reason of the bundle that the halves are of.
	Why string `json:"why,omitempty"`
	// Sweep are the parts of the sweep under way.
	Sweep []Candidate `json:"sweep,omitempty"`
	// Chosen is the candidate whose screening is under way: if that cannot be finished, it is
	// tried with few others or alone.
	Chosen *Candidate `json:"chosen,omitempty"`
	// Confirm: runs confirm the change that the fast lane let in.
	Confirm bool `json:"confirm,omitempty"`
	// Decide: a trial has ended, after which the change that the fast lane let in is decided
	// on if there are enough runs with it.
	Decide bool `json:"decide,omitempty"`
	// ConfirmLast: the runs of the last comparison do.
	ConfirmLast bool `json:"confirm_last,omitempty"`
	// Looked: the site was just observed, so that a candidate of the diagnosis is next.
	Looked bool `json:"looked,omitempty"`
	// Screened are the candidates of a screening that has ended: those that it favours are
	// tried together.
	Screened []Candidate `json:"screened,omitempty"`
	// Set are those of a run of that screening which scored above the site without them, where it
	// favours no two: an interaction shows in the whole, and in no sum of single effects.
	Set []Candidate `json:"set,omitempty"`
	// Stage is the stage of the end phase.
	Stage Stage `json:"stage,omitempty"`
}

// A Phase is a phase of a search.
type Phase string

// The phases.
const (
	Measuring Phase = "measuring"
	Searching Phase = "searching"
	Closing   Phase = "closing"
)

// A Stage is a stage of the end phase.
type Stage string

// The stages, in their order.
const (
	Confirming Stage = ""          // the change that the fast lane let in
	Logs       Stage = "logs"      // changes that turn logs off, once no diagnosis needs them
	Drops      Stage = "drops"     // kept changes one by one
	Proving    Stage = "proving"   // restart rehearsal
	Comparing  Stage = "comparing" // untouched against final
	Harmful    Stage = "harmful"   // undo what harms
	Last       Stage = "last"      // confirm what the comparison was to confirm
	Finished   Stage = "finished"
)
