package board

import (
	"time"

	"github.com/iikanji/iikanji"
)

// A Milestone is a step of a trainee.
type Milestone string

// Milestones in their usual order.
const (
	FirstPass Milestone = "pass"   // the first run that passed
	Clean     Milestone = "clean"  // a run that passed without a fault
	Doubled   Milestone = "double" // twice the score of the first run that passed
	Rebooted  Milestone = "reboot" // a run that passed after a machine of the team was rebooted
)

// Milestones are all milestones.
var Milestones = []Milestone{FirstPass, Clean, Doubled, Rebooted}

// A Reached is a milestone with the run that reached it.
type Reached struct {
	Milestone Milestone `json:"milestone"`
	At        time.Time `json:"at"`
	Job       string    `json:"job"`
}

// Reached are the milestones of a team by the results that the reader may see of it, each with
// the first run that reached it. boots are when machines of the team were rebooted.
func (v *View) Reached(team string, boots []time.Time) []Reached {
	var out []Reached
	first := 0.0
	known := map[Milestone]bool{}
	for _, r := range v.Results(team) {
		if r.Outcome != iikanji.Passed {
			continue
		}
		if first == 0 {
			first = r.Score
		}
		for _, m := range Milestones {
			reached := m == FirstPass
			switch m {
			case Clean:
				reached = r.Clean
			case Doubled:
				reached = first > 0 && r.Score >= 2*first
			case Rebooted:
				reached = v.rebooted(boots, r.Enqueued)
			}
			if reached && !known[m] {
				known[m] = true
				out = append(out, Reached{m, r.At, r.Job})
			}
		}
	}
	return out
}

// rebooted reports whether a machine was rebooted in the round before an instant.
func (v *View) rebooted(boots []time.Time, at time.Time) bool {
	for _, b := range boots {
		if b.Before(at) && !b.Before(v.data.Clock.Start) {
			return true
		}
	}
	return false
}
