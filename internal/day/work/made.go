package work

import (
	"cmp"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// sensorKind is the kind of the changes that an observation makes and undoes; it has the
// value of livesite.SensorKind.
const sensorKind = "sensor"

// made are the changes that moved since a state was taken, in the order of their latest
// moves, each with what it left at its places.
func (d *Day) made(since *state.State) ([]difference.Made, error) {
	latest := map[iikanji.ChangeID]int64{}
	for _, e := range d.History.Events() {
		if e.What == history.Staged && e.At.After(since.At) && e.Stage != iikanji.Planned {
			latest[e.Change] = e.Seq
		}
	}
	var ids []iikanji.ChangeID
	for id := range latest {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b iikanji.ChangeID) int { return cmp.Compare(latest[a], latest[b]) })
	var all []difference.Made
	for _, id := range ids {
		c, err := d.History.LoadChange(id)
		if err != nil {
			return nil, err
		}
		if c.Kind != sensorKind && c.Kind != Kind { // a state that was brought back has edits by hand
			all = append(all, difference.Made{ID: id, Left: left(c)})
		}
	}
	return all, nil
}

// left is what a change left at its places: each op of one side leaves what the op of the
// other side expects there (change.Check).
func left(c *iikanji.Change) map[string]iikanji.Fingerprint {
	side := c.Undo // what the change left
	if c.Stage == iikanji.Reverted {
		side = c.Do
	}
	all := map[string]iikanji.Fingerprint{}
	for _, op := range side {
		if op.Expect != "" {
			all[op.Location()] = op.Expect
		}
	}
	done := c.Do
	if c.Stage == iikanji.Reverted {
		done = c.Undo
	}
	for _, op := range done {
		if op.Verb == iikanji.Unit {
			unitLinks(op, all)
		}
	}
	return all
}

// unitLinks adds the links by which a boot starts a unit, as an op on it leaves them.
func unitLinks(op iikanji.Op, all map[string]iikanji.Fingerprint) {
	order, err := change.ParseUnitOrder(op.Body)
	if err != nil || order.Want.Enabled == order.Was.Enabled {
		return // it does not touch them
	}
	for _, l := range order.Links {
		at := iikanji.Op{Host: op.Host, Place: l.Path}.Location()
		if all[at] = "absent"; order.Want.Enabled {
			all[at] = "" // a state has no digest of a link
		}
	}
}

// builds explains programs that a change of iikanji built, when it restarted their service.
func (d *Day) builds(since *state.State, edits []difference.Edit) error {
	var restarted map[string]iikanji.ChangeID
	for i := range edits {
		e := &edits[i]
		if e.Kind != difference.Program || !e.ByHand {
			continue
		}
		if restarted == nil {
			var err error
			if restarted, err = d.restarted(since); err != nil {
				return err
			}
		}
		if id, ok := restarted[e.Service]; ok {
			e.ByHand, e.Changes = false, []iikanji.ChangeID{id}
		}
	}
	return nil
}

// restarted are the latest changes since a state that restarted a service.
func (d *Day) restarted(since *state.State) (map[string]iikanji.ChangeID, error) {
	by := map[string]iikanji.ChangeID{}
	for _, e := range d.History.Events() {
		if e.What != history.Staged || !e.At.After(since.At) || e.Stage == iikanji.Planned {
			continue
		}
		c, err := d.History.LoadChange(e.Change)
		if err != nil {
			return nil, err
		}
		for _, op := range c.Do {
			if op.Verb == iikanji.Restart {
				by[op.Place] = c.ID
			}
		}
	}
	return by, nil
}

// Interrupted reports whether a change is half done: what is then on the site is no state.
func (d *Day) Interrupted() (bool, error) {
	half, err := d.History.ChangesAt(change.Interrupted)
	return len(half) > 0, err
}
