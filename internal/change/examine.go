package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A Relation is how the state of a place compares with a change.
type Relation string

const (
	AsBefore  Relation = "before"  // as the change found it
	AsAfter   Relation = "after"   // as the change left it
	AsNeither Relation = "neither" // edited since, or by another change
	AsUnread  Relation = "unread"  // it cannot be read now
)

// A PlaceState is the state of one place of a change.
type PlaceState struct {
	Place     string              `json:"place"` // as Op.Location
	Relation  Relation            `json:"standing"`
	Now       iikanji.Fingerprint `json:"now,omitempty"`
	ReadError string              `json:"why,omitempty"` // for AsUnread
}

// Examine reads the state of each place of a change. A place that cannot be read,
// such as a table of a server that does not run, is AsUnread.
func Examine(ctx context.Context, hands Hands, c *iikanji.Change) []PlaceState {
	var out []PlaceState
	for _, op := range c.Do {
		if op.Expect == "" {
			continue
		}
		p := PlaceState{Place: op.Location(), Relation: AsNeither}
		now, err := hands.State(ctx, op)
		switch {
		case err != nil:
			p.Relation, p.ReadError = AsUnread, err.Error()
		case now == op.Expect:
			p.Relation = AsBefore
		case now == leaves(c, op):
			p.Relation = AsAfter
		}
		p.Now = now
		out = append(out, p)
	}
	return out
}

// Explained reports whether the recorded stages account for the state of each
// place of a change: the latest change in force left it so, or, if none in force
// has the place, a change found it so. inForce are in the order of application.
func Explained(c *iikanji.Change, places []PlaceState, all, inForce []*iikanji.Change) bool {
	for _, p := range places {
		if p.Relation == AsUnread || !explained(p, all, inForce) {
			return false
		}
	}
	return true
}

func explained(p PlaceState, all, inForce []*iikanji.Change) bool {
	at := func(c *iikanji.Change) (iikanji.Op, bool) {
		i := slices.IndexFunc(c.Do, func(op iikanji.Op) bool { return op.Expect != "" && op.Location() == p.Place })
		if i < 0 {
			return iikanji.Op{}, false
		}
		return c.Do[i], true
	}
	for _, c := range slices.Backward(inForce) {
		if op, ok := at(c); ok {
			return p.Now == leaves(c, op)
		}
	}
	found, left := false, false
	for _, c := range all {
		if op, ok := at(c); ok {
			found, left = found || p.Now == op.Expect, left || p.Now == leaves(c, op) && op.Expect != leaves(c, op)
		}
	}
	return found && !left
}

// Complete performs what is missing of an interrupted change and keeps it. It
// refuses, and changes nothing, if a place is neither as the change found it nor
// as it left it. Once begun, it continues to its end even when ctx is done.
func (x *Executor) Complete(ctx context.Context, id iikanji.ChangeID, why string) error {
	c, err := x.Journal.LoadChange(id)
	if err != nil {
		return err
	}
	if c.Stage != iikanji.Applying {
		return fmt.Errorf("completing change %d: it is %s", id, c.Stage)
	}
	if err := x.allowed(c); err != nil {
		return fmt.Errorf("completing change %d: %w", id, err)
	}
	if err := x.ours(ctx, c, nil); err != nil {
		return fmt.Errorf("completing change %d: %w", id, err)
	}
	if err := x.perform(context.WithoutCancel(ctx), c, history.Do, c.Do, nil); err != nil {
		return fmt.Errorf("completing change %d: %w", id, err)
	}
	if err := x.Journal.MoveChange(id, iikanji.Applied, why); err != nil {
		return err
	}
	return x.Keep(id, why)
}
