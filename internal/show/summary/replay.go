package summary

import (
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A Replay is what brings the site into the state of a run.
type Replay struct {
	Run    iikanji.RunID      `json:"run"`
	Revert []iikanji.ChangeID `json:"revert"` // in order: those that were applied last come first
	Apply  []iikanji.ChangeID `json:"apply"`  // in the order in which they were applied before that run
	Keep   []iikanji.ChangeID `json:"keep"`   // those of Apply that a verdict had kept
}

// ReplayOf plans the replay of a run from the journal. Changes that stay are not
// touched, unless an earlier one must be applied below them.
func ReplayOf(h *history.History, run iikanji.RunID) (*Replay, error) {
	events := h.Events()
	now, then := appliedAt(events, 0), appliedAt(events, run)
	if then == nil {
		return nil, fmt.Errorf("the journal has no beginning of run %d: the state of the site is not known", run)
	}
	then, err := withoutSensors(h, then)
	if err != nil {
		return nil, err
	}
	kept := statesOf(events)[run].kept
	same := 0
	for same < len(now) && same < len(then) && now[same] == then[same] {
		same++
	}
	r := &Replay{Run: run, Revert: []iikanji.ChangeID{}, Apply: []iikanji.ChangeID{}, Keep: []iikanji.ChangeID{}}
	for _, id := range slices.Backward(now[same:]) {
		r.Revert = append(r.Revert, id)
	}
	for _, id := range then[same:] {
		r.Apply = append(r.Apply, id)
		if slices.Contains(kept, id) {
			r.Keep = append(r.Keep, id)
		}
	}
	return r, nil
}

// sensorKind is the kind of the changes that an observation makes and undoes, such as
// the log of every statement. It has the value of live.SensorKind.
const sensorKind = "sensor"

// withoutSensors leaves out what was on only to observe a run: a site that is replayed
// must not go on logging every statement.
func withoutSensors(h *history.History, ids []iikanji.ChangeID) ([]iikanji.ChangeID, error) {
	left := []iikanji.ChangeID{}
	for _, id := range ids {
		c, err := h.LoadChange(id)
		if err != nil {
			return nil, fmt.Errorf("finding what was applied in the run: %w", err)
		}
		if c.Kind != sensorKind {
			left = append(left, id)
		}
	}
	return left, nil
}

// appliedAt lists the changes that were applied when a run began, in the order in
// which they were applied; run 0 is the end of the journal. It is nil if the journal
// does not have the run.
func appliedAt(events []history.Event, run iikanji.RunID) []iikanji.ChangeID {
	applied := []iikanji.ChangeID{}
	for _, e := range events {
		switch {
		case run > 0 && e.What == history.RunBegun && e.Run == run:
			return applied
		case e.What != history.Staged:
		case e.Stage == iikanji.Reverted:
			applied = slices.DeleteFunc(applied, func(id iikanji.ChangeID) bool { return id == e.Change })
		case !slices.Contains(applied, e.Change):
			applied = append(applied, e.Change)
		}
	}
	if run > 0 {
		return nil
	}
	return applied
}
