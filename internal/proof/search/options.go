package search

import (
	"time"

	"github.com/iikanji/iikanji"
)

// Options bound a search.
type Options struct {
	Time  time.Duration `json:"time_ns"`         // of everything; 0 means no end
	Runs  int           `json:"runs,omitempty"`  // at most; 0 means no end
	Until float64       `json:"until,omitempty"` // stop searching when the score is that many times the untouched one
	// Short is the load of runs that search, Full of those that prove the end.
	Short time.Duration `json:"short_ns"`
	Full  time.Duration `json:"full_ns"`
	Watch time.Duration `json:"watch_ns"` // load of observed runs
	Pairs int           `json:"pairs"`    // of the last comparison
	Seed  uint64        `json:"seed"`
	// ScoreOnly: what was kept for the work that it saves is undone before the last comparison.
	ScoreOnly bool `json:"score_only,omitempty"`
	// Basis names what runs must share to be compared, beside their length, as
	// in the arena, the machine and the CPUs that are used.
	Basis string `json:"basis,omitempty"`
	// Place is the CPUs of the load generator and of the site: a ratio depends on it.
	Place *iikanji.Placement `json:"placement,omitempty"`
	// Command is the command line that repeats the search, without secrets.
	Command string `json:"command,omitempty"`
}

// LeastTime is the least time for a search: the calibration, one observed run,
// one trial of two pairs and the last comparison, with two seconds for each run
// beyond its load. Where all runs have one length, it is that of a scarce search.
func (o Options) LeastTime() time.Duration {
	b := State{Options: o}
	cost := o.Short + b.leastOverhead()
	if o.Full == o.Short {
		return b.scarceTime(b.count(FewestCalibration), cost)
	}
	runs := 2*b.count(CalibrationPairs) + b.count(LeastTrial) + 2*o.Pairs + b.count(SpareRuns)
	return time.Duration(runs)*cost + o.Watch + b.leastOverhead()
}
