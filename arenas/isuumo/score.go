package isuumo

import "github.com/iikanji/iikanji/internal/load/scenario"

// The events that score.
const (
	eventBuy scenario.Event = iota
	eventDocument
)

// table is the score table: one point per purchase and per document request of a
// user, minus 50 points per error. The tenth error ends the run. Timeouts cost no
// points.
var table = scenario.Table{
	Events: []scenario.EventRule{
		{Name: "chair bought", Points: 1},
		{Name: "documents requested", Points: 1},
	},
	PerError:   50,
	MaxErrors:  9,
	FailAtZero: true,
}
