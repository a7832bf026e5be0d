package scenario

import "math"

// An EventRule says what an event pays: Points for every full Per of them.
type EventRule struct {
	Name   string
	Points float64
	Per    int64 // 0 and 1 mean each
}

// A Table is the score of a scenario as data.
type Table struct {
	Base   float64     // given when the load starts
	Events []EventRule // by Event
	// PerError is taken off for each error that is no timeout.
	PerError float64
	// PerTimeouts timeouts take 1 point off, rounded down; 0 means timeouts are free.
	PerTimeouts int64
	// MaxErrors errors may happen; one more fails the run at once. 0 means no limit.
	MaxErrors int64
	// FailAtZero fails a run whose final score is 0 or less.
	FailAtZero bool
}

// A Score is what a Table makes of counts.
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
	if t.PerTimeouts > 0 {
		s.Deducted += math.Floor(float64(timeouts) / float64(t.PerTimeouts))
	}
	s.Final = s.Raw - s.Deducted
	return s
}
