package loader

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/words"
	"github.com/iikanji/iikanji/internal/load/scenario"
	"github.com/iikanji/iikanji/internal/proof/stats"
	"github.com/iikanji/iikanji/internal/site/target"
)

// Messages reads what a benchmarker said: the output of a command, or what a person pasted
// from a portal.
func Messages(b *target.Bench, text string) ([]iikanji.Message, error) {
	var rules []words.Rule
	for _, m := range b.Messages {
		re, err := regexp.Compile(m.Match)
		if err != nil {
			return nil, fmt.Errorf("reading match of a [[bench.message]]: %w", err)
		}
		rules = append(rules, words.Rule{Match: re, Means: m.Means, Route: m.Route})
	}
	return words.Read(text, rules), nil
}

// heard fills in the messages of a run.
func (c *Command) heard(run *iikanji.Run, o Output) {
	var err error
	if run.Messages, err = Messages(&c.Bench, string(o.all())); err != nil {
		run.Warnings = append(run.Warnings, err.Error())
	}
}

// An Initialized is how long initialize took in one run.
type Initialized struct {
	Run  iikanji.RunID
	Took time.Duration
}

const (
	// slowerBy and slowerLeast are how much longer initialize has to take to be called slower
	// than before: its time varies with the machine's caches.
	slowerBy    = 1.25
	slowerLeast = time.Second
)

// initialized notes of a run how long its initialize may take, and since which run it is
// slower.
func (c *Command) initialized(run *iikanji.Run) {
	i := slices.IndexFunc(run.Phases, func(p iikanji.PhaseStat) bool { return p.Phase == string(scenario.Initialize) })
	if i < 0 {
		return
	}
	phase := &run.Phases[i]
	phase.Limit = time.Duration(c.Bench.Within)
	if c.Inits == nil {
		return
	}
	past, err := c.Inits()
	if err != nil {
		run.Warnings = append(run.Warnings, fmt.Sprintf("whether initialize became slower is not known: %v", err))
		return
	}
	phase.Usual, phase.Since = slowerSince(past, phase.Took)
}

// slowerSince finds the first of the runs up to the present one that are all slower than the
// median of those before it; 0 if there is none. The present run has no number yet: where it
// is the first slow one, there is nothing to name.
func slowerSince(past []Initialized, now time.Duration) (usual time.Duration, since iikanji.RunID) {
	for k := 1; k < len(past); k++ {
		var before []float64
		for _, p := range past[:k] {
			before = append(before, float64(p.Took))
		}
		median := time.Duration(stats.Median(before))
		slow := func(d time.Duration) bool {
			return float64(d) >= slowerBy*float64(median) && d >= median+slowerLeast
		}
		if slow(now) && !slices.ContainsFunc(past[k:], func(p Initialized) bool { return !slow(p.Took) }) {
			return median, past[k].Run
		}
	}
	return 0, 0
}
