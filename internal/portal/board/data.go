package board

import (
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Team is one team of a round.
type Team struct {
	ID       string
	Name     string
	Division string
	Ranked   bool // of a division with ranks
	// Gone is "withdrawn" or "disqualified" from GoneAt on; "" for neither.
	Gone   string
	GoneAt time.Time
}

// A Result is one run of a team that ended. It never changes; a correction is a [Judgement].
type Result struct {
	Job      string
	Team     string
	Number   int64 // of the run, counted per team from 1
	Enqueued time.Time
	At       time.Time // when it was accepted
	Outcome  iikanji.Outcome
	Score    float64 // meaningful if Outcome is Passed
	Note     string
	Clean    bool // it passed without a fault
}

// A Judgement replaces what a result counts.
type Judgement struct {
	Job     string
	At      time.Time
	Outcome iikanji.Outcome
	Score   float64
	Reason  string
}

// A FinalScore is the verdict on a team after the final judging.
type FinalScore struct {
	Team   string
	Score  float64
	Passed bool
}

// A Data is all that happened in a round.
type Data struct {
	Round      *contest.Round
	Clock      *contest.Clock
	Teams      []Team
	Results    []Result // in the order of acceptance
	Judgements []Judgement
	Finals     []FinalScore
	// Published is when the final scores are shown to all; zero for not yet.
	Published time.Time
	Ghosts    []Ghost
	Awards    []Award // of prizes by hand, in the order of their times
	// Noise is the standard deviation of ln(score) of runs of an unchanged site; 0 if it
	// was not measured.
	Noise float64
}

// An Award gives a prize of the kind manual to a team, or takes it back (Team is ""). The latest
// one is in force.
type Award struct {
	Prize  string    `json:"prize"`
	Team   string    `json:"team"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// A Role is what a reader is.
type Role string

const (
	Public Role = "public"
	Member Role = "team"
	Staff  Role = "staff"
)

// A Reader is who looks at a board. Team is that of a Member.
type Reader struct {
	Role Role
	Team string
}

// Key names the view of a reader: readers with one key see the same.
func (r Reader) Key() string {
	if r.Role == Member {
		return "team-" + r.Team
	}
	return string(r.Role)
}
