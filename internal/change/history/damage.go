package history

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/iikanji/iikanji"
)

// A Damage is a place of the journal where events are damaged or missing. The
// stages of the changes before it may be older than the site.
type Damage struct {
	Line int    `json:"line,omitempty"` // from 1; 0 for missing lines
	Why  string `json:"why"`
	Text string `json:"text,omitempty"` // the first bytes of a damaged line

	at int // how many events precede it
}

func (d Damage) String() string {
	if d.Line == 0 {
		return d.Why
	}
	return fmt.Sprintf("line %d is not an event (%s): %q", d.Line, d.Why, d.Text)
}

// Damages lists the damage since the last event Settled, in order.
func (h *History) Damages() []Damage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damages()
}

func (h *History) damages() []Damage {
	settled := 0
	for i, e := range h.events {
		if e.What == Settled {
			settled = i + 1
		}
	}
	var out []Damage
	last := int64(0)
	bad := h.bad
	for i := 0; i <= len(h.events); i++ {
		here := int64(0)
		for len(bad) > 0 && bad[0].at == i {
			if i >= settled {
				out = append(out, Damage{Line: bad[0].Line, Why: bad[0].Why, Text: bad[0].Text, at: i})
			}
			bad, here = bad[1:], here+1
		}
		if i == len(h.events) {
			break
		}
		seq := h.events[i].Seq
		if missing := seq - last - 1 - here; missing > 0 && i >= settled {
			out = append(out, Damage{Why: fmt.Sprintf("events %d to %d are missing", last+1, seq-1), at: i})
		}
		last = max(last, seq)
	}
	return out
}

// Unrecorded lists the changes that have a folder and no event, in the order of
// their numbers. Either the process was killed before the first event, and the
// change touched nothing, or its events are lost.
func (h *History) Unrecorded() ([]*iikanji.Change, error) {
	made := h.made()
	all, err := numbers(filepath.Join(h.dir, changesDir))
	if err != nil {
		return nil, err
	}
	var out []*iikanji.Change
	for _, n := range all {
		id := iikanji.ChangeID(n)
		if made[id] {
			continue
		}
		c, err := h.LoadChange(id)
		if errors.Is(err, fs.ErrNotExist) { // killed before change.json was written
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// made are the changes with an event of their making.
func (h *History) made() map[iikanji.ChangeID]bool {
	made := map[iikanji.ChangeID]bool{}
	for _, e := range h.Events() {
		made[e.Change] = made[e.Change] || e.What == ChangeMade
	}
	return made
}

// Uncertain lists the changes whose recorded stage may be older than the site, in
// the order of their numbers: those without a stage after the last damage, and
// unrecorded ones. It is empty if journal and folders agree.
func (h *History) Uncertain() ([]*iikanji.Change, error) {
	out, err := h.Unrecorded()
	damages := h.Damages()
	if err != nil || len(damages) == 0 {
		return out, err
	}
	last := damages[len(damages)-1].at
	certain := map[iikanji.ChangeID]bool{}
	for i, e := range h.Events() {
		certain[e.Change] = certain[e.Change] || i >= last && (e.What == Staged || e.What == ChangeMade)
	}
	all, err := h.Changes()
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if !certain[c.ID] {
			out = append(out, c)
		}
	}
	return out, nil
}

// Settle records that the damage before this moment was examined; text is the
// result. The damaged lines stay in the file.
func (h *History) Settle(text string) error { return h.Append(Event{What: Settled, Text: text}) }

// Restage sets the stage of an uncertain change as it was found on the site. It
// refuses a change whose stage is certain: see MoveChange.
func (h *History) Restage(id iikanji.ChangeID, stage iikanji.Stage, why string) error {
	uncertain, err := h.Uncertain()
	if err != nil {
		return err
	}
	for _, c := range uncertain {
		if c.ID != id {
			continue
		}
		if !h.made()[id] {
			if err := h.Append(Event{What: ChangeMade, Change: id}); err != nil {
				return err
			}
		}
		return h.Append(Event{What: Staged, Change: id, Stage: stage, Text: why})
	}
	return fmt.Errorf("setting the stage of change %d: the journal has it", id)
}
