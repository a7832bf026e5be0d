package tune

import (
	"fmt"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// A View is the state of a running search, for display.
type View struct {
	Phase    string // observe, calibrate, trial, drop-one, rehearsal, last comparison
	Doing    string // in a sentence
	Purpose  string // the reason for it
	Pairs    int    // usable ones so far
	Effect   *iikanji.Interval
	Score    float64 // geometric mean of the incumbent's short runs
	First    float64 // the same of the untouched site
	Kept     int
	Tried    int
	Runs     int
	Left     time.Duration // to the end of everything; 0 without a limit
	LoadLeft time.Duration
}

// A display shows the search to its caller and keeps what the outcome repeats.
type display struct {
	book   *book
	onView func(View)
	onLine func(line string)
	view   View
	notes  []string
	plan   *search.TimePlan // as it was shown; nil if there is none
}

// show edits the view and passes it on.
func (d *display) show(edit func(v *View)) {
	edit(&d.view)
	d.figures(&d.view)
	if d.onView != nil {
		d.onView(d.view)
	}
}

// phase shows the begin of something.
func (d *display) phase(phase, doing, purpose string) {
	d.show(func(v *View) { v.Phase, v.Doing, v.Purpose, v.Pairs, v.Effect = phase, doing, purpose, 0, nil })
}

// phaseOver shows its end.
func (d *display) phaseOver() {
	d.show(func(v *View) { v.Doing, v.Purpose, v.Pairs, v.Effect = "", "", 0, nil })
}

// pairs shows what the pairs so far say.
func (d *display) pairs(n int, effect iikanji.Interval) {
	d.show(func(v *View) { v.Pairs, v.Effect = n, &effect })
}

// figures fills in the scores, counts and times of a view.
func (d *display) figures(v *View) {
	s := d.book.present()
	v.Score, v.First, v.Runs, v.Left = s.Score[1], s.Score[0], s.Ledger.Runs, 0
	v.Kept, v.Tried = 0, 0
	for i := range s.Ledger.Attempts {
		a := &s.Ledger.Attempts[i]
		if a.Skipped == "" {
			v.Tried++
		}
		if a.Result() == iikanji.Keep.String() { // provisional attempts do not count
			v.Kept++
		}
	}
	if s.Options.Time > 0 {
		v.Left = max(0, s.TimeLeft())
	}
}

func (d *display) say(format string, args ...any) {
	if d.onLine != nil {
		d.onLine(fmt.Sprintf(format, args...))
	}
}

// note is say, and keeps the line for the outcome.
func (d *display) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	d.notes = append(d.notes, line)
	d.say("%s", line)
}

// showPlan shows the plan of the time at the start of a search.
func (d *display) showPlan() {
	plan := d.book.present().TimePlan(d.book.calibrated)
	d.plan = &plan
	d.say("plan: %s", plan)
}

// updatePlan shows the plan again if runs take another time than it assumes.
func (d *display) updatePlan() {
	if d.plan == nil { // one trial or a ladder
		return
	}
	before := *d.plan
	if *d.plan = d.book.present().TimePlan(d.book.calibrated); d.plan.Differs(before) {
		d.say("a run takes %s; plan: %s", search.Brief(d.plan.Run), *d.plan)
	}
}
