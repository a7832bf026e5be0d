package isucholar

import "github.com/iikanji/iikanji/internal/load/scenario"

// The events that score.
const (
	submitted scenario.Event = iota
	listed
)

// table is the contest's score: 3 points for a submission, 1 for a page of
// announcements; 50 less for an error, and 100 less for each full hundred of timeouts.
// The 101st error ends the run.
var table = scenario.Table{
	Events: []scenario.EventRule{
		{Name: "submissions", Points: 3},
		{Name: "pages of announcements", Points: 1},
	},
	PerError:      50,
	PerTimeouts:   100,
	TimeoutPoints: 100,
	MaxErrors:     100,
	FailAtZero:    true,
}
