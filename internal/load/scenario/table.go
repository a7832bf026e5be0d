package scenario

import (
	"cmp"
	"math"
)

// An EventRule defines the score of an event: Points for every full Per events.
type EventRule struct {
	Name   string
	Points float64
	Per    int64 // 0 means 1
}

// A Table defines the score of a scenario.
type Table struct {
	Base   float64     // the score before any event
	Events []EventRule // by Event
	// PerError is deducted for each error that is not a timeout, see TimeoutErrors.
	PerError float64
	// PercentPerError is the share of the raw score that each error costs, in percent.
	// The sum is rounded down, and at most the whole raw score is deducted.
	PercentPerError float64
	// TimeoutErrors counts timeouts as errors, not as timeouts.
	TimeoutErrors bool
	// PerTimeouts is the number of timeouts that cost TimeoutPoints, rounded down; 0
	// means that timeouts are free.
	PerTimeouts   int64
	TimeoutPoints float64 // 0 means 1
	// MaxErrors is the number of allowed errors. One more fails the run at once. 0
	// means no limit.
	MaxErrors int64
	// FailAtZero fails a run whose final score is 0 or less.
	FailAtZero bool
}

// A Score is the score of a run's counts.
type Score struct {
	Raw      float64   // Base and points
	Deducted float64   // ≥ 0
	Final    float64   // Raw − Deducted
	ByEvent  []float64 // points, by Event
}

// Score computes a score from the counts of events (by Event), of errors and
// of timeouts.
func (t *Table) Score(counts []int64, errors, timeouts int64) Score {
	s := Score{Raw: t.Base, ByEvent: make([]float64, len(t.Events))}
	for i, e := range t.Events {
		n := counts[i]
		if e.Per > 1 {
			n /= e.Per
		}
		s.ByEvent[i] = float64(n) * e.Points
		s.Raw += s.ByEvent[i]
	}
	s.Deducted = float64(errors) * t.PerError
	if t.PercentPerError > 0 {
		s.Deducted += math.Floor(s.Raw * min(float64(errors)*t.PercentPerError, 100) / 100)
	}
	if t.PerTimeouts > 0 {
		s.Deducted += math.Floor(float64(timeouts)/float64(t.PerTimeouts)) * cmp.Or(t.TimeoutPoints, 1)
	}
	s.Final = s.Raw - s.Deducted
	return s
}
