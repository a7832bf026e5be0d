package contest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A State is where a round is.
type State string

const (
	Draft       State = "draft"
	Registering State = "registration"
	Ready       State = "ready"
	Running     State = "running"
	Ended       State = "ended"
	Judging     State = "judging"
	Provisional State = "provisional"
	Finished    State = "final"
	Archived    State = "archived"
)

// States are all states, in their order.
var States = []State{Draft, Registering, Ready, Running, Ended, Judging, Provisional, Finished, Archived}

// moves are the transitions; a step back is one that staff may have to make.
var moves = map[State][]State{
	Draft:       {Registering, Ready},
	Registering: {Draft, Ready},
	Ready:       {Registering, Running},
	Running:     {Ended},
	Ended:       {Running, Judging, Provisional},
	Judging:     {Ended, Provisional},
	Provisional: {Judging, Finished},
	Finished:    {Archived},
	Archived:    nil,
}

// Next are the states that staff may make of one.
func Next(from State) []State { return slices.Clone(moves[from]) }

// Facts are what a transition depends on.
type Facts struct {
	Now      time.Time
	OpenJobs int // jobs that have not ended
	Teams    int
	Appeals  int  // that wait for an answer
	Verdicts bool // each team of the final judging has one
}

// Move checks a transition. The error is a *RefusedError.
func Move(r *Round, c *Clock, from, to State, f Facts) error {
	if !slices.Contains(moves[from], to) {
		return refused("a round that is %s becomes %s, not %s", from, words(moves[from]), to)
	}
	end := c.LastEnd()
	switch to {
	case Running:
		if f.Now.Before(c.Start) {
			return refused("the start is %s", c.Start.Format(time.RFC3339))
		}
		if from == Ended && c.Reached(end, f.Now) {
			return refused("the end is past: extend first")
		}
	case Ended:
		if from == Running && r.Kind != Open && !c.Reached(end, f.Now) {
			return refused("the end is %s", end.Format(time.RFC3339))
		}
	case Judging:
		if from == Ended && r.Final.Runs == 0 {
			return refused("the round has no final judging")
		}
		if f.OpenJobs > 0 {
			return refused("%d jobs have not ended", f.OpenJobs)
		}
	case Provisional:
		if f.OpenJobs > 0 {
			return refused("%d jobs have not ended", f.OpenJobs)
		}
		if from == Ended && r.Final.Runs > 0 {
			return refused("the final judging comes first")
		}
		if from == Judging && !f.Verdicts {
			return refused("a team has no verdict yet")
		}
	case Finished:
		if f.Appeals > 0 {
			return refused("%d appeals wait for an answer", f.Appeals)
		}
	}
	return nil
}

func words(states []State) string {
	if len(states) == 0 {
		return "nothing else"
	}
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = fmt.Sprint(s)
	}
	return strings.Join(parts, " or ")
}

// ByTime is the state that time alone leads to: ready rounds start and running ones end. A
// portal that was down makes the change when it is back.
func ByTime(c *Clock, from State, now time.Time) State {
	if from == Ready && (!c.Start.IsZero() || c.Kind == Open) && !now.Before(c.Start) {
		from = Running
	}
	if from == Running && c.Reached(c.LastEnd(), now) {
		from = Ended
	}
	return from
}
