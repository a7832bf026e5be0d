package work

import (
	"errors"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// TestUnitByChange: a unit that a change has disabled or enabled is not told as an edit by hand,
// on this machine and on another one. One that a person has enabled again is.
func TestUnitByChange(t *testing.T) {
	link := change.UnitLink{Path: "/etc/systemd/system/multi-user.target.wants/mariadb.service", Target: "/lib/systemd/system/mariadb.service"}
	on, off := change.UnitState{Active: true, Enabled: true}, change.UnitState{}
	order := func(want, was change.UnitState) string {
		return change.UnitOrder{Want: want, Was: was, Links: []change.UnitLink{link}}.String()
	}
	with := []state.File{{Path: link.Path, Class: state.Link, Target: link.Target}}
	for _, host := range []string{"", "isu2"} {
		c := &iikanji.Change{ID: 5, Stage: iikanji.Kept, Do: []iikanji.Op{{Verb: iikanji.Unit, Host: host, Place: "mariadb.service", Body: order(off, on)}},
			Undo: []iikanji.Op{{Verb: iikanji.Unit, Host: host, Place: "mariadb.service", Body: order(on, off)}}}
		edits := func(stage iikanji.Stage, before, after []state.File) []difference.Edit {
			c.Stage = stage
			other := []state.File{{Path: "/etc/hostname", Class: state.Text}}
			at := func(files []state.File) *state.State {
				return &state.State{Version: state.Version, Hosts: []state.Host{{Name: host, Files: append(other[:1:1], files...)}}}
			}
			return difference.Between(difference.Input{Base: at(before), Now: at(after), Text: func(string) ([]byte, error) { return nil, errors.New("no text") },
				Keyed: func([]byte) string { return "" }, Made: []difference.Made{{ID: c.ID, Left: left(c)}}})
		}
		for name, one := range map[string]struct {
			edits []difference.Edit
			hand  bool
		}{
			"disabled":        {edits(iikanji.Kept, with, nil), false},
			"enabled again":   {edits(iikanji.Reverted, nil, with), false},
			"enabled by hand": {edits(iikanji.Kept, nil, with), true},
		} {
			if len(one.edits) != 1 || one.edits[0].ByHand != one.hand {
				t.Errorf("%s on %q: %+v", name, host, one.edits)
			}
		}
	}
}
