package judging

import (
	"fmt"
	"slices"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/portal/contest"
)

// A Run is one run of the final judging.
type Run struct {
	Job     string
	Outcome iikanji.Outcome
	Score   float64
}

// A Step is what one step of a team's final showed.
type Step struct {
	Name     string // hands-off, check, reboot, persistence
	At       time.Time
	Passed   bool
	Evidence string
}

// A Verdict is the result of a team in the final judging.
type Verdict struct {
	Passed bool
	Score  float64
	Reason string // why it failed; "" if it passed
	// Open: more runs or steps are needed; Runs is how many runs.
	Open bool
	Runs int
}

// steps are the steps that have to pass before the runs count.
func steps(f contest.Final) []string {
	if f.Reboot {
		return []string{"hands-off", "check", "reboot", "check-again", "persistence"}
	}
	return []string{"hands-off", "check"}
}

// Decide is the verdict by the rule, from the steps and the runs in their order. A void run
// is repeated up to VoidRetries times and does not count; a failed run counts 0.
func Decide(f contest.Final, done []Step, runs []Run) Verdict {
	open := false
	for _, name := range steps(f) {
		i := slices.IndexFunc(done, func(s Step) bool { return s.Name == name })
		switch {
		case i < 0:
			open = true
		case !done[i].Passed:
			return Verdict{Reason: name + ": " + done[i].Evidence}
		}
	}
	var scores []float64
	void, passed := 0, 0
	for _, r := range runs {
		switch r.Outcome {
		case iikanji.Passed:
			passed++
			scores = append(scores, r.Score)
		case iikanji.Failed:
			scores = append(scores, 0)
		case iikanji.Void:
			void++
		}
		if len(scores) == f.Runs {
			break
		}
	}
	missing := f.Runs - len(scores)
	switch {
	case missing > 0 && void > f.VoidRetries:
		return Verdict{Reason: fmt.Sprintf("%d runs were void", void)}
	case missing > 0:
		return Verdict{Open: true, Runs: missing}
	case passed < f.Pass:
		return Verdict{Reason: fmt.Sprintf("%d of %d runs passed, %d must", passed, f.Runs, f.Pass)}
	case open:
		return Verdict{Open: true}
	}
	return Verdict{Passed: true, Score: counted(f.Counts, scores)}
}

// counted is the score that counts of the runs. The median of an even number of runs is the
// mean of the two in the middle.
func counted(how string, scores []float64) float64 {
	switch how {
	case "best":
		return slices.Max(scores)
	case "last":
		return scores[len(scores)-1]
	case "mean":
		sum := 0.0
		for _, s := range scores {
			sum += s
		}
		return sum / float64(len(scores))
	}
	sorted := slices.Sorted(slices.Values(scores))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
