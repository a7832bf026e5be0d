package past

import (
	"slices"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/choose"
	"github.com/iikanji/iikanji/internal/site/observe"
)

// A day is a history that a test writes.
type day struct {
	t *testing.T
	h *history.History
}

func newDay(t *testing.T) *day {
	t.Helper()
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &day{t, h}
}

// run saves a run; score 0 is a run that failed by a check.
func (d *day) run(score float64, edit ...func(*iikanji.Run)) iikanji.RunID {
	d.t.Helper()
	id, _, err := d.h.NewRun()
	if err != nil {
		d.t.Fatal(err)
	}
	r := &iikanji.Run{ID: id, Took: time.Minute, Outcome: iikanji.Passed, Score: score}
	if score == 0 {
		r.Outcome, r.Faults = iikanji.Failed, []iikanji.Fault{{Check: "trend-backwards", Fatal: true}}
	}
	for _, e := range edit {
		e(r)
	}
	if err := d.h.SaveRun(r); err != nil {
		d.t.Fatal(err)
	}
	return id
}

// apply adds a change that is in force.
func (d *day) apply(kind, says string) iikanji.ChangeID {
	d.t.Helper()
	c := &iikanji.Change{Kind: kind, Says: says}
	if err := d.h.AddChange(c, ""); err != nil {
		d.t.Fatal(err)
	}
	for _, stage := range []iikanji.Stage{iikanji.Applying, iikanji.Applied} {
		d.move(c.ID, stage)
	}
	return c.ID
}

func (d *day) move(id iikanji.ChangeID, to iikanji.Stage) {
	d.t.Helper()
	if err := d.h.MoveChange(id, to, ""); err != nil {
		d.t.Fatal(err)
	}
}

func (d *day) runs(byHand StateOf) []choose.Run {
	d.t.Helper()
	runs, err := Runs(d.h, byHand)
	if err != nil {
		d.t.Fatal(err)
	}
	return runs
}

// observed is what makes a run one that sensors saw.
func (d *day) observed(id iikanji.RunID) {
	d.t.Helper()
	ob := &observe.Observation{Run: &iikanji.Run{ID: id, Took: time.Minute, Outcome: iikanji.Passed, Score: 90}}
	if err := observe.Keep(d.h, ob, nil); err != nil {
		d.t.Fatal(err)
	}
}

// TestRuns: a state is the set of changes in force when a run began, whatever the order of
// applying; runs that do not count are left out, and so are those with a sensor.
func TestRuns(t *testing.T) {
	d := newDay(t)
	d.run(100)
	index := d.apply("ddl", "an index")
	d.run(200)
	sensor := d.apply("sensor", "a log")
	d.run(190)
	d.move(sensor, iikanji.Reverting)
	d.move(sensor, iikanji.Reverted)
	d.observed(d.run(150))
	d.run(0)
	d.run(300, func(r *iikanji.Run) { r.Load.Void = true })
	d.run(20, func(r *iikanji.Run) { r.Took = 10 * time.Second })
	d.run(0, func(r *iikanji.Run) { r.Watched = true })
	d.move(index, iikanji.Reverting)
	d.move(index, iikanji.Reverted)
	last := d.run(101)
	if err := d.h.Append(history.Event{What: history.Noted, Run: 2, Text: "with the index"}); err != nil {
		t.Fatal(err)
	}
	runs := d.runs(nil)
	var states []string
	for _, r := range runs {
		states = append(states, r.State.Says)
	}
	if len(runs) != 4 || runs[3].ID != last || runs[0].State.Key != runs[3].State.Key || runs[1].State.Key != runs[2].State.Key || runs[1].ID != 2 {
		t.Fatalf("states %q of %+v", states, runs)
	}
	if states[0] != "run 1 without changes" || states[1] != "run 2 with the index" {
		t.Errorf("states: %q", states)
	}
	if runs[2].Passed || len(runs[2].Faults) != 1 || runs[2].Faults[0] != "trend-backwards" || runs[1].State.Unproven != 1 {
		t.Errorf("the failed run: %+v, run 2: %+v", runs[2], runs[1])
	}
}

// TestByHand: edits by hand make states of their own.
func TestByHand(t *testing.T) {
	d := newDay(t)
	d.run(100)
	d.run(110)
	d.run(111)
	runs := d.runs(func(r *iikanji.Run) (string, int, string, bool) {
		if r.ID == 1 {
			return "a", 0, "as found", true
		}
		return "b", 2, "keep-alive", true
	})
	if runs[0].State.Key == runs[1].State.Key || runs[1].State != runs[2].State || runs[1].State.Unproven != 2 || runs[2].State.Says != "run 2 keep-alive" {
		t.Errorf("%+v", runs)
	}
}

// TestSearch: what a search tried and took back is no state to end with, whatever its runs
// scored; what it kept is one, and so is what a person tried and took back.
func TestSearch(t *testing.T) {
	d := newDay(t)
	of := func(state string) func(*iikanji.Run) {
		return func(r *iikanji.Run) { r.State = iikanji.Fingerprint(state) }
	}
	try := func(call iikanji.Call, run ...func(*iikanji.Run)) {
		c := d.apply("ddl", "an index")
		d.run(900, run...)
		if err := d.h.SaveVerdict(c, &iikanji.Verdict{Call: call}); err != nil {
			t.Fatal(err)
		}
		if call == iikanji.Keep {
			d.move(c, iikanji.Kept)
			return
		}
		d.move(c, iikanji.Reverting)
		d.move(c, iikanji.Reverted)
	}
	d.run(100, of("untouched"))
	try(iikanji.Revert, of("with an index"))
	try(iikanji.Revert) // by hand
	try(iikanji.Keep, of("with another"))
	d.run(910, of("with another"))
	var ids []iikanji.RunID
	for _, r := range d.runs(nil) {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []iikanji.RunID{1, 3, 4, 5}) {
		t.Errorf("runs %v count", ids)
	}
}

// TestBroughtBack: a state that iikanji work back has brought back is that state, and no other.
func TestBroughtBack(t *testing.T) {
	d := newDay(t)
	d.run(100)
	d.apply("work", "back to run 1")
	d.run(101)
	by := func(*iikanji.Run) (string, int, string, bool) { return "a", 0, "", true }
	if runs := d.runs(by); runs[0].State.Key != runs[1].State.Key || runs[1].State.Unproven != 0 {
		t.Errorf("%+v", runs)
	}
	if runs := d.runs(nil); runs[0].State.Key == runs[1].State.Key {
		t.Errorf("nobody has looked at what it left: %+v", runs)
	}
}

// TestFaults: two messages that differ in their numbers are of one kind.
func TestFaults(t *testing.T) {
	of := func(message string) []string {
		return faults(&iikanji.Run{Outcome: iikanji.Failed, Faults: []iikanji.Fault{{Kind: iikanji.FaultTimeout, Step: "GET /a", Message: message}}})
	}
	if a, b := of("after 1003 ms"), of("after 998 ms"); len(a) != 1 || a[0] != b[0] {
		t.Errorf("%q and %q", a, b)
	}
	if got := faults(&iikanji.Run{Outcome: iikanji.Failed, Reasons: []string{"critical: 3 errors"}}); len(got) != 1 || got[0] != "critical: N errors" {
		t.Errorf("%q", got)
	}
}

// TestRehearsals: a rehearsal counts for the state of the latest run; the latest one for a
// state decides.
func TestRehearsals(t *testing.T) {
	d := newDay(t)
	for range 3 {
		d.run(100)
	}
	if err := Note(d.h, Rehearsal{OK: true}); err != nil {
		t.Fatal(err)
	}
	d.apply("ddl", "an index")
	for range 3 {
		d.run(200)
	}
	rules := choose.Rules{Final: choose.Last, Floor: 0.75}
	if c := choose.Among(d.runs(nil), rules); c.Good != 0 || c.With != 1 {
		t.Errorf("good is state %d, the best %d; want the first, the second", c.Good, c.With)
	}
	if err := Note(d.h, Rehearsal{OK: true, Boot: 1}); err != nil {
		t.Fatal(err)
	}
	if c := choose.Among(d.runs(nil), rules); c.Good != 0 {
		t.Errorf("good is state %d, though the second has a finding about its boot", c.Good)
	}
	if err := Note(d.h, Rehearsal{OK: true}); err != nil {
		t.Fatal(err)
	}
	if c := choose.Among(d.runs(nil), rules); c.Good != 1 {
		t.Errorf("good is state %d, want the second", c.Good)
	}
}
