package contest

import (
	"fmt"
	"time"
)

// An ActKind is a kind of act on a round's clock.
type ActKind string

const (
	Shift  ActKind = "shift"  // moves start and end; before the start
	Pause  ActKind = "pause"  // nothing is dispatched from now on
	Resume ActKind = "resume" // ends a pause; later times move by its length
	Extend ActKind = "extend" // moves the end
	Extra  ActKind = "extra"  // moves the end of one team
	Reveal ActKind = "reveal" // shows what a freeze hides
)

// An Act is one act of staff on a round's clock. Acts are never deleted.
type Act struct {
	At     time.Time     `json:"at"`
	Kind   ActKind       `json:"kind"`
	By     time.Duration `json:"by_ns,omitempty"` // shift, extend, extra
	Team   string        `json:"team,omitempty"`  // extra
	Reason string        `json:"reason"`
	Who    string        `json:"who"`
}

// A Pausing is one pause; To is zero while it lasts.
type Pausing struct{ From, To time.Time }

// A Clock is the time table of a round as it is after some acts. A zero time is never.
type Clock struct {
	Kind     Kind
	Start    time.Time
	End      time.Time // of the round; of the last window in a window round
	Freeze   time.Time
	Revealed time.Time
	Pauses   []Pausing
	// Extra is the additional time of teams. The reveal waits for the latest of them.
	Extra map[string]time.Duration
	// Windows is when each team began its hours, in a window round.
	Windows map[string]time.Time
	Length  time.Duration
	Tail    time.Duration
	// Finished: a job counts if it ends before the end. Else: if it was enqueued before it.
	Finished bool
}

// NewClock is the time table of a round before any act.
func NewClock(r *Round) *Clock {
	c := &Clock{Kind: r.Kind, Start: r.Start, Length: r.Length, Tail: r.Rules.Tail, Finished: r.Rules.CountsIf == "finished",
		Extra: map[string]time.Duration{}, Windows: map[string]time.Time{}}
	switch r.Kind {
	case Live:
		c.End = r.Start.Add(r.Length)
		if r.Freeze > 0 {
			c.Freeze = c.End.Add(-r.Freeze)
		}
	case Window:
		c.End = r.Until
	}
	return c
}

// A RefusedError is an act that the clock does not allow.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

func refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// Apply makes one act. It refuses an act that changes a time that is past at a.At, and one
// without a reason; a refused act changes nothing.
func (c *Clock) Apply(a Act) error {
	if a.Reason == "" {
		return refused("an act on the clock needs a reason")
	}
	if c.Kind == Open && a.Kind != Pause && a.Kind != Resume {
		return refused("an open round has no end: only pause and resume")
	}
	switch a.Kind {
	case Shift:
		return c.shift(a)
	case Pause:
		if a.At.Before(c.Start) {
			return refused("the round has not begun: shift it")
		}
		if c.Paused(a.At) || c.over(a.At) {
			return refused("the round is paused already, or over")
		}
		if n := len(c.Pauses); n > 0 && a.At.Before(c.Pauses[n-1].To) {
			return refused("the pause begins before the end of the one before")
		}
		c.Pauses = append(c.Pauses, Pausing{From: a.At})
	case Resume:
		return c.resume(a.At)
	case Extend:
		return c.extend(a)
	case Extra:
		if a.Team == "" || a.By <= 0 || a.By > 24*time.Hour {
			return refused("extra time is of one team, above 0 and at most 24h")
		}
		if !c.Revealed.IsZero() {
			return refused("the results are shown already")
		}
		c.Extra[a.Team] += a.By
	case Reveal:
		if !c.Revealed.IsZero() {
			return refused("the results are shown already")
		}
		if last := c.LastEnd(); !last.IsZero() && !c.Reached(last, a.At) {
			return refused("a team has time until %s", last.Format(time.RFC3339))
		}
		c.Revealed = a.At
	default:
		return refused("there is no act %q", a.Kind)
	}
	return nil
}

func (c *Clock) over(at time.Time) bool { return c.Reached(c.End, at) }

// Reached reports whether a time of the table is reached at an instant. While the round is
// paused its time stands still: no time after the pause's begin is reached.
func (c *Clock) Reached(x, at time.Time) bool {
	if x.IsZero() || at.Before(x) {
		return false
	}
	if n := len(c.Pauses); n > 0 {
		p := c.Pauses[n-1]
		return !p.To.IsZero() || at.Before(p.From) || !p.From.Before(x)
	}
	return true
}

func (c *Clock) shift(a Act) error {
	if !a.At.Before(c.Start) {
		return refused("the round has begun: extend it")
	}
	if c.Start.Add(a.By).Before(a.At) {
		return refused("the new start is past")
	}
	c.move(a.By)
	c.Start = c.Start.Add(a.By)
	return nil
}

// move moves the end and, if it is not past, the freeze.
func (c *Clock) move(by time.Duration) {
	c.End = c.End.Add(by)
	if !c.Freeze.IsZero() {
		c.Freeze = c.Freeze.Add(by)
	}
}

func (c *Clock) resume(at time.Time) error {
	if !c.Paused(at) {
		return refused("the round is not paused")
	}
	p := &c.Pauses[len(c.Pauses)-1]
	p.To = at
	by := at.Sub(p.From)
	if c.Kind == Open {
		return nil
	}
	c.End = c.End.Add(by)
	if !c.Freeze.IsZero() && p.From.Before(c.Freeze) {
		c.Freeze = c.Freeze.Add(by)
	}
	for team, began := range c.Windows {
		// The end of a window that ends before the round's end moves too.
		if own := began.Add(c.Length); own.Before(c.End.Add(-by)) && own.Add(c.Extra[team]).After(p.From) {
			c.Extra[team] += by
		}
	}
	return nil
}

func (c *Clock) extend(a Act) error {
	end := c.End.Add(a.By)
	switch {
	case c.Kind == Window && a.By < 0:
		return refused("a window round cannot be made shorter")
	case c.over(a.At) && c.Tail == 0, !c.Revealed.IsZero():
		return refused("the round is over")
	case end.Before(a.At):
		return refused("the new end is past")
	}
	if !c.Freeze.IsZero() && !c.Reached(c.Freeze, a.At) {
		freeze := c.Freeze.Add(a.By)
		if freeze.Before(a.At) {
			freeze = a.At
		}
		c.Freeze = freeze
	}
	c.End = end
	return nil
}

// Begin notes that a team begins its window.
func (c *Clock) Begin(team string, at time.Time) error {
	switch {
	case c.Kind != Window:
		return refused("the round has one clock for all")
	case at.Before(c.Start) || c.over(at):
		return refused("the round is not open")
	case !c.Windows[team].IsZero():
		return refused("the team's time has begun already")
	}
	c.Windows[team] = at
	return nil
}

// Paused reports whether the round is paused at an instant.
func (c *Clock) Paused(at time.Time) bool {
	for _, p := range c.Pauses {
		if !at.Before(p.From) && (p.To.IsZero() || at.Before(p.To)) {
			return true
		}
	}
	return false
}

// EndOf is when the time of a team ends; zero for never.
func (c *Clock) EndOf(team string) time.Time {
	end := c.End
	if c.Kind == Window {
		began := c.Windows[team]
		if began.IsZero() {
			return c.End
		}
		if own := began.Add(c.Length); own.Before(end) {
			end = own
		}
	}
	if end.IsZero() {
		return end
	}
	return end.Add(c.Extra[team])
}

// LastEnd is when the time of the last team ends; zero for never.
func (c *Clock) LastEnd() time.Time {
	last := c.End
	for team := range c.Extra {
		if end := c.EndOf(team); end.After(last) {
			last = end
		}
	}
	return last
}

// Runs reports whether a team may enqueue at an instant.
func (c *Clock) Runs(team string, at time.Time) bool {
	if at.Before(c.Start) {
		return false
	}
	if c.Kind == Window && c.Windows[team].IsZero() {
		return false
	}
	return !c.Reached(c.EndOf(team), at)
}

// Counts reports whether a job counts for its team by the times of its enqueueing and end.
func (c *Clock) Counts(team string, enqueued, ended time.Time) bool {
	end := c.EndOf(team)
	switch {
	case enqueued.Before(c.Start):
		return false
	case end.IsZero():
		return true
	case c.Finished:
		return !c.Reached(end, ended)
	}
	return !c.Reached(end, enqueued) && !c.Reached(end.Add(c.Tail), ended)
}

// Frozen reports whether results of others from the freeze on are hidden at an instant.
func (c *Clock) Frozen(at time.Time) bool {
	if !c.Reached(c.Freeze, at) {
		return false
	}
	return c.Revealed.IsZero() || at.Before(c.Revealed)
}

// Left is how long a team's time still runs; 0 before the start and after the end. ok is
// false where there is no end.
func (c *Clock) Left(team string, at time.Time) (left time.Duration, ok bool) {
	end := c.EndOf(team)
	if end.IsZero() {
		return 0, false
	}
	if !c.Runs(team, at) {
		return 0, true
	}
	if n := len(c.Pauses); n > 0 && c.Pauses[n-1].To.IsZero() && c.Pauses[n-1].From.Before(at) {
		at = c.Pauses[n-1].From // the time stands still
	}
	return end.Sub(at), true
}

// Minute is the time of play since the start, without pauses, at an instant.
func (c *Clock) Minute(at time.Time) time.Duration {
	if at.Before(c.Start) || c.Start.IsZero() {
		return 0
	}
	played := at.Sub(c.Start)
	for _, p := range c.Pauses {
		to := p.To
		if to.IsZero() || to.After(at) {
			to = at
		}
		if to.After(p.From) {
			played -= to.Sub(p.From)
		}
	}
	return max(played, 0)
}
