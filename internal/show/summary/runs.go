package summary

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A Part is the place of a run in the search.
type Part string

const (
	PartCalibration Part = "calibration" // of the unchanged site, for the noise
	PartObserved    Part = "observed"    // with every sensor on; its score does not compare
	PartWithout     Part = "without"     // the incumbent's side of a trial
	PartWith        Part = "with"        // the candidate's side of a trial
	PartUntouched   Part = "untouched"   // of the last comparison
	PartFinal       Part = "final"       // of the last comparison
	PartSingle      Part = "single"      // no part of a comparison
)

// A Run is one run with its place in the search.
type Run struct {
	ID       iikanji.RunID   `json:"id"`
	Began    time.Time       `json:"began"`
	Load     time.Duration   `json:"load_ns"`
	Saved    bool            `json:"saved"`
	Outcome  iikanji.Outcome `json:"outcome"`
	Clean    bool            `json:"clean"` // its score is valid
	Score    float64         `json:"score"`
	Scenario string          `json:"scenario,omitempty"`
	Seed     uint64          `json:"seed,omitempty"`
	Part     Part            `json:"part"`
	Trial    int             `json:"trial,omitempty"` // number of the Trial that it is a part of, 0 for none
	// With are the changes that were applied, in the order of their numbers.
	With     []iikanji.ChangeID `json:"with"`
	Who      string             `json:"who,omitempty"`   // made it, where several people work on a site
	Notes    []string           `json:"notes,omitempty"` // of people
	Warnings []string           `json:"warnings,omitempty"`
}

// A state is the changes that were applied when a run began.
type state struct {
	applied []iikanji.ChangeID // by number
	kept    []iikanji.ChangeID // those that a verdict had kept
	seq     int64              // of the event
}

// statesOf returns the state of the site at the begin of each run. A change that
// is being applied or reverted counts as applied: its state is not known.
func statesOf(events []history.Event) map[iikanji.RunID]state {
	states := map[iikanji.RunID]state{}
	applied, kept := map[iikanji.ChangeID]bool{}, map[iikanji.ChangeID]bool{}
	for _, e := range events {
		switch e.What {
		case history.Staged:
			switch e.Stage {
			case iikanji.Reverted:
				delete(applied, e.Change)
			case iikanji.Kept:
				kept[e.Change] = true
				applied[e.Change] = true
			default:
				applied[e.Change] = true
			}
		case history.Judged:
			if e.Verdict != nil && e.Verdict.Call != iikanji.Keep {
				delete(kept, e.Change)
			}
		case history.RunBegun:
			states[e.Run] = state{applied: sorted(applied), kept: sorted(kept), seq: e.Seq}
		}
	}
	return states
}

func sorted(set map[iikanji.ChangeID]bool) []iikanji.ChangeID {
	ids := make([]iikanji.ChangeID, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// runs lists the runs, and loads those that were saved.
func (l *loader) runs() error {
	list, err := l.h.RunList()
	if err != nil {
		return err
	}
	l.loaded = map[iikanji.RunID]*iikanji.Run{}
	notes := map[iikanji.RunID][]string{}
	for _, e := range l.h.Events() {
		if e.What == history.Noted {
			l.s.Notes = append(l.s.Notes, Note{e.At, e.Run, e.Text})
			notes[e.Run] = append(notes[e.Run], e.Text)
		}
	}
	for _, entry := range list {
		r := Run{ID: entry.ID, Began: entry.Began, Saved: entry.Saved, Outcome: entry.Outcome, Score: entry.Score, Part: PartSingle, With: l.states[entry.ID].applied, Notes: notes[entry.ID]}
		run, err := l.h.LoadRun(entry.ID)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.Saved = false // a folder that was not committed, or a run that was interrupted
		case err != nil:
			return err
		default:
			l.loaded[r.ID] = run
			r.Load, r.Clean, r.Scenario, r.Seed, r.Warnings, r.Who = run.Took, run.Clean(), run.Scenario, run.Seed, run.Warnings, run.Who
			r.Began = run.Began
		}
		if observe.Observed(l.h, r.ID) {
			r.Part = PartObserved
		}
		if slices.Contains(l.rec.Calibration, r.ID) {
			r.Part = PartCalibration
		}
		l.s.Runs = append(l.s.Runs, r)
	}
	return nil
}

// place gives runs a part, unless they have one already.
func (l *loader) place(ids []iikanji.RunID, part Part, trial int) {
	for _, id := range ids {
		if r, ok := l.s.RunOf(id); ok && r.Part == PartSingle {
			r.Part, r.Trial = part, trial
		}
	}
}
