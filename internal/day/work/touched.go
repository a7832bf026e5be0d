package work

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
)

// mostBetween is how many states between two others are read: one is read in some 10 ms.
const mostBetween = 30

// touched tells of files that several people have edited since a state. Their contents in the
// states between are the edits, each with the time of the file; two edits between two runs are
// one. A content that a change of iikanji wrote is no edit.
func (d *Day) touched(base, now *state.State, edits []difference.Edit, made []difference.Made) error {
	byHand := func(e difference.Edit) bool { return e.ByHand && path.IsAbs(e.Place) && e.Old != e.New }
	if !slices.ContainsFunc(edits, byHand) {
		return nil
	}
	states, err := d.between(base, now)
	if err != nil {
		return err
	}
	for i := range edits {
		if e := &edits[i]; byHand(*e) {
			e.Touched = severalPeople(d.touches(e, append(states, now), made))
		}
	}
	return nil
}

// between are the states of the latest runs after one state and before another.
func (d *Day) between(base, now *state.State) (states []*state.State, err error) {
	runs, err := d.Store.Runs()
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(id iikanji.RunID) bool { return id <= base.Run || now.Run > 0 && id >= now.Run })
	for _, id := range runs[max(0, len(runs)-mostBetween):] {
		if s, err := d.Store.LoadState(id); err == nil { // a damaged one hides an edit, and fails nothing
			states = append(states, s)
		}
	}
	return states, nil
}

// touches are the edits of one file in states, which are in their order.
func (d *Day) touches(e *difference.Edit, states []*state.State, made []difference.Made) (all []difference.Touch) {
	location := iikanji.Op{Host: e.Host, Place: e.Place}.Location()
	was := string(e.Old)
	for _, s := range states {
		h, ok := s.Host(e.Host)
		if !ok {
			continue
		}
		f, there := h.File(e.Place)
		if f.SHA == was {
			continue
		}
		was = f.SHA
		at := f.Changed
		if !there {
			at = s.At // the time of the removal is not known
		}
		byChange := slices.ContainsFunc(made, func(m difference.Made) bool {
			left, touched := m.Left[location]
			return touched && string(left) == f.SHA
		})
		if !byChange {
			all = append(all, difference.Touch{At: at, Who: d.whoAt(at, s)})
		}
	}
	return all
}

// whoAt is who had the turn at a time, else who made the run that has seen what was done then.
func (d *Day) whoAt(at time.Time, seen *state.State) string {
	if d.Turn != nil {
		if who := d.Turn(at); who != "" {
			return who
		}
	}
	return seen.Who
}

// severalPeople are edits, if not all of them are of one person.
func severalPeople(all []difference.Touch) []difference.Touch {
	if !slices.ContainsFunc(all, func(t difference.Touch) bool { return t.Who != all[0].Who }) {
		return nil
	}
	return all
}

// shownTouches is how many edits of a file are shown.
const shownTouches = 4

// touchedText says who edited a file, and when; "" where one person did.
func touchedText(all []difference.Touch) string {
	if len(all) < 2 {
		return ""
	}
	var parts []string
	for _, t := range all[max(0, len(all)-shownTouches):] {
		parts = append(parts, fmt.Sprintf("%s at %s", t.Who, t.At.Local().Format("15:04:05")))
	}
	return "edited by " + strings.Join(parts, ", ") + ": the last edit counts"
}
