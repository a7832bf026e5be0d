package xsuportal

import "github.com/iikanji/iikanji/internal/load/scenario"

// The events that score.
const (
	finished scenario.Event = iota
	resolved
	viewed
	bonus // tenths of points of the first three, by the number of participants
	watched
)

// table is the contest's score: 10 points for a finished benchmark and for a resolved
// question, 2 for a look at the dashboard with the jobs, all times the size bonus; a point
// for ten looks of the audience; 50 less for an error, 100 less for each full hundred of
// timeouts. The 101st error ends the run.
var table = scenario.Table{
	Events: []scenario.EventRule{
		{Name: "finished benchmarks", Points: 10},
		{Name: "resolved questions", Points: 10},
		{Name: "dashboards of teams", Points: 2},
		{Name: "bonus for many participants", Points: 1, Per: 10},
		{Name: "dashboards of the audience", Points: 1, Per: 10},
	},
	PerError:      50,
	PerTimeouts:   100,
	TimeoutPoints: 100,
	MaxErrors:     100,
	FailAtZero:    true,
}

// points of the events that the bonus counts.
var points = map[scenario.Event]int64{finished: 10, resolved: 10, viewed: 2}

// tenths is the bonus in tenths of the points: none for fewer than 60 participants, and as
// many points again for 300.
func tenths(participants int) int64 { return min(int64(participants)/60, 5) * 2 }

// add counts an event with its bonus. The participants are settled when the first one happens.
func (ct *contest) add(e scenario.Event) {
	ct.s.Add(e, 1)
	ct.mu.Lock()
	n := tenths(ct.participants)
	ct.mu.Unlock()
	ct.s.Add(bonus, n*points[e])
}
