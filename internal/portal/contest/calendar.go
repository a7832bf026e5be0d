package contest

import (
	"fmt"
	"slices"
	"time"
)

// An Entry is one line of a contest's calendar.
type Entry struct {
	At    time.Time `json:"at"`
	Round string    `json:"round,omitempty"`
	What  string    `json:"what"`
}

// Calendar lists what happens when, the earliest first, before any act on a clock.
func (c *Contest) Calendar() []Entry {
	var out []Entry
	add := func(at time.Time, round, format string, args ...any) {
		if !at.IsZero() {
			out = append(out, Entry{at, round, fmt.Sprintf(format, args...)})
		}
	}
	add(c.Registration.Open, "", "registration opens")
	add(c.Registration.Close, "", "registration closes")
	if c.Registration.JoinClose.After(c.Registration.Close) {
		add(c.Registration.JoinClose, "", "teams can no longer be joined")
	}
	if c.Registration.EditClose.After(c.Registration.Close) {
		add(c.Registration.EditClose, "", "teams can no longer be edited")
	}
	for i := range c.Rounds {
		r := &c.Rounds[i]
		clock := NewClock(r)
		add(clock.Start, r.ID, "starts: %s, %s", r.Problem, r.Kind)
		add(clock.Freeze, r.ID, "the board freezes")
		if r.Kind == Window {
			add(clock.End.Add(-r.Length), r.ID, "last start with the full %s", r.Length)
		}
		add(clock.End, r.ID, "ends")
		if !clock.End.IsZero() && r.Rules.CountsIf == "enqueued" && r.Rules.Tail > 0 {
			add(clock.End.Add(r.Rules.Tail), r.ID, "the last enqueued job has to be done")
		}
	}
	slices.SortStableFunc(out, func(a, b Entry) int { return a.At.Compare(b.At) })
	return out
}
