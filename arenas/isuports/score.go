package isuports

import (
	"errors"

	"github.com/iikanji/iikanji/internal/load/scenario"
)

// Points of a successful request, and the share of the raw score in percent that a
// failed request costs.
const (
	writePoints = 10
	readPoints  = 1
	writeCost   = 10
	readCost    = 1
)

// table is the score table of section 11 of the rules. Errors that cost the whole
// raw score end the run.
var table = scenario.Table{
	Events:          eventRules(),
	PercentPerError: 1,
	TimeoutErrors:   true,
	MaxErrors:       99,
	FailAtZero:      true,
}

// eventRules returns one event for each step that scores.
func eventRules() []scenario.EventRule {
	rules := make([]scenario.EventRule, scoringSteps)
	for step := range rules {
		rules[step] = scenario.EventRule{Name: stepNames[step], Points: points(scenario.Step(step))}
	}
	return rules
}

// points returns the points of a successful request. Organizer billing is the only
// read that scores like a write; a disqualification scores like a read.
func points(step scenario.Step) float64 {
	if step <= stepBilling {
		return writePoints
	}
	return readPoints
}

// cost returns the share of the raw score in percent that a failed request costs.
func cost(step scenario.Step) int64 {
	switch step {
	case stepTenantAdd, stepPlayersAdd, stepCompetitionAdd, stepScore, stepFinish, stepDisqualify:
		return writeCost
	default:
		return readCost
	}
}

// weigh sets the cost of a fault of a step.
func weigh(err error, weight int64) error {
	var f *scenario.Fault
	if errors.As(err, &f) {
		f.Weight = weight
	}
	return err
}
